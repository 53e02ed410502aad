/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's side of TLS over memory: bytes of the wire in and out, what they hide in and
 * out. OpenSSL does the protocol; no sockets, no records.
 */
#ifndef QP_SINKHOLE_TLS_SESSION_H
#define QP_SINKHOLE_TLS_SESSION_H

#include "sinkhole/leaf.h"
#include "sinkhole/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TLS_NO_ALERT (-1)

struct tls_server;
struct tls_session;

/* Takes over @authority, also on failure. Does all that needs files: none can be opened once
 * privileges are dropped. 0 or a negative errno with @err. */
int tls_server_new(struct authority *authority, struct tls_server **ret_server,
		   struct qp_error *err);
void tls_server_free(struct tls_server *server);

DEFINE_CLEANUP(tls_server, struct tls_server *, tls_server_free);
#define _cleanup_tls_server_ _cleanup_(tls_server)

/* @server is borrowed. NULL when out of memory. */
struct tls_session *tls_session_new(struct tls_server *server, const struct leaf_subject *subject);
void tls_session_free(struct tls_session *session);

/* The next bytes of the wire. False when out of memory. */
bool tls_session_feed(struct tls_session *session, const void *bytes, size_t len);

/*
 * Goes on with the handshake, then reads what is inside. The number of bytes; 0 when there
 * are none yet; -EPIPE when the client said that it sends no more; -EPROTO when it broke:
 * nothing can be read after it.
 */
ssize_t tls_session_read(struct tls_session *session, void *buf, size_t size);

/* To be sent inside, or said goodbye with; nothing before the handshake is over. */
void tls_session_write(struct tls_session *session, const void *bytes, size_t len);
void tls_session_close(struct tls_session *session);

/* What is to go out on the wire; *ret_bytes until the next call for this session. The session
 * forgets it with tls_session_sent. */
size_t tls_session_output(struct tls_session *session, const char **ret_bytes);
void tls_session_sent(struct tls_session *session);

/* Bytes of the wire that are of a record which is not whole: nobody can read them yet. */
size_t tls_session_unread(const struct tls_session *session);

/* Bytes that it holds, roughly. */
size_t tls_session_memory(const struct tls_session *session);

/* How far it got. */
bool tls_session_is_done(const struct tls_session *session);	    /* the handshake is over */
bool tls_session_has_shown(const struct tls_session *session);	    /* our certificate was sent */
int tls_session_alert(const struct tls_session *session);	    /* that came, or TLS_NO_ALERT */
const char *tls_session_failure(const struct tls_session *session); /* OpenSSL's words; NULL */
const char *tls_session_version(const struct tls_session *session); /* "TLSv1.3" */
/* The protocol that was agreed on; *ret_len 0: none. */
const unsigned char *tls_session_alpn(const struct tls_session *session, unsigned *ret_len);

#endif
