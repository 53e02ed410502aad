/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.x requests (RFC 9112), as far as a sinkhole must understand them: what was asked
 * for, of which host, and how many bytes came along. Heads are scanned where they are
 * buffered; bodies are only counted. No sockets, no allocation.
 */
#ifndef QP_SINKHOLE_HTTP_H
#define QP_SINKHOLE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX	65536 /* bytes of request line and header fields */
#define HTTP_METHOD_MAX 32

enum http_result {
	HTTP_MORE, /* good so far */
	HTTP_DONE,
	HTTP_NOT, /* this never was HTTP/1.x */
	HTTP_BAD, /* it was, until it broke; `why` says how */
};

struct http_span {
	size_t offset, len; /* within the scanned buffer */
};

struct http_head {
	/* Valid once the request line was read: has_line. */
	bool has_line;
	struct http_span method, target;
	bool http10;
	/* Of the header fields read so far. */
	bool has_host, has_length, has_coding, chunked, expect_continue;
	bool close, keep_alive;		/* Connection's options */
	struct http_span host, upgrade; /* length 0: none */
	uint64_t content_length;
	size_t length; /* of the head, with its empty line, when HTTP_DONE */
	const char *why;
	/* The scanner's own. */
	size_t line_start, scanned;
	unsigned empty_cnt;
};

/*
 * Goes on with the scan of a request's head in @bytes, which must be the same buffer, grown
 * to @len, at each call for one @head; @head is zeroed before the first. After DONE, NOT or
 * BAD it may not be called again.
 */
enum http_result http_head_scan(struct http_head *head, const char *bytes, size_t len);

enum http_body_state {
	HTTP_BODY_LENGTH, /* `left` bytes to come */
	HTTP_BODY_TO_END, /* all that comes until the connection ends */
	HTTP_BODY_SIZE,	  /* a chunk's size, its extension, its line's end */
	HTTP_BODY_EXTENSION,
	HTTP_BODY_SIZE_LF,
	HTTP_BODY_CHUNK, /* `left` bytes of the chunk to come */
	HTTP_BODY_CHUNK_CR,
	HTTP_BODY_CHUNK_LF,
	HTTP_BODY_TRAILER, /* at a trailer line's start, within it, after its CR */
	HTTP_BODY_TRAILER_LINE,
	HTTP_BODY_TRAILER_LF,
	HTTP_BODY_END_LF,
};

struct http_body {
	enum http_body_state state;
	uint64_t left;
	unsigned digits;
	/* Bytes that the client could choose: data, chunk extensions and trailers; the
	 * framing itself does not count. */
	uint64_t payload;
	const char *why;
	/* Called with the data, without its framing, as it comes; NULL: nobody is. */
	void (*data)(void *context, const char *bytes, size_t len);
	void *context;
};

/* The body that follows @head, which was DONE. */
void http_body_init(struct http_body *body, const struct http_head *head);

/*
 * Takes the next @len bytes; *ret_used says how many of them belong to this request. DONE
 * may be returned with none used. BAD leaves the rest unused.
 */
enum http_result http_body_feed(struct http_body *body, const char *bytes, size_t len,
				size_t *ret_used);

/* Calls @name for the name of each header field of a whole head. */
void http_names_walk(const struct http_head *head, const char *bytes,
		     void (*name)(void *context, const char *name, size_t len), void *context);

/* Whether the connection may go on after this request (RFC 9112 section 9.3). */
bool http_keeps_open(const struct http_head *head);

#endif
