// SPDX-License-Identifier: Apache-2.0
#include "tests/sinkhole/bench.h"

#define TOKEN  "npm_Q7x2K9tZ2mW9rB4sY6uE8aD1cF3gH5jL0pNvQ"
#define VALUES "{\"npm-token\": \"" TOKEN "\", \"other\": \"a value of another kind\"}"

static struct bench bench;

static void begin(void)
{
	bench_open_decoys(&bench, 8, VALUES);
	bench_connect(&bench, 40000, 80);
}

static void tidy(void)
{
	bench_close(&bench);
}

TestSuite(conn_decoys, .init = begin, .fini = tidy);

static void send_text(const char *text, size_t piece)
{
	bench_send(&bench, text, strlen(text), piece);
}

Test(conn_decoys, are_found_in_a_header_and_told_by_label_only)
{
	send_text("GET / HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer " TOKEN "\r\n\r\n",
		  1);
	bench_end(&bench);
	expect_record(bench_read(&bench), 0,
		      "{\"protocol\": \"http\", \"decoys\": [\"npm-token\"],"
		      " \"decoyEncodings\": [\"plain\"], \"payloadBytes\": 0}");
}

Test(conn_decoys, are_found_in_a_body_that_chunks_cut)
{
	send_text("POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n"
		  "a\r\nnpm_Q7x2K9\r\n1f\r\ntZ2mW9rB4sY6uE8aD1cF3gH5jL0pNvQ\r\n0\r\n\r\n",
		  5);
	bench_end(&bench);
	expect_record(bench_read(&bench), 0,
		      "{\"decoys\": [\"npm-token\"], \"decoyEncodings\": [\"plain\"],"
		      " \"chunked\": true, \"payloadBytes\": 41}");
}

Test(conn_decoys, are_told_of_the_request_that_carried_them)
{
	json_t *records;

	send_text("GET /1 HTTP/1.1\r\nHost: a.example\r\n\r\n", 1000);
	send_text("GET /2?" TOKEN " HTTP/1.1\r\nHost: a.example\r\n\r\n", 1000);
	send_text("GET /3 HTTP/1.1\r\nHost: a.example\r\n\r\n", 1000);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 3);
	cr_expect_null(json_object_get(json_array_get(records, 0), "decoys"));
	expect_record(records, 1, "{\"decoys\": [\"npm-token\"]}");
	cr_expect_null(json_object_get(json_array_get(records, 2), "decoys"));
}

Test(conn_decoys, are_found_in_host_names_that_they_are_split_over)
{
	send_text(
		"GET / HTTP/1.1\r\n"
		"Host: 6e706d5f513778324b39745a326d57397242347359.367545386144316346336748356a4c30"
		"704e7651.a.example\r\n\r\n",
		1000);
	bench_end(&bench);
	expect_record(bench_read(&bench), 0,
		      "{\"decoys\": [\"npm-token\"], \"decoyEncodings\": [\"hex\"]}");
}

Test(conn_decoys, are_found_in_protocols_that_nobody_knows)
{
	send_text(
		"\x01\xff junk a value of another kind, QvNp0Lj5Hg3Fc1Da8Eu6Ys4Br9Wm2Zt9K2x7Q_mpn",
		3);
	bench_end(&bench);
	expect_record(bench_read(&bench), 0,
		      "{\"protocol\": \"unknown\", \"decoys\": [\"npm-token\", \"other\"],"
		      " \"decoyEncodings\": [\"plain\", \"reversed\"]}");
}

Test(conn_decoys, are_not_there_when_nothing_was_sent_of_them)
{
	json_t *record;

	send_text("GET /npm_Q7x2K9 HTTP/1.1\r\nHost: a.example\r\n\r\n", 7);
	bench_end(&bench);
	record = json_array_get(bench_read(&bench), 0);
	cr_expect_null(json_object_get(record, "decoys"));
	cr_expect_null(json_object_get(record, "unsearched"));
}
