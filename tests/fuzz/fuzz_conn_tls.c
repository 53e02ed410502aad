// SPDX-License-Identifier: Apache-2.0
/* Connections whose TLS is answered: junk instead of a handshake, within it and after it, and
 * under TLS. Each has a record, however it ends. */
#include "sinkhole/tls_session.h"
#include "tests/fuzz/side.h"

#include <openssl/ssl.h>

#define SHAKE  1 /* bits of an input's first byte: shake hands first */
#define INSIDE 2 /* what follows is sent under TLS */
#define HELLO  4 /* only OpenSSL's ClientHello comes before it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static SSL_CTX *context;

static void tls_open(void)
{
	struct authority *authority;
	struct tls_server *server;

	side_open();
	require(authority_make(&authority, NULL) == 0);
	require(tls_server_new(authority, &server, NULL) == 0);
	conns_set_tls(side.conns, server);
	context = SSL_CTX_new(TLS_client_method());
	require(context != NULL);
}

/* Carries what waits in either direction. */
static int carry(int fd, BIO *in, BIO *out, size_t piece)
{
	char *bytes, came[16384];
	long len = BIO_get_mem_data(out, &bytes);
	ssize_t n;

	if (len > 0)
		send_in(fd, bytes, (size_t)len, piece);
	(void)BIO_reset(out);
	n = recv(fd, came, sizeof(came), MSG_DONTWAIT);
	if (n > 0)
		BIO_write(in, came, (int)n);
	return len > 0 || n > 0;
}

static void talk(int fd, const uint8_t *data, size_t len)
{
	SSL *ssl = SSL_new(context);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	size_t piece = (data[0] >> 3) + 1u;

	SSL_set_bio(ssl, in, out);
	SSL_set_connect_state(ssl);
	do {
		SSL_do_handshake(ssl);
	} while (carry(fd, in, out, 4096) && !(data[0] & HELLO));
	if (data[0] & INSIDE && SSL_is_init_finished(ssl) && len > 1) {
		SSL_write(ssl, data + 1, (int)len - 1);
		carry(fd, in, out, piece);
	} else {
		send_in(fd, data + 1, len - 1, piece);
	}
	SSL_free(ssl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t address[4] = {203, 0, 113, 7};
	struct endpoint src = endpoint_make(AF_INET, address, 40000);
	struct endpoint dst = endpoint_make(AF_INET, address, 443);
	int ends[2];

	if (!side.conns)
		tls_open();
	if (len < 2)
		return 0;
	side.log.written = 0;
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
	require(conns_add(side.conns, ends[1], &src, &dst) == 0);
	if (data[0] & SHAKE)
		talk(ends[0], data, len);
	else
		send_in(ends[0], data + 1, len - 1, (data[0] >> 3) + 1u);
	close(ends[0]);
	turn();
	conns_flush(side.conns);
	conns_bury(side.conns);
	require(side.log.error == 0 && side.log.written > 0);
	return 0;
}
