// SPDX-License-Identifier: Apache-2.0
/* nghttp2's own client against the sinkhole's side. */
#include "tests/sinkhole/bench.h"

#include <nghttp2/nghttp2.h>

#define TOKEN  "npm_Q7x2K9tZ2mW9rB4sY6uE8aD1cF3gH5jL0pNvQ"
#define VALUES "{\"npm-token\": \"" TOKEN "\"}"

static struct bench bench;
static nghttp2_session *client;
static char statuses[256]; /* of the answers, in their order */
static size_t answered_bytes;

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		     void *context)
{
	(void)session;
	(void)frame;
	(void)name_len;
	(void)value_len;
	(void)flags;
	(void)context;
	if (!strcmp((const char *)name, ":status")) {
		strcat(statuses, (const char *)value);
		strcat(statuses, " ");
	}
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		   size_t len, void *context)
{
	(void)session;
	(void)flags;
	(void)id;
	(void)bytes;
	(void)context;
	answered_bytes += len;
	return 0;
}

static void begin(void)
{
	nghttp2_session_callbacks *callbacks;

	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_client_new(&client, callbacks, NULL);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(client, NGHTTP2_FLAG_NONE, NULL, 0);
	bench_open_decoys(&bench, 4, VALUES);
	bench_connect(&bench, 40000, 80);
}

static void tidy(void)
{
	nghttp2_session_del(client);
	bench_close(&bench);
}

TestSuite(h2, .init = begin, .fini = tidy);

/* Both ways, in pieces of @piece bytes, until nobody has anything to say. */
static void pump(size_t piece)
{
	const uint8_t *out;
	uint8_t in[4096];
	ssize_t n, got;

	do {
		while ((n = nghttp2_session_mem_send(client, &out)) > 0)
			bench_send(&bench, out, (size_t)n, piece);
		got = recv(bench.client, in, sizeof(in), MSG_DONTWAIT);
		if (got > 0)
			nghttp2_session_mem_recv(client, in, (size_t)got);
	} while (got > 0);
}

static ssize_t body_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t len,
			 uint32_t *flags, nghttp2_data_source *source, void *context)
{
	size_t body_len = strlen(source->ptr);

	(void)session;
	(void)id;
	(void)context;
	cr_assert_geq(len, body_len);
	memcpy(buf, source->ptr, body_len);
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)body_len;
}

static void ask(const char *method, const char *path, const char *name, const char *value,
		const char *body)
{
	const char *const pairs[][2] = {{":method", method},
					{":scheme", "http"},
					{":authority", "a.example"},
					{":path", path},
					{name, value}};
	nghttp2_data_provider provider = {{.ptr = (void *)body}, body_read};
	nghttp2_nv fields[5];

	for (size_t i = 0; i < 5; i++)
		fields[i] = (nghttp2_nv){(uint8_t *)pairs[i][0], (uint8_t *)pairs[i][1],
					 strlen(pairs[i][0]), strlen(pairs[i][1]), 0};
	cr_assert_gt(nghttp2_submit_request(client, NULL, fields, 5, body ? &provider : NULL, NULL),
		     0);
}

/* printf hello | sha256sum */
static void two_requests(size_t piece)
{
	json_t *records;

	ask("GET", "/one?x", "x-odd", "1", NULL);
	ask("POST", "/two", "x-other", "2", "hello");
	pump(piece);
	cr_expect_str_eq(statuses, "403 403 ");
	cr_expect_gt(answered_bytes, 200);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 2);
	expect_record(records, 0,
		      "{\"type\": \"tcp\", \"protocol\": \"http\", \"httpVersion\": \"2\","
		      " \"method\": \"GET\", \"host\": \"a.example\", \"path\": \"/one?x\","
		      " \"headers\": [\"x-odd\"], \"payloadBytes\": 0, \"chunked\": false}");
	expect_record(records, 1,
		      "{\"method\": \"POST\", \"path\": \"/two\", \"headers\": [\"x-other\"],"
		      " \"payloadBytes\": 5, \"bodySha256\":"
		      " \"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"}");
}

Test(h2, requests_are_answered_and_recorded_one_by_one)
{
	two_requests(100000);
}

Test(h2, requests_are_the_same_however_they_are_cut)
{
	two_requests(1);
}

/* The header is Huffman-coded on the wire: no search of its bytes would find the value. */
Test(h2, decoys_are_found_behind_the_compression_of_headers)
{
	json_t *records;

	ask("GET", "/", "authorization", "Bearer " TOKEN, NULL);
	ask("GET", "/", "x", "y", NULL);
	pump(100000);
	bench_end(&bench);
	records = bench_read(&bench);
	expect_record(records, 0, "{\"decoys\": [\"npm-token\"], \"decoyEncodings\": [\"plain\"]}");
	cr_expect_null(json_object_get(json_array_get(records, 1), "decoys"));
}

Test(h2, a_request_that_never_ends_is_recorded_at_the_end)
{
	json_t *records;

	ask("POST", "/", "x", "y", "hello");
	pump(100000);
	/* DATA without END_STREAM on a new stream: HEADERS by hand, static table only. */
	bench_send(&bench, "\0\0\4\1\4\0\0\0\3\203\206\204\101\0", 13, 13);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_geq(json_array_size(records), 2);
	cr_expect_eq(
		json_integer_value(json_object_get(json_array_get(records, 0), "payloadBytes")), 5);
}

/* Type 0x77 of RFC 9113 section 5.5: "MUST ignore". What it carries was sent all the same. */
Test(h2, frames_of_unknown_types_are_payload)
{
	json_t *records;

	ask("GET", "/", "x", "y", NULL);
	pump(100000);
	bench_send(&bench, "\0\0\7\167\0\0\0\0\0secrets", 16, 16);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 2);
	expect_record(records, 1,
		      "{\"protocol\": \"http\", \"method\": null, \"payloadBytes\": 7}");
}

Test(h2, a_preface_alone_is_a_connection_without_a_request)
{
	bench_send(&bench, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24, 5);
	bench_end(&bench);
	expect_record(bench_read(&bench), 0,
		      "{\"protocol\": \"http\", \"method\": null, \"bytesReceived\": 24}");
}

Test(h2, what_breaks_the_framing_is_malformed_and_counted)
{
	json_t *records;

	bench_send(&bench, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24, 24);
	bench_send(&bench, "this is no frame of any kind, and long", 38, 38);
	bench_end(&bench);
	records = bench_read(&bench);
	expect_record(records, json_array_size(records) - 1,
		      "{\"protocol\": \"http\", \"method\": null}");
	cr_expect_gt(
		json_integer_value(json_object_get(
			json_array_get(records, json_array_size(records) - 1), "payloadBytes")),
		0);
}
