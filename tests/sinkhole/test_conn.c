// SPDX-License-Identifier: Apache-2.0
#include "tests/sinkhole/bench.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* One request and the next, two chunked ones between: whatever the cut, each byte is in the
 * record of its request. */
Test(conn, records_each_request_of_a_connection_in_pieces_of_any_size)
{
	static const char get[] = "GET /a HTTP/1.1\r\nHost: h.example\r\n\r\n";
	static const char post[] = "POST /b HTTP/1.1\r\nHost: h.example\r\n"
				   "Transfer-Encoding: chunked\r\n\r\n"
				   "5\r\nhello\r\n0\r\n\r\n";
	static const char put[] = "PUT /c\\ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
	char all[1024];
	size_t len = (size_t)snprintf(all, sizeof(all), "%s%s%s%s", get, post, put, get);

	for (size_t piece = 1; piece <= len; piece++) {
		struct bench bench;
		char expected[256];
		json_t *records;

		bench_open(&bench, 8);
		bench_connect(&bench, 40000, 80);
		bench_send(&bench, all, len, piece);
		bench_end(&bench);
		records = bench_read(&bench);
		cr_assert_eq(json_array_size(records), 4, "pieces of %zu", piece);
		expect_record(records, 0,
			      "{\"type\": \"tcp\", \"protocol\": \"http\", \"method\": \"GET\","
			      " \"path\": \"/a\", \"host\": \"h.example\", \"payloadBytes\": 0,"
			      " \"chunked\": false, \"srcIp\": \"10.23.4.17\", \"srcPort\": 40000,"
			      " \"dstIp\": \"203.0.113.7\", \"dstPort\": 80, \"dstName\": null}");
		snprintf(expected, sizeof(expected),
			 "{\"path\": \"/b\", \"chunked\": true, \"payloadBytes\": 5,"
			 " \"bytesReceived\": %zu}",
			 sizeof(post) - 1);
		expect_record(records, 1, expected);
		snprintf(expected, sizeof(expected),
			 "{\"method\": \"PUT\", \"path\": \"/c\\\\x5c\", \"host\": null,"
			 " \"payloadBytes\": 3, \"bytesReceived\": %zu}",
			 sizeof(put) - 1);
		expect_record(records, 2, expected);
		snprintf(expected, sizeof(expected), "{\"bytesReceived\": %zu}", sizeof(get) - 1);
		expect_record(records, 3, expected);
		bench_close(&bench);
	}
}

static size_t replies(struct bench *bench, char *buf, size_t size)
{
	ssize_t n = recv(bench->client, buf, size - 1, MSG_DONTWAIT);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

Test(conn, asks_for_a_body_that_waits_to_be_asked_for)
{
	static const char head[] = "POST / HTTP/1.1\r\nExpect: 100-continue\r\n"
				   "Content-Length: 2\r\nConnection: close\r\n\r\n";
	struct bench bench;
	char reply[4096];

	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 80);
	bench_send(&bench, head, sizeof(head) - 1, sizeof(head));
	replies(&bench, reply, sizeof(reply));
	cr_expect_str_eq(reply, "HTTP/1.1 100 Continue\r\n\r\n");
	bench_send(&bench, "ab", 2, 1);
	replies(&bench, reply, sizeof(reply));
	cr_expect(!strncmp(reply, "HTTP/1.1 403 ", 13));
	cr_expect_not_null(strstr(reply, "\r\nConnection: close\r\n"));
	expect_record(bench_read(&bench), 0, "{\"payloadBytes\": 2}");
	bench_close(&bench);
}

Test(conn, answers_head_without_a_body)
{
	static const char head[] = "HEAD / HTTP/1.1\r\n\r\n";
	struct bench bench;
	char reply[4096];
	size_t n;

	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 80);
	bench_send(&bench, head, sizeof(head) - 1, sizeof(head));
	n = replies(&bench, reply, sizeof(reply));
	cr_assert_gt(n, 4);
	cr_expect_str_eq(reply + n - 4, "\r\n\r\n");
	bench_close(&bench);
}

/* What follows a broken request is payload: nobody may send unseen by being impolite. */
Test(conn, counts_all_that_follows_a_broken_request)
{
	static const char text[] = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
				   "zz secret";
	struct bench bench;
	json_t *records;

	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 80);
	bench_send(&bench, text, sizeof(text) - 1, sizeof(text));
	bench_send(&bench, "0123456789", 10, 10);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 2);
	expect_record(records, 0,
		      "{\"type\": \"malformed\", \"protocol\": \"http\","
		      " \"why\": \"a chunk without a size\"}");
	expect_record(records, 1,
		      "{\"type\": \"tcp\", \"protocol\": \"http\", \"path\": \"/x\","
		      " \"payloadBytes\": 19}");
	bench_close(&bench);
}

Test(conn, records_what_comes_after_the_last_answer)
{
	static const char text[] = "GET / HTTP/1.1\r\nConnection: close\r\n\r\nextra";
	struct bench bench;
	json_t *records;

	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 80);
	bench_send(&bench, text, sizeof(text) - 1, sizeof(text));
	bench_send(&bench, " bytes", 6, 6);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 2);
	expect_record(records, 0, "{\"protocol\": \"http\"}");
	expect_record(records, 1,
		      "{\"protocol\": \"unknown\", \"bytesReceived\": 11,"
		      " \"firstBytes\": \"extra bytes\"}");
	bench_close(&bench);
}

Test(conn, records_silence_and_unknown_protocols)
{
	static char big[5000];
	char expected[1024], shown[RECORD_FIRST_BYTES + 1] = "";
	struct bench bench;
	json_t *records;

	memset(big, 'x', sizeof(big));
	memset(shown, 'x', RECORD_FIRST_BYTES);
	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 443);
	bench_end(&bench);
	bench_connect(&bench, 40001, 22);
	bench_send(&bench, "SSH-2.0-x\r\n", 11, 3);
	bench_end(&bench);
	bench_connect(&bench, 40002, 5432);
	bench_send(&bench, big, sizeof(big), 1000);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 3);
	expect_record(records, 0, "{\"protocol\": \"none\", \"bytesReceived\": 0}");
	expect_record(records, 1,
		      "{\"protocol\": \"ssh\", \"bytesReceived\": 11,"
		      " \"firstBytes\": \"SSH-2.0-x\\\\x0d\\\\x0a\"}");
	snprintf(expected, sizeof(expected),
		 "{\"protocol\": \"unknown\", \"bytesReceived\": 5000, \"firstBytes\": \"%s\"}",
		 shown);
	expect_record(records, 2, expected);
	bench_close(&bench);
}

static const char hello[] = "\x16\x03\x01\x00\x45\x01\x00\x00\x41\x03\x03"
			    "0123456789abcdef0123456789abcdef"
			    "\x00\x00\x02\x13\x01\x01\x00\x00\x16"
			    "\x00\x00\x00\x08\x00\x06\x00\x00\x03sni"
			    "\x00\x10\x00\x06\x00\x04\x03wh?";

Test(conn, refuses_tls_once_the_hello_is_read_in_pieces_of_any_size)
{
	size_t len = sizeof(hello) - 1;

	for (size_t piece = 1; piece <= len; piece++) {
		struct bench bench;
		char reply[64], expected[256];
		json_t *records;

		bench_open(&bench, 8);
		bench_connect(&bench, 40000, 443);
		bench_send(&bench, hello, len, piece);
		cr_expect_eq(replies(&bench, reply, sizeof(reply)), 7);
		cr_expect_arr_eq(reply, "\x15\x03\x03\x00\x02\x02\x28", 7);
		bench_send(&bench, "more", 4, 4);
		bench_end(&bench);
		records = bench_read(&bench);
		cr_assert_eq(json_array_size(records), 1);
		snprintf(expected, sizeof(expected),
			 "{\"protocol\": \"tls\", \"sni\": \"sni\", \"alpn\": [\"wh?\"],"
			 " \"bytesReceived\": %zu, \"bytesAfterHello\": 4}",
			 len + 4);
		expect_record(records, 0, expected);
		bench_close(&bench);
	}
}

/* Data in the guise of a ClientHello that never ends is not TLS. */
Test(conn, calls_a_hello_that_breaks_off_unknown)
{
	struct bench bench;
	json_t *records;

	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 443);
	bench_send(&bench, hello, 40, 40);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 2);
	expect_record(records, 0, "{\"type\": \"malformed\", \"protocol\": \"tls\"}");
	expect_record(records, 1, "{\"protocol\": \"unknown\", \"bytesReceived\": 40}");
	bench_close(&bench);
}

/* RFC 7766: a length before each message; several on one connection. */
Test(conn, answers_dns_on_any_port)
{
	static const char query[] = "\x00\x1d\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
				    "\x03pkg\x07"
				    "example\x00\x00\x01\x00\x01";
	size_t len = sizeof(query) - 1;

	for (size_t piece = 1; piece <= 2 * len; piece++) {
		char twice[2 * sizeof(query)];
		char reply[256];
		struct bench bench;
		json_t *records;

		memcpy(twice, query, len);
		memcpy(twice + len, query, len);
		bench_open(&bench, 8);
		bench_connect(&bench, 40000, 5353);
		bench_send(&bench, twice, 2 * len, piece);
		cr_expect_eq(replies(&bench, reply, sizeof(reply)), 2 * (len + 16));
		cr_expect_arr_eq(reply + len, "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc6\x12\0\1", 16);
		bench_end(&bench);
		records = bench_read(&bench);
		cr_assert_eq(json_array_size(records), 3);
		expect_record(records, 0,
			      "{\"type\": \"dns\", \"proto\": \"tcp\", \"qtype\": 1,"
			      " \"name\": \"pkg.example\", \"answer\": \"198.18.0.1\"}");
		expect_record(records, 2,
			      "{\"type\": \"tcp\", \"protocol\": \"dns\","
			      " \"bytesReceived\": 62}");
		bench_close(&bench);
	}
}

Test(conn, tells_a_client_that_its_dns_message_is_broken)
{
	/* A question that is cut short; an update, which is another opcode. */
	static const char messages[][21] = {
		"\0\x11\x12\x34\x01\x00\0\1\0\0\0\0\0\0\4pkgs",
		"\0\x11\x12\x34\x29\x00\0\1\0\0\0\0\0\0\0\0\6\0\1",
	};
	static const char answers[][15] = {"\0\x0c\x12\x34\x81\x81", "\0\x0c\x12\x34\xa9\x84"};

	for (size_t i = 0; i < 2; i++) {
		char reply[64];
		struct bench bench;
		json_t *records;

		bench_open(&bench, 8);
		bench_connect(&bench, 40000, 53);
		bench_send(&bench, messages[i], 19, 19);
		cr_assert_eq(replies(&bench, reply, sizeof(reply)), 14);
		cr_expect_arr_eq(reply, answers[i], 14);
		bench_end(&bench);
		records = bench_read(&bench);
		cr_assert_eq(json_array_size(records), 2);
		expect_record(records, 0, "{\"type\": \"malformed\", \"protocol\": \"dns\"}");
		expect_record(records, 1,
			      "{\"type\": \"tcp\", \"protocol\": \"unknown\","
			      " \"bytesReceived\": 19}");
		bench_close(&bench);
	}
}

Test(conn, records_the_longest_silent_early_when_there_are_too_many)
{
	struct bench bench;
	json_t *records;
	int first;

	bench_open(&bench, 2);
	first = bench_connect(&bench, 1, 80);
	bench_connect(&bench, 2, 80);
	bench.client = first;
	bench_send(&bench, "still here", 10, 10);
	bench_connect(&bench, 3, 80);
	conns_bury(bench.conns);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 3);
	expect_record(records, 0, "{\"srcPort\": 2, \"early\": true, \"protocol\": \"none\"}");
	cr_expect_null(json_object_get(json_array_get(records, 1), "early"));
	bench_close(&bench);
}
