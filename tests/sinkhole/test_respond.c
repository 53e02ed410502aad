// SPDX-License-Identifier: Apache-2.0
#include "tests/sinkhole/bench.h"

static char file[] = "/tmp/qp-test-respond-XXXXXX";

static void write_table(const char *text)
{
	int fd = mkstemp(file);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void tidy(void)
{
	unlink(file);
}

TestSuite(respond, .fini = tidy);

static struct respond *table_of(const char *text)
{
	struct respond *respond = NULL;
	struct qp_error err = {};

	write_table(text);
	cr_assert_eq(respond_load(file, &respond, &err), 0, "%s", err.text);
	return respond;
}

Test(respond, the_first_row_that_fits_answers)
{
	_cleanup_respond_ struct respond *respond =
		table_of("[{\"host\": \"*.a.example\", \"path\": \"/v1/*\", \"status\": 200, "
			 "\"body\": \"one\"},"
			 " {\"method\": \"POST\", \"status\": 201}, {\"host\": \"b.example\", "
			 "\"status\": 404}]");

	cr_expect_eq(respond_find(respond, "GET", "x.A.example", "/v1/y", NULL)->status, 200);
	cr_expect_eq(respond_find(respond, "GET", "x.a.example", "/v2/y", NULL)->status, 403);
	cr_expect_eq(respond_find(respond, "POST", "b.example", "/", NULL)->status, 201);
	cr_expect_eq(respond_find(respond, "GET", "b.example", "/", NULL)->status, 404);
	cr_expect_eq(respond_find(respond, "GET", NULL, NULL, NULL)->status, 403);
	cr_expect_eq(respond_find(NULL, "GET", "b.example", "/", NULL)->status, 403);
}

Test(respond, a_table_that_is_wrong_is_refused_with_the_row)
{
	static const char *const bad[][2] = {
		{"{}", "not an array"},
		{"[1]", "row 1: no object"},
		{"[{\"status\": 200}, {\"status\": 99}]", "row 2: \"status\" is no number"},
		{"[{\"status\": 200, \"stat\": 1}]", "row 1: a member that is not known"},
		{"[{\"status\": 200, \"host\": 1}]", "row 1: a member that is no text"},
		{"[{\"status\": 200, \"headers\": {\"a\": \"b\\r\\nc\"}}]", "row 1: a header"},
		{"[{\"status\": 200, \"headers\": {\"Content-Length\": \"1\"}}]",
		 "row 1: a header"},
		{"[{\"status\": 200}", "']' expected"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct respond *respond = NULL;
		struct qp_error err = {};

		memcpy(file + strlen(file) - 6, "XXXXXX", 6);
		write_table(bad[i][0]);
		cr_expect_eq(respond_load(file, &respond, &err), -EINVAL, "%s", bad[i][0]);
		cr_expect_not_null(strstr(err.text, bad[i][1]), "%s", err.text);
		unlink(file);
	}
}

/* One connection, @request in pieces of 7 bytes; what the client gets back in @reply. */
static json_t *exchange(struct bench *bench, const struct respond *respond, const char *request,
			char reply[static 2048])
{
	ssize_t n;

	bench_open(bench, 4);
	conns_set_respond(bench->conns, respond);
	bench_connect(bench, 40000, 80);
	bench_send(bench, request, strlen(request), 7);
	n = recv(bench->client, reply, 2047, MSG_DONTWAIT);
	reply[n < 0 ? 0 : n] = '\0';
	bench_end(bench);
	return bench_read(bench);
}

Test(respond, a_row_is_what_the_client_gets)
{
	_cleanup_respond_ struct respond *respond =
		table_of("[{\"path\": \"/x\", \"status\": 200, \"body\": \"{}\","
			 " \"headers\": {\"Content-Type\": \"application/json\"}}]");
	struct bench bench;
	char reply[2048];

	exchange(&bench, respond, "GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n", reply);
	cr_expect(!strncmp(reply, "HTTP/1.1 200 OK\r\nServer: nginx\r\n", 32), "%s", reply);
	cr_expect_not_null(strstr(reply, "\r\nContent-Type: application/json\r\n"));
	cr_expect_not_null(
		strstr(reply, "\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}"));
	bench_close(&bench);
	exchange(&bench, respond, "HEAD /x HTTP/1.1\r\nHost: a.example\r\n\r\n", reply);
	cr_expect_str_eq(reply + strlen(reply) - 4, "\r\n\r\n");
	bench_close(&bench);
}

/* printf hello | sha256sum */
Test(respond, a_request_is_told_with_header_names_body_hash_and_upgrade)
{
	struct bench bench;
	char reply[2048];
	json_t *records =
		exchange(&bench, NULL,
			 "POST / HTTP/1.1\r\nHost: a.example\r\nX-Odd:1\r\nUpgrade: websocket\r\n"
			 "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
			 reply);

	expect_record(records, 0,
		      "{\"headers\": [\"Host\", \"X-Odd\", \"Upgrade\", \"Transfer-Encoding\"],"
		      " \"upgrade\": \"websocket\", \"payloadBytes\": 5, \"bodySha256\":"
		      " \"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"}");
	bench_close(&bench);
	records = exchange(&bench, NULL, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", reply);
	expect_record(records, 0, "{\"headers\": [\"Host\"]}");
	cr_expect_null(json_object_get(json_array_get(records, 0), "bodySha256"));
	cr_expect_null(json_object_get(json_array_get(records, 0), "upgrade"));
	bench_close(&bench);
}
