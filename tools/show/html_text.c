// SPDX-License-Identifier: Apache-2.0
/* Text of a receipt into HTML, with nothing in it that a browser would act on. */
#include "tools/show/html_parts.h"

#include "base/cleanup.h"
#include "base/escape.h"

#include <errno.h>
#include <string.h>

#define TEXT_BYTES_MAX	4096
#define LINES_BYTES_MAX (1 << 20)
#define ID_DIGITS_MAX	9

typedef char *(*escape_func)(const void *bytes, size_t len);

static void markup_escape(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*text, out);
			break;
		}
	}
}

/* Backslashes stay: in a receipt's text they begin a spelling that is escaped already. */
static int text_escape(FILE *out, const char *text, size_t len, escape_func escape)
{
	while (len) {
		const char *backslash = memchr(text, '\\', len);
		size_t part = backslash ? (size_t)(backslash - text) : len;
		_cleanup_free_ char *escaped = escape(text, part);

		if (!escaped)
			return -ENOMEM;
		markup_escape(out, escaped);
		if (backslash)
			fputc('\\', out);
		part += backslash != NULL;
		text += part;
		len -= part;
	}
	return 0;
}

static int bounded(FILE *out, const char *text, size_t max, escape_func escape)
{
	size_t len = strnlen(text, max + 1);
	bool cut = len > max;
	int r;

	len = cut ? max : len;
	while (cut && len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	r = text_escape(out, text, len, escape);
	if (!r && cut)
		fputs("&hellip;", out);
	return r;
}

int html_text(FILE *out, const char *text)
{
	return bounded(out, text, TEXT_BYTES_MAX, escape_bytes);
}

int html_lines(FILE *out, const char *text)
{
	return bounded(out, text, LINES_BYTES_MAX, escape_lines);
}

int html_value(FILE *out, const json_t *value)
{
	_cleanup_free_ char *text = NULL;

	if (!value || json_is_null(value)) {
		fputs("&ndash;", out);
		return 0;
	}
	if (json_is_string(value))
		return html_text(out, json_string_value(value));
	if (json_is_boolean(value)) {
		fputs(json_is_true(value) ? "yes" : "no", out);
		return 0;
	}
	text = json_dumps(value,
			  JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	return text ? html_text(out, text) : -ENOMEM;
}

int html_cell(FILE *out, const char *label, const json_t *value)
{
	int r;

	fprintf(out, "<td data-label=\"%s\">", label);
	r = html_value(out, value);
	fputs("</td>", out);
	return r;
}

bool html_is_anchor(const char *id)
{
	size_t digits = *id == 'o' ? strspn(id + 1, "0123456789") : 0;

	return digits && digits <= ID_DIGITS_MAX && !id[1 + digits];
}

int html_link(FILE *out, const char *id)
{
	if (!html_is_anchor(id))
		return html_text(out, id);
	fprintf(out, "<a href=\"#%s\">%s</a>", id, id);
	return 0;
}

const char *html_verdict_class(const char *verdict)
{
	if (!strcmp(verdict, "install"))
		return "good";
	if (!strcmp(verdict, "review"))
		return "warn";
	/* Also for a word that no receipt should have. */
	return "bad";
}
