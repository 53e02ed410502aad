// SPDX-License-Identifier: Apache-2.0
/* Sessions of OpenSSL between two memory BIOs. */
#include "sinkhole/tls_session.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#define HEADER_BYTES 5
/* What OpenSSL 3.0 holds for a session, rounded up: 50 kB within the handshake; 29 kB when it
 * rests afterwards with its buffers released. */
#define SHAKING_BYTES 65536
#define RESTING_BYTES 32768

struct tls_server {
	struct authority *authority;
	struct leaves leaves;
	SSL_CTX *context;
};

struct tls_session {
	SSL *ssl;
	BIO *in, *out; /* the SSL's own */
	bool done, shown, broken;
	int alert;
	const char *failure;
	/* The record that is being received: its header so far, then what is missing. */
	uint8_t header[HEADER_BYTES];
	size_t header_len, record_len, record_left;
};

static void on_info(const SSL *ssl, int where, int value)
{
	struct tls_session *session = SSL_get_app_data(ssl);

	if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT &&
	    (value & 0xff) != SSL_AD_CLOSE_NOTIFY)
		session->alert = value & 0xff;
	if (where & SSL_CB_LOOP && SSL_get_state(ssl) == TLS_ST_SW_CERT)
		session->shown = true;
	if (where & SSL_CB_HANDSHAKE_DONE)
		session->done = true;
}

/* HTTP/2, then HTTP/1.1, else whatever the client likes best: a client that is told of no
 * common protocol goes away unheard. */
static int on_alpn(SSL *ssl, const unsigned char **ret_name, unsigned char *ret_len,
		   const unsigned char *offered, unsigned len, void *context)
{
	static const unsigned char liked[] = "\x02h2\x08http/1.1";
	unsigned char *chosen;

	(void)ssl;
	(void)context;
	if (!len)
		return SSL_TLSEXT_ERR_NOACK;
	if (SSL_select_next_proto(&chosen, ret_len, liked, sizeof(liked) - 1, offered, len) ==
	    OPENSSL_NPN_NEGOTIATED) {
		*ret_name = chosen;
		return SSL_TLSEXT_ERR_OK;
	}
	*ret_name = offered + 1;
	*ret_len = offered[0];
	return SSL_TLSEXT_ERR_OK;
}

/* Old clients and weak ones are spoken with too: they are watched, not protected. */
static SSL_CTX *context_make(void)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	if (!context)
		return NULL;
	SSL_CTX_set_security_level(context, 0);
	/* Resumed sessions would show no certificate and hide who refuses it. */
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_alpn_select_cb(context, on_alpn, NULL);
	SSL_CTX_set_info_callback(context, on_info);
	if (SSL_CTX_set_min_proto_version(context, TLS1_VERSION) == 1 &&
	    SSL_CTX_set_num_tickets(context, 0) == 1)
		return context;
	SSL_CTX_free(context);
	return NULL;
}

int tls_server_new(struct authority *authority, struct tls_server **ret_server,
		   struct qp_error *err)
{
	static const struct endpoint anywhere = {.family = AF_INET};
	const struct leaf_subject subject = {.address = &anywhere};
	struct tls_server *server = calloc(1, sizeof(*server));

	if (!server) {
		authority_free(authority);
		return qp_error_set(err, -ENOMEM, "out of memory");
	}
	server->authority = authority;
	server->leaves.authority = authority;
	/* The texts of errors and every algorithm that a certificate takes. */
	OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS | OPENSSL_INIT_LOAD_CRYPTO_STRINGS, NULL);
	server->context = context_make();
	if (!server->context || !leaf_for(&server->leaves, &subject)) {
		tls_server_free(server);
		return qp_error_set(err, -EIO, "OpenSSL cannot serve TLS: %s",
				    ERR_reason_error_string(ERR_peek_last_error()));
	}
	*ret_server = server;
	return 0;
}

void tls_server_free(struct tls_server *server)
{
	if (!server)
		return;
	SSL_CTX_free(server->context);
	leaves_clear(&server->leaves);
	authority_free(server->authority);
	free(server);
}

struct tls_session *tls_session_new(struct tls_server *server, const struct leaf_subject *subject)
{
	struct tls_session *session = calloc(1, sizeof(*session));
	const struct leaf *leaf = leaf_for(&server->leaves, subject);

	if (!session)
		return NULL;
	session->alert = TLS_NO_ALERT;
	session->ssl = SSL_new(server->context);
	session->in = BIO_new(BIO_s_mem());
	session->out = BIO_new(BIO_s_mem());
	if (!leaf || !session->ssl || !session->in || !session->out ||
	    SSL_use_certificate(session->ssl, leaf->certificate) != 1 ||
	    SSL_use_PrivateKey(session->ssl, leaf->key) != 1) {
		BIO_free(session->in);
		BIO_free(session->out);
		SSL_free(session->ssl);
		free(session);
		ERR_clear_error();
		return NULL;
	}
	SSL_set_bio(session->ssl, session->in, session->out);
	SSL_set_app_data(session->ssl, session);
	SSL_set_accept_state(session->ssl);
	return session;
}

void tls_session_free(struct tls_session *session)
{
	if (!session)
		return;
	SSL_free(session->ssl);
	free(session);
}

/* Follows the records' headers (RFC 8446 section 5.1), to know what is not whole. */
static void records_follow(struct tls_session *session, const uint8_t *bytes, size_t len)
{
	while (len) {
		size_t n = session->record_left < len ? session->record_left : len;

		session->record_left -= n;
		bytes += n;
		len -= n;
		if (session->record_left || !len)
			return;
		if (session->header_len == HEADER_BYTES)
			session->header_len = 0;
		session->header[session->header_len++] = *bytes++;
		len--;
		if (session->header_len < HEADER_BYTES)
			continue;
		session->record_len = (size_t)session->header[3] << 8 | session->header[4];
		session->record_left = session->record_len;
	}
}

size_t tls_session_unread(const struct tls_session *session)
{
	if (session->header_len < HEADER_BYTES)
		return session->header_len;
	return session->record_left ? HEADER_BYTES + session->record_len - session->record_left : 0;
}

bool tls_session_feed(struct tls_session *session, const void *bytes, size_t len)
{
	records_follow(session, bytes, len);
	return BIO_write(session->in, bytes, (int)len) == (int)len;
}

/* What a call of OpenSSL that returned @r came to. */
static ssize_t result_of(struct tls_session *session, int r)
{
	int error = SSL_get_error(session->ssl, r);

	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return 0;
	if (error == SSL_ERROR_ZERO_RETURN)
		return -EPIPE;
	session->broken = true;
	session->failure = ERR_reason_error_string(ERR_peek_error());
	ERR_clear_error();
	return -EPROTO;
}

ssize_t tls_session_read(struct tls_session *session, void *buf, size_t size)
{
	int r;

	if (session->broken)
		return -EPROTO;
	ERR_clear_error();
	/* Reads through the handshake by itself. */
	r = SSL_read(session->ssl, buf, (int)size);
	return r > 0 ? r : result_of(session, r);
}

void tls_session_write(struct tls_session *session, const void *bytes, size_t len)
{
	ERR_clear_error();
	if (session->done && !session->broken && len)
		SSL_write(session->ssl, bytes, (int)len);
}

void tls_session_close(struct tls_session *session)
{
	ERR_clear_error();
	if (session->done && !session->broken)
		SSL_shutdown(session->ssl);
}

size_t tls_session_output(struct tls_session *session, const char **ret_bytes)
{
	char *bytes;
	long len = BIO_get_mem_data(session->out, &bytes);

	*ret_bytes = bytes;
	return len > 0 ? (size_t)len : 0;
}

void tls_session_sent(struct tls_session *session)
{
	(void)BIO_reset(session->out);
}

static size_t bio_memory(BIO *bio)
{
	BUF_MEM *memory = NULL;

	BIO_get_mem_ptr(bio, &memory);
	return memory ? memory->max : 0;
}

size_t tls_session_memory(const struct tls_session *session)
{
	if (!session)
		return 0;
	return (session->done ? RESTING_BYTES : SHAKING_BYTES) + bio_memory(session->in) +
	       bio_memory(session->out);
}

bool tls_session_is_done(const struct tls_session *session)
{
	return session->done;
}

bool tls_session_has_shown(const struct tls_session *session)
{
	return session->shown;
}

int tls_session_alert(const struct tls_session *session)
{
	return session->alert;
}

const char *tls_session_failure(const struct tls_session *session)
{
	return session->failure;
}

const char *tls_session_version(const struct tls_session *session)
{
	return SSL_get_version(session->ssl);
}

const unsigned char *tls_session_alpn(const struct tls_session *session, unsigned *ret_len)
{
	const unsigned char *name = NULL;

	*ret_len = 0;
	SSL_get0_alpn_selected(session->ssl, &name, ret_len);
	return name;
}
