// SPDX-License-Identifier: Apache-2.0
/* TLS that is answered, spoken with OpenSSL's client and with none at all. */
#include "sinkhole/conn_internal.h"
#include "tests/sinkhole/tls_client.h"

#include <criterion/criterion.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#define HTTP_1 "\x08http/1.1"
#define BOTH   "\x08http/1.1\x02h2"

static void all_close(struct bench *bench, struct tls_client *client, struct tls_server *server,
		      struct authority *authority)
{
	tls_client_close(client);
	bench_close(bench);
	tls_server_free(server);
	authority_free(authority);
}

/* What a client of the name h.example sends and gets under TLS, the wire cut into @piece. */
static void post_in_pieces(size_t piece)
{
	static const char post[] = "POST /up HTTP/1.1\r\nHost: h.example\r\nX-Key: v\r\n"
				   "Content-Length: 5\r\n\r\nhello";
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_open(&bench, authority, "h.example", HTTP_1, piece);
	json_t *records;

	cr_assert(tls_client_shake(&client), "pieces of %zu", piece);
	tls_client_say(&client, post, sizeof(post) - 1);
	cr_expect(!strncmp(client.reply, "HTTP/1.1 403 ", 13), "%s", client.reply);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 2, "pieces of %zu", piece);
	expect_record(records, 0,
		      "{\"type\": \"tcp\", \"protocol\": \"tls\", \"sni\": \"h.example\","
		      " \"alpn\": [\"http/1.1\"], \"handshake\": \"accepted\","
		      " \"version\": \"TLSv1.3\", \"alpnChosen\": \"http/1.1\"}");
	cr_expect_not_null(json_object_get(json_array_get(records, 0), "ja4"));
	expect_record(records, 1,
		      "{\"protocol\": \"http\", \"method\": \"POST\", \"path\": \"/up\","
		      " \"host\": \"h.example\", \"payloadBytes\": 5,"
		      " \"headers\": [\"Host\", \"X-Key\", \"Content-Length\"],"
		      " \"bodySha256\":"
		      " \"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\","
		      " \"inTls\": {\"sni\": \"h.example\", \"version\": \"TLSv1.3\","
		      "             \"alpn\": \"http/1.1\"}}");
	cr_expect_eq(
		json_integer_value(json_object_get(json_array_get(records, 1), "bytesReceived")),
		sizeof(post) - 1);
	all_close(&bench, &client, server, authority);
}

Test(conn_tls, reads_http_under_tls_whatever_the_segments)
{
	const size_t pieces[] = {1, 2, 5, 7, 100, 1000, 65536};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
		post_in_pieces(pieces[i]);
}

Test(conn_tls, speaks_every_version_that_a_client_may_insist_on)
{
	static const struct {
		int version;
		const char *record;
	} cases[] = {
		{TLS1_VERSION, "{\"handshake\": \"accepted\", \"version\": \"TLSv1\"}"},
		{TLS1_1_VERSION, "{\"handshake\": \"accepted\", \"version\": \"TLSv1.1\"}"},
		{TLS1_2_VERSION, "{\"handshake\": \"accepted\", \"version\": \"TLSv1.2\"}"},
		{TLS1_3_VERSION, "{\"handshake\": \"accepted\", \"version\": \"TLSv1.3\"}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct authority *authority;
		struct bench bench;
		struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
		struct tls_client client =
			tls_client_open(&bench, authority, "h.example", NULL, 1000);

		SSL_set_security_level(client.ssl, 0);
		SSL_set_min_proto_version(client.ssl, cases[i].version);
		SSL_set_max_proto_version(client.ssl, cases[i].version);
		cr_assert(tls_client_shake(&client), "%s", cases[i].record);
		tls_client_say(&client, "GET / HTTP/1.0\r\n\r\n", 18);
		bench_end(&bench);
		expect_record(bench_read(&bench), 0, cases[i].record);
		expect_record(bench.records, 1, "{\"protocol\": \"http\", \"method\": \"GET\"}");
		all_close(&bench, &client, server, authority);
	}
}

/* RFC 7301: the server chooses among what the client offers. */
Test(conn_tls, chooses_from_what_the_client_offers)
{
	static const char *const cases[][2] = {
		{BOTH, "h2"},
		{HTTP_1, "http/1.1"},
		{"\x03"
		 "dot",
		 "dot"},
		{NULL, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct authority *authority;
		struct bench bench;
		struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
		struct tls_client client =
			tls_client_open(&bench, authority, "h.example", cases[i][0], 1000);
		const unsigned char *name = NULL;
		unsigned len = 0;

		cr_assert(tls_client_shake(&client));
		SSL_get0_alpn_selected(client.ssl, &name, &len);
		cr_expect(len == strlen(cases[i][1]) &&
				  !memcmp(name ? (const char *)name : "", cases[i][1], len),
			  "%s", cases[i][1]);
		bench_read(&bench);
		all_close(&bench, &client, server, authority);
	}
}

/* A client that trusts others sends unknown_ca (RFC 8446 section 6.2). */
Test(conn_tls, records_who_refuses_the_certificate)
{
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

	for (size_t i = 0; i < 2; i++) {
		struct authority *authority;
		struct bench bench;
		struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
		struct tls_client client = tls_client_open(&bench, NULL, "h.example", HTTP_1, 1);

		SSL_set_max_proto_version(client.ssl, versions[i]);
		cr_assert_not(tls_client_shake(&client));
		bench_end(&bench);
		cr_assert_eq(json_array_size(bench_read(&bench)), 1);
		expect_record(bench.records, 0,
			      "{\"protocol\": \"tls\", \"sni\": \"h.example\","
			      " \"handshake\": \"refused\", \"alert\": \"unknown_ca\"}");
		all_close(&bench, &client, server, authority);
	}
}

Test(conn_tls, records_who_goes_away_once_it_saw_the_certificate)
{
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_open(&bench, authority, "h.example", NULL, 1000);

	SSL_do_handshake(client.ssl);
	tls_client_carry(&client);
	bench_end(&bench);
	expect_record(bench_read(&bench), 0, "{\"protocol\": \"tls\", \"handshake\": \"refused\"}");
	cr_expect_null(json_object_get(json_array_get(bench.records, 0), "alert"));
	all_close(&bench, &client, server, authority);
}

Test(conn_tls, records_who_stops_halfway_and_who_says_nothing_after_it)
{
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client halfway = tls_client_open(&bench, authority, "a.example", NULL, 1000);
	struct tls_client silent;
	int held = bench.client;

	SSL_do_handshake(halfway.ssl);
	tls_client_carry(&halfway);
	silent = tls_client_open(&bench, authority, "b.example", NULL, 1000);
	cr_assert(tls_client_shake(&silent));
	bench_end(&bench);
	cr_assert_eq(json_array_size(bench_read(&bench)), 2);
	expect_record(bench.records, 0, "{\"sni\": \"b.example\", \"handshake\": \"unused\"}");
	expect_record(bench.records, 1, "{\"sni\": \"a.example\", \"handshake\": \"unfinished\"}");
	close(held);
	tls_client_close(&halfway);
	all_close(&bench, &silent, server, authority);
}

/* No common parameters: a client that signs with nothing but RSA cannot be served. */
Test(conn_tls, records_a_handshake_that_fails)
{
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_open(&bench, authority, "h.example", NULL, 1000);

	SSL_set_max_proto_version(client.ssl, TLS1_2_VERSION);
	SSL_set_cipher_list(client.ssl, "AES128-GCM-SHA256");
	cr_assert_not(tls_client_shake(&client));
	bench_end(&bench);
	expect_record(bench_read(&bench), 0,
		      "{\"handshake\": \"failed\", \"failure\": \"no shared cipher\"}");
	all_close(&bench, &client, server, authority);
}

/* The certificate names what the client asked for, else where it went; what was asked for
 * in another way too. */
Test(conn_tls, serves_a_certificate_for_an_address_without_a_name)
{
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_open(&bench, authority, NULL, NULL, 1000);

	cr_assert_eq(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(client.ssl), "203.0.113.7"), 1);
	cr_expect(tls_client_shake(&client));
	bench_read(&bench);
	all_close(&bench, &client, server, authority);
}

Test(conn_tls, finds_a_decoy_under_tls_and_counts_other_bytes)
{
	static const char decoys[] = "{\"key\": \"npm_0123456789abcdef\"}";
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, decoys, &authority);
	struct tls_client client = tls_client_open(&bench, authority, "h.example", NULL, 3);

	cr_assert(tls_client_shake(&client));
	tls_client_say(&client, "\x01\x02 npm_0123456789abcdef", 23);
	bench_end(&bench);
	cr_assert_eq(json_array_size(bench_read(&bench)), 2);
	cr_expect_null(json_object_get(json_array_get(bench.records, 0), "decoys"));
	expect_record(bench.records, 1,
		      "{\"protocol\": \"unknown\", \"bytesReceived\": 23, \"decoys\": [\"key\"],"
		      " \"firstBytes\": \"\\\\x01\\\\x02 npm_0123456789abcdef\"}");
	all_close(&bench, &client, server, authority);
}

/* Bytes that cannot be decrypted left the sandbox all the same. */
Test(conn_tls, counts_a_record_that_never_becomes_whole)
{
	static const char text[] = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_open(&bench, authority, "h.example", NULL, 1000);
	char *bytes;
	long len;

	cr_assert(tls_client_shake(&client));
	tls_client_say(&client, text, sizeof(text) - 1);
	SSL_write(client.ssl, "secret", 6);
	len = BIO_get_mem_data(client.out, &bytes);
	bench_send(&bench, bytes, (size_t)len - 1, 4);
	bench_end(&bench);
	cr_assert_eq(json_array_size(bench_read(&bench)), 3);
	expect_record(bench.records, 1, "{\"protocol\": \"http\", \"path\": \"/a\"}");
	expect_record(bench.records, 2, "{\"protocol\": \"unknown\"}");
	cr_expect_eq(json_integer_value(
			     json_object_get(json_array_get(bench.records, 2), "bytesReceived")),
		     len - 1);
	all_close(&bench, &client, server, authority);
}

/* The same, where nothing that could be read came before. */
Test(conn_tls, counts_what_cannot_be_read_when_nothing_else_comes)
{
	static const char forged[] = "\x17\x03\x03\x00\x20"
				     "0123456789abcdef0123456789abcdef";

	for (size_t cut = 0; cut < 2; cut++) {
		struct authority *authority;
		struct bench bench;
		struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
		struct tls_client client =
			tls_client_open(&bench, authority, "h.example", NULL, 1000);

		cr_assert(tls_client_shake(&client));
		bench_send(&bench, forged, sizeof(forged) - 1 - cut, 7);
		bench_end(&bench);
		bench_read(&bench);
		expect_record(bench.records, 0,
			      "{\"protocol\": \"tls\", \"handshake\": \"accepted\"}");
		cr_assert_eq(json_array_size(bench.records), cut ? 2 : 3);
		expect_record(bench.records, cut ? 1 : 2,
			      cut ? "{\"protocol\": \"unknown\", \"bytesReceived\": 36}"
				  : "{\"protocol\": \"unknown\", \"bytesReceived\": 37}");
		all_close(&bench, &client, server, authority);
	}
}

Test(conn_tls, counts_all_that_follows_a_forged_record)
{
	static const char forged[] = "\x17\x03\x03\x00\x20"
				     "0123456789abcdef0123456789abcdef and more";
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_open(&bench, authority, "h.example", NULL, 1000);

	cr_assert(tls_client_shake(&client));
	tls_client_say(&client, "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", 41);
	bench_send(&bench, forged, sizeof(forged) - 1, 3);
	bench_end(&bench);
	cr_assert_eq(json_array_size(bench_read(&bench)), 5);
	expect_record(bench.records, 1, "{\"type\": \"malformed\", \"protocol\": \"tls\"}");
	expect_record(bench.records, 2, "{\"type\": \"malformed\", \"protocol\": \"http\"}");
	expect_record(bench.records, 3, "{\"protocol\": \"http\", \"payloadBytes\": 3}");
	expect_record(bench.records, 4, "{\"protocol\": \"unknown\", \"bytesReceived\": 46}");
	all_close(&bench, &client, server, authority);
}

Test(conn_tls, counts_what_openssl_holds_and_forgets_it_with_the_connection)
{
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_open(&bench, authority, "h.example", NULL, 1000);

	cr_expect_eq(bench.conns->memory, 0);
	SSL_do_handshake(client.ssl);
	tls_client_carry(&client);
	cr_expect_geq(bench.conns->memory, 50000, "%zu", bench.conns->memory);
	cr_assert(tls_client_shake(&client));
	tls_client_say(&client, "GET / HTTP/1.1\r\n\r\n", 18);
	cr_expect_geq(bench.conns->memory, 29000, "%zu", bench.conns->memory);
	bench_end(&bench);
	cr_expect_eq(bench.conns->memory, 0);
	bench_read(&bench);
	all_close(&bench, &client, server, authority);
}

/* Under TLS too a mail server speaks first (RFC 8314 section 3.3). */
Test(conn_tls, greets_who_waits_for_it_after_the_handshake)
{
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client =
		tls_client_at(&bench, 465, authority, "mail.example", NULL, 1000);

	cr_assert(tls_client_shake(&client));
	conns_expire(bench.conns, conn_now_ms() + 1000);
	tls_client_say(&client, NULL, 0);
	cr_assert(!strncmp(client.reply, "220 ", 4), "%s", client.reply);
	tls_client_say(&client, "EHLO me.example\r\n", 17);
	cr_expect_not_null(strstr(client.reply, "\r\n250"), "%s", client.reply);
	bench_end(&bench);
	cr_assert_eq(json_array_size(bench_read(&bench)), 2);
	expect_record(bench.records, 0, "{\"protocol\": \"tls\", \"handshake\": \"accepted\"}");
	expect_record(bench.records, 1,
		      "{\"protocol\": \"smtp\", \"bytesReceived\": 17,"
		      " \"inTls\": {\"sni\": \"mail.example\", \"version\": \"TLSv1.3\"}}");
	all_close(&bench, &client, server, authority);
}

/* TLS within TLS is another's secret: it is refused and told, as without --tls intercept. */
Test(conn_tls, refuses_tls_within_tls)
{
	struct authority *authority;
	struct bench bench;
	struct tls_server *server = bench_open_tls(&bench, NULL, &authority);
	struct tls_client client = tls_client_open(&bench, authority, "outer.example", NULL, 1000);
	SSL *inner = SSL_new(client.context);
	BIO *hello = BIO_new(BIO_s_mem());
	char *bytes;
	long len;

	cr_assert(tls_client_shake(&client));
	SSL_set_bio(inner, BIO_new(BIO_s_mem()), hello);
	SSL_set_connect_state(inner);
	SSL_set_tlsext_host_name(inner, "inner.example");
	SSL_do_handshake(inner);
	len = BIO_get_mem_data(hello, &bytes);
	tls_client_say(&client, bytes, (size_t)len);
	cr_expect_eq(client.reply_len, TLS_ALERT_SIZE);
	bench_end(&bench);
	cr_assert_eq(json_array_size(bench_read(&bench)), 2);
	expect_record(bench.records, 0, "{\"sni\": \"outer.example\"}");
	expect_record(bench.records, 1,
		      "{\"protocol\": \"tls\", \"sni\": \"inner.example\","
		      " \"inTls\": {\"sni\": \"outer.example\", \"version\": \"TLSv1.3\"}}");
	cr_expect_null(json_object_get(json_array_get(bench.records, 1), "handshake"));
	SSL_free(inner);
	all_close(&bench, &client, server, authority);
}
