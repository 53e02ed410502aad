// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/tls.h"
#include "tests/sinkhole/exact.h"
#include "tests/sinkhole/hello.h"

#include <criterion/criterion.h>

/* The ClientHello of RFC 8448 section 3, server name "server". */
static const uint8_t hello[] = {
	0x01, 0x00, 0x00, 0xc0, 0x03, 0x03, 0xcb, 0x34, 0xec, 0xb1, 0xe7, 0x81, 0x63, 0xba,
	0x1c, 0x38, 0xc6, 0xda, 0xcb, 0x19, 0x6a, 0x6d, 0xff, 0xa2, 0x1a, 0x8d, 0x99, 0x12,
	0xec, 0x18, 0xa2, 0xef, 0x62, 0x83, 0x02, 0x4d, 0xec, 0xe7, 0x00, 0x00, 0x06, 0x13,
	0x01, 0x13, 0x03, 0x13, 0x02, 0x01, 0x00, 0x00, 0x91, 0x00, 0x00, 0x00, 0x0b, 0x00,
	0x09, 0x00, 0x00, 0x06, 0x73, 0x65, 0x72, 0x76, 0x65, 0x72, 0xff, 0x01, 0x00, 0x01,
	0x00, 0x00, 0x0a, 0x00, 0x14, 0x00, 0x12, 0x00, 0x1d, 0x00, 0x17, 0x00, 0x18, 0x00,
	0x19, 0x01, 0x00, 0x01, 0x01, 0x01, 0x02, 0x01, 0x03, 0x01, 0x04, 0x00, 0x23, 0x00,
	0x00, 0x00, 0x33, 0x00, 0x26, 0x00, 0x24, 0x00, 0x1d, 0x00, 0x20, 0x99, 0x38, 0x1d,
	0xe5, 0x60, 0xe4, 0xbd, 0x43, 0xd2, 0x3d, 0x8e, 0x43, 0x5a, 0x7d, 0xba, 0xfe, 0xb3,
	0xc0, 0x6e, 0x51, 0xc1, 0x3c, 0xae, 0x4d, 0x54, 0x13, 0x69, 0x1e, 0x52, 0x9a, 0xaf,
	0x2c, 0x00, 0x2b, 0x00, 0x03, 0x02, 0x03, 0x04, 0x00, 0x0d, 0x00, 0x20, 0x00, 0x1e,
	0x04, 0x03, 0x05, 0x03, 0x06, 0x03, 0x02, 0x03, 0x08, 0x04, 0x08, 0x05, 0x08, 0x06,
	0x04, 0x01, 0x05, 0x01, 0x06, 0x01, 0x02, 0x01, 0x04, 0x02, 0x05, 0x02, 0x06, 0x02,
	0x02, 0x02, 0x00, 0x2d, 0x00, 0x02, 0x01, 0x01, 0x00, 0x1c, 0x00, 0x02, 0x40, 0x01,
};

struct stream {
	uint8_t bytes[8192];
	size_t len;
};

/* The message in records of @piece bytes each. */
static void stream_of(struct stream *stream, const uint8_t *message, size_t len, size_t piece)
{
	stream->len = records_of(stream->bytes, message, len, piece);
}

static ssize_t parse(const uint8_t *bytes, size_t len, struct tls_hello *ret_hello)
{
	_cleanup_free_ uint8_t *copy = exact_copy(bytes, len);
	struct tls_progress progress = {};
	const char *why = NULL;
	ssize_t r = tls_hello_parse(&progress, copy, len, ret_hello, &why);

	cr_expect_eq(r == -EBADMSG, why != NULL);
	return r;
}

Test(tls, reads_the_hello_of_rfc_8448_in_records_of_any_size)
{
	for (size_t piece = 1; piece <= sizeof(hello); piece++) {
		struct tls_hello parsed;
		struct stream stream;

		stream_of(&stream, hello, sizeof(hello), piece);
		cr_assert_eq(parse(stream.bytes, stream.len, &parsed), (ssize_t)stream.len);
		cr_assert_eq(parsed.sni_len, 6);
		cr_expect(!memcmp(parsed.sni, "server", 6));
		cr_expect_eq(parsed.alpn_cnt, 0);
	}
}

Test(tls, asks_for_more_at_every_truncation)
{
	static const size_t pieces[] = {1, 7, sizeof(hello)};

	for (size_t i = 0; i < 3; i++) {
		struct stream stream;
		struct tls_hello parsed;

		stream_of(&stream, hello, sizeof(hello), pieces[i]);
		for (size_t len = 0; len < stream.len; len++)
			cr_expect_eq(parse(stream.bytes, len, &parsed), -EAGAIN, "%zu bytes", len);
	}
}

/* What follows the hello's records is left to the caller. */
Test(tls, says_how_far_the_hello_reaches)
{
	struct stream stream;
	struct tls_hello parsed;
	size_t len;

	stream_of(&stream, hello, sizeof(hello), sizeof(hello));
	len = stream.len;
	memcpy(stream.bytes + stream.len, "\x17\x03\x03\x00\x01x", 6);
	cr_expect_eq(parse(stream.bytes, len + 6, &parsed), (ssize_t)len);
}

/* Every length within the message is tried with every value: none may be read past. */
Test(tls, survives_every_byte_changed_to_extremes)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	size_t refused = 0;

	for (size_t at = 0; at < sizeof(hello); at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			uint8_t changed[sizeof(hello)];
			struct stream stream;
			struct tls_hello parsed;

			memcpy(changed, hello, sizeof(hello));
			changed[at] = values[i];
			stream_of(&stream, changed, sizeof(hello), sizeof(hello));
			refused += parse(stream.bytes, stream.len, &parsed) < 0;
		}
	}
	cr_expect_gt(refused, 0);
}

/* A minimal hello with the extensions in @bytes. */
static ssize_t parse_extensions(const void *bytes, size_t len, struct tls_hello *ret_hello)
{
	uint8_t message[1024] = {1, 0, 0, 0, 3, 3};
	size_t at = 4 + 2 + 32;
	struct stream stream;

	message[at++] = 0; /* session id */
	memcpy(message + at, "\0\2\x13\x01\1\0", 6);
	at += 6;
	message[at++] = (uint8_t)(len >> 8);
	message[at++] = (uint8_t)len;
	memcpy(message + at, bytes, len);
	at += len;
	message[2] = (uint8_t)((at - 4) >> 8);
	message[3] = (uint8_t)(at - 4);
	stream_of(&stream, message, at, at);
	return parse(stream.bytes, stream.len, ret_hello);
}

/* 788,400 calls, each with one byte more. */
Test(tls, reads_the_longest_hello_a_byte_at_a_time)
{
	static const size_t records[] = {1, 1000, 16384};
	static uint8_t message[TLS_HELLO_MAX], wire[6 * TLS_HELLO_MAX];
	const size_t whole = maximal_hello(message);

	cr_assert_eq(whole, 131400);
	cr_assert_eq(TLS_HELLO_MAX, 131400);
	for (size_t i = 0; i < 3; i++) {
		struct tls_progress progress = {};
		struct tls_hello parsed;
		const char *why = NULL;
		size_t len = records_of(wire, message, whole, records[i]);

		for (size_t at = 0; at < len; at++)
			cr_assert_eq(tls_hello_parse(&progress, wire, at, &parsed, &why), -EAGAIN);
		cr_assert_eq(tls_hello_parse(&progress, wire, len, &parsed, &why), (ssize_t)len);
		cr_assert_eq(parsed.sni_len, 11);
		cr_expect(!memcmp(parsed.sni, "big.example", 11));
		cr_expect_eq(parsed.suites.items[0], 0x1301);
		cr_expect_eq(parsed.extensions.cnt, 2);
	}
}

/* RFC 7301 section 3.1. */
Test(tls, reads_alpn)
{
	static const uint8_t alpn[] = {0, 16,  0,   14,	 0,   12,  2,	'h', '2',
				       8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
	struct tls_hello parsed;

	cr_assert_gt(parse_extensions(alpn, sizeof(alpn), &parsed), 0);
	cr_assert_eq(parsed.alpn_cnt, 2);
	cr_expect_eq(parsed.alpn_len[0], 2);
	cr_expect_eq(parsed.alpn_len[1], 8);
	cr_expect(!memcmp(parsed.alpn, "h2http/1.1", 10));
	cr_expect_eq(parsed.sni_len, 0);
}

/* More names than are kept take nothing away from the rest. */
Test(tls, leaves_out_protocols_beyond_its_bound)
{
	uint8_t alpn[6 + 2 * (TLS_ALPN_MAX + 3)] = {0, 16, 0, 2 + 38, 0, 38};
	struct tls_hello parsed;

	cr_assert_eq(sizeof(alpn), 6 + 38);
	for (size_t at = 6; at < sizeof(alpn); at += 2) {
		alpn[at] = 1;
		alpn[at + 1] = 'x';
	}
	cr_assert_gt(parse_extensions(alpn, sizeof(alpn), &parsed), 0);
	cr_expect_eq(parsed.alpn_cnt, TLS_ALPN_MAX);
}

Test(tls, refuses_broken_extensions)
{
	static const struct {
		const char *bytes;
		size_t len;
	} broken[] = {
		{"\0", 1},
		{"\0\0\0\4", 4},
		{"\0\0\0\2\0\0", 6},			/* an empty list of names */
		{"\0\0\0\5\0\3\0\0\0", 9},		/* an empty name */
		{"\0\0\0\6\0\4\0\0\5a", 10},		/* a name beyond its list */
		{"\0\0\0\7\0\4\0\0\1ax", 11},		/* bytes behind the list */
		{"\0\0\0\012\0\010\0\0\1a\0\0\1b", 14}, /* two host names */
		{"\0\020\0\2\0\0", 6},			/* no protocol */
		{"\0\020\0\3\0\1\0", 7},		/* an empty protocol */
		{"\0\020\0\3\0\2\2a", 8},		/* a protocol beyond its list */
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct tls_hello parsed;

		cr_expect_eq(parse_extensions(broken[i].bytes, broken[i].len, &parsed), -EBADMSG,
			     "case %zu", i);
	}
}

Test(tls, refuses_what_cannot_become_a_hello)
{
	static const struct {
		const char *bytes;
		size_t len;
	} wrong[] = {
		{"GET / HTTP/1.1\r\n", 16},
		{"\x17\x03\x03", 3},		   /* application data */
		{"\x16\x02", 2},		   /* version 2 */
		{"\x16\x03\x05", 3},		   /* version 3.5 */
		{"\x16\x03\x01\0\0", 5},	   /* an empty record */
		{"\x16\x03\x01\x40\x01", 5},	   /* 16,385 bytes */
		{"\x16\x03\x01\0\1\2", 6},	   /* a ServerHello */
		{"\x16\x03\x01\0\4\1\2\1\x45", 9}, /* 131,397 bytes and a header */
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct tls_hello parsed;

		cr_expect_eq(parse((const uint8_t *)wrong[i].bytes, wrong[i].len, &parsed),
			     -EBADMSG, "case %zu", i);
	}
}

/* RFC 8446 section 6: alert 21, version 3.3, two bytes: fatal, handshake_failure. */
Test(tls, refuses_with_a_fatal_alert)
{
	cr_expect_arr_eq(tls_handshake_failure, "\x15\x03\x03\x00\x02\x02\x28", 7);
}

/* RFC 8448 section 3: the suites 0x1301, 0x1303, 0x1302, TLS 1.3, nine extensions. */
Test(tls, lists_what_is_offered)
{
	static const uint16_t extensions[] = {0, 0xff01, 10, 35, 51, 43, 13, 45, 28};
	struct tls_hello parsed;
	struct stream stream;

	stream_of(&stream, hello, sizeof(hello), sizeof(hello));
	cr_assert_gt(parse(stream.bytes, stream.len, &parsed), 0);
	cr_expect_eq(parsed.legacy_version, 0x0303);
	cr_assert_eq(parsed.suites.cnt, 3);
	cr_expect_eq(parsed.suites.items[1], 0x1303);
	cr_assert_eq(parsed.versions.cnt, 1);
	cr_expect_eq(parsed.versions.items[0], 0x0304);
	cr_assert_eq(parsed.extensions.cnt, 9);
	cr_expect_arr_eq(parsed.extensions.items, extensions, sizeof(extensions));
	cr_assert_eq(parsed.signatures.cnt, 15);
	cr_expect_eq(parsed.signatures.items[0], 0x0403);
}

/* RFC 8701: 0x0a0a and its like say nothing of the client. */
Test(tls, leaves_out_the_numbers_that_mean_nothing)
{
	uint8_t greased[sizeof(hello)];
	struct tls_hello parsed;
	struct stream stream;

	memcpy(greased, hello, sizeof(greased));
	greased[41] = 0xea;
	greased[42] = 0xea;
	stream_of(&stream, greased, sizeof(greased), sizeof(greased));
	cr_assert_gt(parse(stream.bytes, stream.len, &parsed), 0);
	cr_expect_eq(parsed.suites.cnt, 2);
}
