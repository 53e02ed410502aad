// SPDX-License-Identifier: Apache-2.0
/* The counter of HTTP/1.x request bodies: plain, chunked, or up to the connection's end. */
#include "sinkhole/http.h"

#define SIZE_DIGITS_MAX 15 /* a chunk below 2^60 bytes */

void http_body_init(struct http_body *body, const struct http_head *head)
{
	*body = (struct http_body){.state = HTTP_BODY_LENGTH};
	if (head->has_coding)
		body->state = head->chunked ? HTTP_BODY_SIZE : HTTP_BODY_TO_END;
	else if (head->has_length)
		body->left = head->content_length;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static enum http_result bad(struct http_body *body, const char *why)
{
	body->why = why;
	return HTTP_BAD;
}

/* Where a chunk's size line ends, its data or the trailers begin. */
static void size_line_end(struct http_body *body)
{
	body->state = body->left ? HTTP_BODY_CHUNK : HTTP_BODY_TRAILER;
	body->digits = 0;
}

static enum http_result size_char(struct http_body *body, char c)
{
	int value = hex_value(c);

	if (value >= 0) {
		if (++body->digits > SIZE_DIGITS_MAX)
			return bad(body, "a chunk's size beyond all measure");
		body->left = body->left << 4 | (unsigned)value;
		return HTTP_MORE;
	}
	if (!body->digits)
		return bad(body, "a chunk without a size");
	if (c == '\r') {
		body->state = HTTP_BODY_SIZE_LF;
	} else if (c == '\n') {
		size_line_end(body);
	} else if (c == ';' || c == ' ' || c == '\t') {
		body->state = HTTP_BODY_EXTENSION;
		body->payload++;
	} else {
		return bad(body, "a chunk's size is no hexadecimal number");
	}
	return HTTP_MORE;
}

/* One byte in any of the states that go byte by byte. */
static enum http_result framing_char(struct http_body *body, char c)
{
	switch (body->state) {
	case HTTP_BODY_SIZE:
		return size_char(body, c);
	case HTTP_BODY_EXTENSION:
		if (c == '\n')
			size_line_end(body);
		else if (c == '\r')
			body->state = HTTP_BODY_SIZE_LF;
		else
			body->payload++;
		return HTTP_MORE;
	case HTTP_BODY_SIZE_LF:
		if (c != '\n')
			return bad(body, "a chunk's size line does not end");
		size_line_end(body);
		return HTTP_MORE;
	case HTTP_BODY_CHUNK_CR:
		if (c == '\r')
			body->state = HTTP_BODY_CHUNK_LF;
		else if (c == '\n')
			body->state = HTTP_BODY_SIZE;
		else
			return bad(body, "a chunk is longer than its size");
		return HTTP_MORE;
	case HTTP_BODY_CHUNK_LF:
		if (c != '\n')
			return bad(body, "a chunk does not end");
		body->state = HTTP_BODY_SIZE;
		return HTTP_MORE;
	case HTTP_BODY_TRAILER:
		if (c == '\n')
			return HTTP_DONE;
		body->state = c == '\r' ? HTTP_BODY_END_LF : HTTP_BODY_TRAILER_LINE;
		body->payload += c != '\r';
		return HTTP_MORE;
	case HTTP_BODY_TRAILER_LINE:
		if (c == '\n')
			body->state = HTTP_BODY_TRAILER;
		else if (c == '\r')
			body->state = HTTP_BODY_TRAILER_LF;
		else
			body->payload++;
		return HTTP_MORE;
	case HTTP_BODY_TRAILER_LF:
		if (c != '\n')
			return bad(body, "a trailer line does not end");
		body->state = HTTP_BODY_TRAILER;
		return HTTP_MORE;
	case HTTP_BODY_END_LF:
		return c == '\n' ? HTTP_DONE : bad(body, "a chunked body does not end");
	default:
		return bad(body, "an unknown state");
	}
}

/* Data of the body or of a chunk. Returns how many of @len bytes it takes. */
static size_t data_take(struct http_body *body, size_t len)
{
	size_t take = len;

	if (body->state != HTTP_BODY_TO_END) {
		if (body->left < take)
			take = (size_t)body->left;
		body->left -= take;
	}
	body->payload += take;
	if (body->state == HTTP_BODY_CHUNK && !body->left)
		body->state = HTTP_BODY_CHUNK_CR;
	return take;
}

enum http_result http_body_feed(struct http_body *body, const char *bytes, size_t len,
				size_t *ret_used)
{
	size_t pos = 0;
	enum http_result result = HTTP_MORE;

	while (result == HTTP_MORE) {
		if (body->state == HTTP_BODY_LENGTH && !body->left) {
			result = HTTP_DONE;
			break;
		}
		if (pos == len)
			break;
		if (body->state == HTTP_BODY_LENGTH || body->state == HTTP_BODY_TO_END ||
		    body->state == HTTP_BODY_CHUNK) {
			size_t taken = data_take(body, len - pos);

			if (body->data && taken)
				body->data(body->context, bytes + pos, taken);
			pos += taken;
			continue;
		}
		result = framing_char(body, bytes[pos]);
		pos += result != HTTP_BAD;
	}
	*ret_used = pos;
	return result;
}
