// SPDX-License-Identifier: Apache-2.0
/* The scanner of HTTP/1.x request heads, line by line. */
#include "sinkhole/http.h"

#include <string.h>
#include <strings.h>

#define VERSION_LEN	8 /* "HTTP/1.1" */
#define EMPTY_LINES_MAX 4 /* before a request line; RFC 9112 section 2.2 asks for one */

/* tchar of RFC 9110 section 5.6.2. */
static bool is_token_char(unsigned char c)
{
	if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
		return true;
	return c && strchr("!#$%&'*+-.^_`|~", c);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool span_is(const char *bytes, struct http_span span, const char *word)
{
	return span.len == strlen(word) && !strncasecmp(bytes + span.offset, word, span.len);
}

/* A request line that is not whole yet must at least begin as one. */
static bool line_may_be_http(const char *line, size_t len)
{
	size_t i = 0;

	while (i < len && is_token_char((unsigned char)line[i]))
		i++;
	if (i > HTTP_METHOD_MAX || (i == 0 && len != 0))
		return false;
	return i == len || line[i] == ' ';
}

/* Neither NUL nor another control character but the CR that ends it: git and others put these
 * behind a word and a blank, and end no line. */
static bool has_controls(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\r') || line[i] == 0x7f)
			return true;
	return false;
}

/* method SP target SP HTTP/1.x */
static bool request_line_parse(struct http_head *head, const char *bytes, size_t start, size_t len)
{
	const char *line = bytes + start, *space, *version;
	size_t method_len, target_len;

	if (!line_may_be_http(line, len))
		return false;
	space = memchr(line, ' ', len);
	if (!space)
		return false;
	method_len = (size_t)(space - line);
	if (len < method_len + 1 + 1 + 1 + VERSION_LEN)
		return false;
	version = line + len - VERSION_LEN;
	if (version[-1] != ' ' || memcmp(version, "HTTP/1.", 7) != 0 || version[7] < '0' ||
	    version[7] > '9')
		return false;
	target_len = (size_t)(version - 1 - (space + 1));
	for (size_t i = 0; i < target_len; i++)
		if ((unsigned char)space[1 + i] <= ' ' || space[1 + i] == 0x7f)
			return false;
	head->method = (struct http_span){start, method_len};
	head->target = (struct http_span){start + method_len + 1, target_len};
	head->http10 = version[7] == '0';
	head->has_line = true;
	return true;
}

/* Calls @option for each element of a comma-separated list. */
static void list_walk(struct http_head *head, const char *bytes, struct http_span list,
		      void (*option)(struct http_head *, const char *, struct http_span))
{
	size_t end = list.offset + list.len, pos = list.offset;

	while (pos < end) {
		size_t stop = pos, last;

		while (stop < end && bytes[stop] != ',')
			stop++;
		last = stop;
		while (pos < last && is_blank(bytes[pos]))
			pos++;
		while (last > pos && is_blank(bytes[last - 1]))
			last--;
		if (last > pos)
			option(head, bytes, (struct http_span){pos, last - pos});
		pos = stop + 1;
	}
}

static void connection_option(struct http_head *head, const char *bytes, struct http_span option)
{
	if (span_is(bytes, option, "close"))
		head->close = true;
	else if (span_is(bytes, option, "keep-alive"))
		head->keep_alive = true;
}

/* Only a last coding of "chunked" frames the body (RFC 9112 section 6.3). */
static void transfer_coding(struct http_head *head, const char *bytes, struct http_span coding)
{
	head->has_coding = true;
	head->chunked = span_is(bytes, coding, "chunked");
}

static const char *content_length_parse(struct http_head *head, const char *bytes,
					struct http_span value)
{
	uint64_t length = 0;

	if (!value.len)
		return "an empty Content-Length";
	for (size_t i = 0; i < value.len; i++) {
		char c = bytes[value.offset + i];

		if (c < '0' || c > '9')
			return "a Content-Length that is no number";
		if (length > (UINT64_MAX >> 8) / 10)
			return "a Content-Length beyond all measure";
		length = length * 10 + (uint64_t)(c - '0');
	}
	if (head->has_length && head->content_length != length)
		return "two different Content-Lengths";
	head->has_length = true;
	head->content_length = length;
	return NULL;
}

/* Returns what is wrong with the field line, or NULL. */
static const char *field_parse(struct http_head *head, const char *bytes, size_t start, size_t len)
{
	const char *colon = memchr(bytes + start, ':', len);
	struct http_span name, value;
	size_t end = start + len;

	if (!colon)
		return "a header line without a colon";
	name = (struct http_span){start, (size_t)(colon - bytes) - start};
	if (!name.len)
		return "a header field without a name";
	for (size_t i = 0; i < name.len; i++)
		if (!is_token_char((unsigned char)bytes[start + i]))
			return "a header field's name is no token";
	value.offset = start + name.len + 1;
	while (value.offset < end && is_blank(bytes[value.offset]))
		value.offset++;
	while (end > value.offset && is_blank(bytes[end - 1]))
		end--;
	value.len = end - value.offset;
	if (span_is(bytes, name, "host")) {
		if (head->has_host)
			return "two Host fields";
		head->has_host = true;
		head->host = value;
	} else if (span_is(bytes, name, "upgrade")) {
		head->upgrade = value;
	} else if (span_is(bytes, name, "content-length")) {
		return content_length_parse(head, bytes, value);
	} else if (span_is(bytes, name, "transfer-encoding")) {
		list_walk(head, bytes, value, transfer_coding);
	} else if (span_is(bytes, name, "connection")) {
		list_walk(head, bytes, value, connection_option);
	} else if (span_is(bytes, name, "expect")) {
		head->expect_continue = span_is(bytes, value, "100-continue");
	}
	return NULL;
}

/* One whole line, without its end. */
static enum http_result line_take(struct http_head *head, const char *bytes, size_t start,
				  size_t len)
{
	if (!head->has_line) {
		if (!len)
			return ++head->empty_cnt > EMPTY_LINES_MAX ? HTTP_NOT : HTTP_MORE;
		return request_line_parse(head, bytes, start, len) ? HTTP_MORE : HTTP_NOT;
	}
	if (!len)
		return HTTP_DONE;
	head->why = field_parse(head, bytes, start, len);
	return head->why ? HTTP_BAD : HTTP_MORE;
}

enum http_result http_head_scan(struct http_head *head, const char *bytes, size_t len)
{
	size_t seen = head->scanned;

	while (head->scanned < len) {
		const char *lf = memchr(bytes + head->scanned, '\n', len - head->scanned);
		size_t start = head->line_start, line_len;
		enum http_result result;

		if (!lf || (size_t)(lf - bytes) >= HTTP_HEAD_MAX) {
			head->scanned = len;
			break;
		}
		/* A bare LF ends a line too (RFC 9112 section 2.2). */
		line_len = (size_t)(lf - bytes) - start;
		if (line_len && bytes[start + line_len - 1] == '\r')
			line_len--;
		head->line_start = head->scanned = (size_t)(lf - bytes) + 1;
		result = line_take(head, bytes, start, line_len);
		if (result == HTTP_DONE)
			head->length = head->scanned;
		if (result != HTTP_MORE)
			return result;
	}
	if (!head->has_line) {
		const char *line = bytes + head->line_start;
		size_t line_len = len - head->line_start;
		size_t at = seen > head->line_start ? seen : head->line_start;

		if (!(line_len == 1 && *line == '\r') && !line_may_be_http(line, line_len))
			return HTTP_NOT;
		if (has_controls(bytes + at, len - at))
			return HTTP_NOT;
	}
	if (len >= HTTP_HEAD_MAX) {
		head->why = "a head longer than 64 KiB";
		return head->has_line ? HTTP_BAD : HTTP_NOT;
	}
	return HTTP_MORE;
}

bool http_keeps_open(const struct http_head *head)
{
	if (head->close || (head->has_coding && !head->chunked))
		return false;
	return !head->http10 || head->keep_alive;
}

void http_names_walk(const struct http_head *head, const char *bytes,
		     void (*name)(void *context, const char *name, size_t len), void *context)
{
	size_t at = head->target.offset + head->target.len;

	/* Behind the request line each line is a field, up to the empty one. */
	while (at < head->length) {
		const char *end = memchr(bytes + at, '\n', head->length - at);
		const char *colon;

		if (!end)
			return;
		at = (size_t)(end - bytes) + 1;
		colon = at < head->length ? memchr(bytes + at, ':', head->length - at) : NULL;
		end = at < head->length ? memchr(bytes + at, '\n', head->length - at) : NULL;
		if (colon && end && colon < end)
			name(context, bytes + at, (size_t)(colon - bytes) - at);
	}
}
