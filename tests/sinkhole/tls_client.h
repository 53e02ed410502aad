/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's client at the other end of a bench, so that the wire can be cut anywhere. */
#ifndef QP_TESTS_SINKHOLE_TLS_CLIENT_H
#define QP_TESTS_SINKHOLE_TLS_CLIENT_H

#include "sinkhole/tls_session.h"
#include "tests/sinkhole/bench.h"

#include <openssl/ssl.h>

struct tls_client {
	struct bench *bench;
	SSL_CTX *context;
	SSL *ssl;
	BIO *in, *out;
	size_t piece; /* of what is sent */
	char reply[4096];
	size_t reply_len;
};

/* A bench that answers TLS; *ret_authority is what clients are to trust. */
static inline struct tls_server *bench_open_tls(struct bench *bench, const char *values,
						struct authority **ret_authority)
{
	struct tls_server *server;
	struct authority *authority;
	char *text;
	int fds[2];

	bench_open_decoys(bench, 8, values);
	cr_assert_eq(authority_make(ret_authority, NULL), 0);
	/* The way that qp gives it to the sinkhole. */
	text = authority_key_pem(*ret_authority);
	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(write(fds[1], text, strlen(text)), (ssize_t)strlen(text));
	close(fds[1]);
	cr_assert_eq(authority_read(fds[0], &authority, NULL), 0);
	close(fds[0]);
	free(text);
	cr_assert_eq(tls_server_new(authority, &server, NULL), 0);
	conns_set_tls(bench->conns, server);
	return server;
}

/* A client of @port. Trusts @authority, or what is built in when it is NULL; asks for @host and
 * the protocols @alpn (NULL: none). */
static inline struct tls_client tls_client_at(struct bench *bench, uint16_t port,
					      const struct authority *authority, const char *host,
					      const char *alpn, size_t piece)
{
	struct tls_client client = {.bench = bench, .piece = piece};

	client.context = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_verify(client.context, SSL_VERIFY_PEER, NULL);
	if (authority)
		X509_STORE_add_cert(SSL_CTX_get_cert_store(client.context),
				    authority_certificate(authority));
	client.ssl = SSL_new(client.context);
	client.in = BIO_new(BIO_s_mem());
	client.out = BIO_new(BIO_s_mem());
	SSL_set_bio(client.ssl, client.in, client.out);
	SSL_set_connect_state(client.ssl);
	if (host)
		cr_assert_eq(SSL_set_tlsext_host_name(client.ssl, host), 1);
	if (host)
		cr_assert_eq(SSL_set1_host(client.ssl, host), 1);
	if (alpn)
		SSL_set_alpn_protos(client.ssl, (const unsigned char *)alpn,
				    (unsigned)strlen(alpn));
	bench_connect(bench, 40000, port);
	return client;
}

static inline struct tls_client tls_client_open(struct bench *bench,
						const struct authority *authority, const char *host,
						const char *alpn, size_t piece)
{
	return tls_client_at(bench, 443, authority, host, alpn, piece);
}

/* Carries what waits in either direction; false when nothing did. */
static inline bool tls_client_carry(struct tls_client *client)
{
	char *bytes, came[16384];
	long len = BIO_get_mem_data(client->out, &bytes);
	ssize_t n;

	if (len > 0) {
		bench_send(client->bench, bytes, (size_t)len, client->piece);
		(void)BIO_reset(client->out);
	}
	n = recv(client->bench->client, came, sizeof(came), MSG_DONTWAIT);
	if (n > 0)
		BIO_write(client->in, came, (int)n);
	return len > 0 || n > 0;
}

/* Shakes hands as far as it goes; whether the client is content. */
static inline bool tls_client_shake(struct tls_client *client)
{
	int r;

	do {
		r = SSL_do_handshake(client->ssl);
	} while (tls_client_carry(client));
	return r == 1;
}

/* Sends @bytes inside and takes what comes back into client->reply. */
static inline void tls_client_say(struct tls_client *client, const void *bytes, size_t len)
{
	int n;

	if (len)
		cr_assert_eq(SSL_write(client->ssl, bytes, (int)len), (int)len);
	do {
		n = SSL_read(client->ssl, client->reply + client->reply_len,
			     (int)(sizeof(client->reply) - 1 - client->reply_len));
		client->reply_len += n > 0 ? (size_t)n : 0;
	} while (tls_client_carry(client) || n > 0);
	client->reply[client->reply_len] = '\0';
}

static inline void tls_client_close(struct tls_client *client)
{
	SSL_free(client->ssl);
	SSL_CTX_free(client->context);
}

#endif
