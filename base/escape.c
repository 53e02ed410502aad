// SPDX-License-Identifier: Apache-2.0
/* Reversible spelling of arbitrary bytes as printable UTF-8. */
#include "base/escape.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Table 3-7 of the Unicode standard: overlong forms and surrogates are not characters. */
size_t utf8_char_len(const unsigned char *p, size_t len)
{
	if (!len)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		return len >= 2 && is_continuation(p[1]) ? 2 : 0;
	if (p[0] >= 0xe0 && p[0] <= 0xef) {
		if (len < 3 || !is_continuation(p[1]) || !is_continuation(p[2]))
			return 0;
		if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))
			return 0;
		return 3;
	}
	if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		if (len < 4 || !is_continuation(p[1]) || !is_continuation(p[2]) ||
		    !is_continuation(p[3]))
			return 0;
		if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}

/*
 * C0, DEL, C1 and the backslash, and the characters that reorder or hide text on a
 * terminal: bidirectional controls, zero-width ones, line and paragraph separators.
 */
bool utf8_char_is_unsafe(const unsigned char *p, size_t n)
{
	if (n == 1)
		return p[0] < 0x20 || p[0] == 0x7f || p[0] == '\\';
	if (n == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	if (n != 3)
		return false;
	if (p[0] == 0xe2 && p[1] == 0x80)
		return (p[2] >= 0x8b && p[2] <= 0x8f) || (p[2] >= 0xa8 && p[2] <= 0xae);
	if (p[0] == 0xe2 && p[1] == 0x81)
		return p[2] >= 0xa0 && p[2] <= 0xaf;
	return p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf;
}

static char *escape(const void *bytes, size_t len, const char *kept)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = bytes;
	char *text, *out;

	if (len > (SIZE_MAX - 1) / 4) {
		errno = ENOMEM;
		return NULL;
	}
	text = malloc(len * 4 + 1);
	if (!text)
		return NULL;
	out = text;
	while (len) {
		size_t n = utf8_char_len(p, len);
		size_t step = n ? n : 1;

		if (n && (!utf8_char_is_unsafe(p, n) || (*p && strchr(kept, *p)))) {
			memcpy(out, p, n);
			out += n;
		} else {
			for (size_t i = 0; i < step; i++) {
				*out++ = '\\';
				*out++ = 'x';
				*out++ = hex[p[i] >> 4];
				*out++ = hex[p[i] & 15];
			}
		}
		p += step;
		len -= step;
	}
	*out = '\0';
	return text;
}

char *escape_bytes(const void *bytes, size_t len)
{
	return escape(bytes, len, "");
}

char *escape_lines(const void *bytes, size_t len)
{
	return escape(bytes, len, "\n\t");
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

char *unescape_text(const char *text, size_t *ret_len)
{
	char *bytes = malloc(strlen(text) + 1), *out = bytes;

	if (!bytes)
		return NULL;
	while (*text) {
		int high, low;

		if (*text != '\\') {
			*out++ = *text++;
			continue;
		}
		high = text[1] == 'x' ? hex_digit(text[2]) : -1;
		low = high >= 0 ? hex_digit(text[3]) : -1;
		if (low < 0) {
			free(bytes);
			errno = EINVAL;
			return NULL;
		}
		*out++ = (char)(high << 4 | low);
		text += 4;
	}
	*out = '\0';
	*ret_len = (size_t)(out - bytes);
	return bytes;
}
