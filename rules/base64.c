// SPDX-License-Identifier: Apache-2.0
/* Base64 both ways, hex one way, SHA-256 of what is in memory. */
#include "rules/base64.h"

#include "base/cleanup.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t len)
{
	const unsigned char *in = bytes;
	char *text, *out;

	if (len > SIZE_MAX / 2)
		return NULL;
	out = text = malloc((len + 2) / 3 * 4 + 1);
	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t group = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
				 (left > 2 ? in[i + 2] : 0U);

		*out++ = alphabet[group >> 18];
		*out++ = alphabet[group >> 12 & 63];
		*out++ = left > 1 ? alphabet[group >> 6 & 63] : '=';
		*out++ = left > 2 ? alphabet[group & 63] : '=';
	}
	*out = '\0';
	return text;
}

/* The value of a digit, or -1. *url_safe: 0 not yet known, 1 no, 2 yes. */
static int digit_value(char c, int *url_safe)
{
	int needed;

	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c != '+' && c != '/' && c != '-' && c != '_')
		return -1;
	needed = c == '-' || c == '_' ? 2 : 1;
	if (*url_safe && *url_safe != needed)
		return -1;
	*url_safe = needed;
	return c == '+' || c == '-' ? 62 : 63;
}

int base64_decode(const char *text, size_t len, unsigned char **ret_bytes, size_t *ret_len)
{
	_cleanup_free_ unsigned char *bytes = NULL;
	size_t padding = 0, at = 0;
	uint32_t group = 0;
	int url_safe = 0;

	if (len % 4)
		return -EINVAL;
	while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
		padding++;
	bytes = malloc(len / 4 * 3 + 1);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < len - padding; i++) {
		int value = digit_value(text[i], &url_safe);

		if (value < 0)
			return -EINVAL;
		group = group << 6 | (uint32_t)value;
		if (i % 4 != 3)
			continue;
		bytes[at++] = (unsigned char)(group >> 16);
		bytes[at++] = (unsigned char)(group >> 8);
		bytes[at++] = (unsigned char)group;
		group = 0;
	}
	if (padding == 1) {
		if (group & 3)
			return -EINVAL;
		bytes[at++] = (unsigned char)(group >> 10);
		bytes[at++] = (unsigned char)(group >> 2);
	} else if (padding == 2) {
		if (group & 15)
			return -EINVAL;
		bytes[at++] = (unsigned char)(group >> 4);
	}
	bytes[at] = '\0';
	*ret_bytes = steal_ptr(bytes);
	*ret_len = at;
	return 0;
}

void hex_encode(const void *bytes, size_t len, char *ret_text)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *in = bytes;

	for (size_t i = 0; i < len; i++) {
		ret_text[2 * i] = digits[in[i] >> 4];
		ret_text[2 * i + 1] = digits[in[i] & 15];
	}
	ret_text[2 * len] = '\0';
}

int sha256_text(const void *bytes, size_t len, char ret_text[static SHA256_TEXT_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int digest_len = 0;

	if (EVP_Digest(bytes, len, digest, &digest_len, EVP_sha256(), NULL) != 1 ||
	    digest_len != SHA256_BYTES)
		return -ENOMEM;
	hex_encode(digest, SHA256_BYTES, ret_text);
	return 0;
}
