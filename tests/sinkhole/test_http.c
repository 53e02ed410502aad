// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/http.h"
#include "tests/sinkhole/exact.h"

#include <criterion/criterion.h>

/* Scans @text given @piece bytes at a time, in a buffer that grows as a connection's does. */
static enum http_result scan(struct http_head *head, const char *text, size_t len, size_t piece)
{
	enum http_result result = HTTP_MORE;

	memset(head, 0, sizeof(*head));
	for (size_t have = 0; have < len && result == HTTP_MORE;) {
		have = len - have < piece ? len : have + piece;
		_cleanup_free_ char *copy = exact_copy(text, have);

		result = http_head_scan(head, copy, have);
	}
	return result;
}

static enum http_result scan_text(struct http_head *head, const char *text)
{
	return scan(head, text, strlen(text), strlen(text));
}

static void expect_span(const char *text, struct http_span span, const char *expected)
{
	cr_expect_eq(span.len, strlen(expected), "%s", expected);
	cr_expect(!memcmp(text + span.offset, expected, strlen(expected)), "%s", expected);
}

static const char request[] = "POST /a/b?c=d HTTP/1.1\r\n"
			      "Host:  pkg.example:8080 \r\n"
			      "content-length: 42\r\n"
			      "Expect: 100-Continue\r\n"
			      "X-Empty:\r\n"
			      "\r\n";

Test(http, reads_a_head_in_pieces_of_any_size)
{
	for (size_t piece = 1; piece < sizeof(request); piece++) {
		struct http_head head;

		cr_assert_eq(scan(&head, request, sizeof(request) - 1, piece), HTTP_DONE);
		cr_expect_eq(head.length, sizeof(request) - 1);
		expect_span(request, head.method, "POST");
		expect_span(request, head.target, "/a/b?c=d");
		expect_span(request, head.host, "pkg.example:8080");
		cr_expect(head.has_length && head.content_length == 42);
		cr_expect(head.expect_continue);
		cr_expect_not(head.http10);
	}
}

Test(http, asks_for_more_at_every_truncation)
{
	for (size_t len = 1; len < sizeof(request) - 1; len++) {
		struct http_head head;

		cr_expect_eq(scan(&head, request, len, len), HTTP_MORE, "%zu bytes", len);
	}
}

Test(http, tells_other_protocols_at_once)
{
	static const char *const others[] = {
		"\x16\x03\x01",
		"SSH-2.0-x\r\n",
		"PRI * HTTP/2.0\r\n",
		"GET / HTTP/2.0\r\n",
		"GET /\r\n",
		"GET / HTTP/1.1 \r\n",
		" GET / HTTP/1.1\r\n",
		"GET  HTTP/1.1\r\n",
		"GET /a b HTTP/1.1\r\n",
		"(GET) / HTTP/1.1\r\n",
		"GET\t/ HTTP/1.1\r\n",
		"{\"json\": 1}",
		"003dgit-upload-pack /a.git\x01",
		"GET /\x7f",
		"AVERYLONGMETHODNAMEOFMORETHAN32CHARS / HTTP/1.1\r\n",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct http_head head;

		cr_expect_eq(scan_text(&head, others[i]), HTTP_NOT, "%s", others[i]);
	}
}

Test(http, says_what_broke_a_head)
{
	static const char *const broken[] = {
		"no colon here\r\n",
		": no name\r\n",
		"bad name: x\r\n",
		" folded: x\r\n",
		"Content-Length: 4x\r\n",
		"Content-Length:\r\n",
		"Content-Length: -1\r\n",
		"Content-Length: 99999999999999999999999\r\n",
		"Content-Length: 4\r\nContent-Length: 5\r\n",
		"Host: a\r\nHost: b\r\n",
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		char text[256];
		struct http_head head;

		snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n%s\r\n", broken[i]);
		cr_expect_eq(scan_text(&head, text), HTTP_BAD, "%s", broken[i]);
		cr_expect_not_null(head.why);
	}
}

Test(http, bounds_the_head)
{
	static char text[HTTP_HEAD_MAX + 64];
	struct http_head head;
	int start = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nX: ");

	memset(text + start, 'x', sizeof(text) - (size_t)start);
	cr_expect_eq(scan(&head, text, HTTP_HEAD_MAX - 1, 4096), HTTP_MORE);
	cr_expect_eq(scan(&head, text, HTTP_HEAD_MAX, 4096), HTTP_BAD);
}

/* RFC 9112 section 2.2. */
Test(http, takes_bare_newlines_and_empty_lines_before_the_request)
{
	struct http_head head;

	cr_expect_eq(scan_text(&head, "\r\n\nGET / HTTP/1.0\nHost: a\n\n"), HTTP_DONE);
	cr_expect(head.http10);
	cr_expect_eq(scan_text(&head, "\n\n\n\n\n"), HTTP_NOT);
}

/* RFC 9112 section 9.3. */
Test(http, keeps_the_connection_open_as_the_versions_say)
{
	static const struct {
		const char *text;
		bool open;
	} cases[] = {
		{"GET / HTTP/1.1\r\n\r\n", true},
		{"GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", false},
		{"GET / HTTP/1.1\r\nConnection: te , close\r\n\r\n", false},
		{"GET / HTTP/1.0\r\n\r\n", false},
		{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", false},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_head head;

		cr_assert_eq(scan_text(&head, cases[i].text), HTTP_DONE);
		cr_expect_eq(http_keeps_open(&head), cases[i].open, "%s", cases[i].text);
	}
}

/* Feeds @text in pieces; returns the result, with the bytes used in *ret_used. */
static enum http_result feed(struct http_body *body, const char *head_text, const char *text,
			     size_t piece, size_t *ret_used)
{
	enum http_result result = HTTP_MORE;
	struct http_head head;
	size_t len = strlen(text), at = 0;

	cr_assert_eq(scan_text(&head, head_text), HTTP_DONE);
	http_body_init(body, &head);
	do {
		size_t n = len - at < piece ? len - at : piece, used;
		_cleanup_free_ char *copy = exact_copy(text + at, n);

		result = http_body_feed(body, copy, n, &used);
		at += used;
		if (result == HTTP_MORE)
			cr_assert_eq(used, n);
	} while (result == HTTP_MORE && at < len);
	*ret_used = at;
	return result;
}

#define CHUNKED "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"

/* RFC 9112 section 7.1: sizes in hexadecimal, extensions, a trailer; the next request is
 * left alone. */
Test(http, counts_a_chunked_body_in_pieces_of_any_size)
{
	static const char text[] = "4\r\nWiki\r\n00A;name=v\r\n0123456789\r\n0\r\n"
				   "T: x\r\n\r\nGET /";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct http_body body;
		size_t used;

		cr_assert_eq(feed(&body, CHUNKED, text, piece, &used), HTTP_DONE);
		cr_expect_eq(used, sizeof(text) - 1 - 5);
		/* 4 + 10 of data, ";name=v" and "T: x", which carry data as well. */
		cr_expect_eq(body.payload, 14 + 7 + 4);
	}
}

Test(http, asks_for_more_of_a_chunked_body_at_every_truncation)
{
	static const char text[] = "3;a\r\nabc\r\n0\r\nT: x\r\n\r\n";

	for (size_t len = 1; len < sizeof(text) - 1; len++) {
		_cleanup_free_ char *cut = strndup(text, len);
		struct http_body body;
		size_t used;

		cr_expect_eq(feed(&body, CHUNKED, cut, len, &used), HTTP_MORE, "%zu bytes", len);
	}
}

Test(http, says_what_broke_a_chunked_body)
{
	static const char *const broken[] = {
		"\r\n",		"x\r\n",       "3x\r\n",   "3\rx",
		"3\r\nabcd",	"3\r\nabc\rx", "0\r\n\rx", "1234567890abcdef\r\n",
		"0\r\nT: x\rx", "-1\r\n",
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct http_body body;
		size_t used;

		cr_expect_eq(feed(&body, CHUNKED, broken[i], 1, &used), HTTP_BAD, "%s", broken[i]);
		cr_expect_not_null(body.why);
	}
}

Test(http, ends_a_plain_body_at_its_length)
{
	struct http_body body;
	size_t used;

	cr_expect_eq(
		feed(&body, "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "abcdefg", 2, &used),
		HTTP_DONE);
	cr_expect_eq(used, 5);
	cr_expect_eq(body.payload, 5);
	cr_expect_eq(feed(&body, "GET / HTTP/1.1\r\n\r\n", "abc", 3, &used), HTTP_DONE);
	cr_expect_eq(used, 0);
}

/* RFC 9112 section 6.3: a coding that is not chunked ends with the connection. */
Test(http, takes_all_when_only_the_connection_ends_the_body)
{
	struct http_body body;
	size_t used;

	cr_expect_eq(feed(&body, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
			  "0\r\n\r\nmore", 3, &used),
		     HTTP_MORE);
	cr_expect_eq(body.payload, 9);
}
