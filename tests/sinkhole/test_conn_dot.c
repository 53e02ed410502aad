// SPDX-License-Identifier: Apache-2.0
/* DNS over TLS (RFC 7858): its records say that they are of what came under TLS. */
#include "tests/sinkhole/tls_client.h"

#include <criterion/criterion.h>

#define IN_TLS "\"inTls\": {\"sni\": \"dns.example\", \"version\": \"TLSv1.3\"}"

Test(conn_dot, records_questions_under_tls_as_such)
{
	static const char query[] = "\0\x1d\x12\x34\1\0\0\1\0\0\0\0\0\0\7example\3org\0\0\1\0\1";
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_at(&bench, 853, authority, "dns.example", NULL, 100);
	json_t *records;

	cr_assert(tls_client_shake(&client));
	tls_client_say(&client, query, sizeof(query) - 1);
	cr_expect_gt(client.reply_len, sizeof(query) - 1);
	cr_expect_eq(client.reply[2], 0x12);
	/* Ends within a second message. */
	tls_client_say(&client, query, 20);
	bench_end(&bench);
	records = bench_read(&bench);
	expect_record(records, 0,
		      "{\"type\": \"tcp\", \"protocol\": \"tls\", \"service\": \"dot\"}");
	expect_record(
		records, 1,
		"{\"type\": \"dns\", \"proto\": \"tcp\", \"name\": \"example.org\", \"qtype\": 1,"
		" \"dstPort\": 853, " IN_TLS "}");
	expect_record(records, 2, "{\"type\": \"malformed\", \"protocol\": \"dns\", " IN_TLS "}");
	expect_record(records, 3, "{\"type\": \"tcp\", " IN_TLS "}");
	bench_close(&bench);
	tls_client_close(&client);
	tls_server_free(server);
	authority_free(authority);
}

/* The same question in the clear has no such member. */
Test(conn_dot, says_nothing_of_tls_where_there_is_none)
{
	static const char query[] = "\0\x1d\x12\x34\1\0\0\1\0\0\0\0\0\0\7example\3org\0\0\1\0\1";
	struct bench bench;

	bench_open(&bench, 2);
	bench_connect(&bench, 40000, 53);
	bench_send(&bench, query, sizeof(query) - 1, 100);
	bench_end(&bench);
	expect_record(bench_read(&bench), 0, "{\"type\": \"dns\", \"name\": \"example.org\"}");
	cr_expect_null(json_object_get(json_array_get(bench.records, 0), "inTls"));
	bench_close(&bench);
}
