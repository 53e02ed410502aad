/* SPDX-License-Identifier: Apache-2.0 */
/* One TCP connection, as conn.c, conn_protocol.c and conn_record.c share it. */
#ifndef QP_SINKHOLE_CONN_INTERNAL_H
#define QP_SINKHOLE_CONN_INTERNAL_H

#include "sinkhole/conn.h"
#include "sinkhole/http.h"
#include "sinkhole/tls.h"
#include "sinkhole/watch.h"

#include <openssl/evp.h>
#include <sys/queue.h>

#define CONN_READ_SIZE 16384

enum conn_state {
	CONN_SNIFF,	  /* nothing, or too little to tell */
	CONN_HTTP_HEAD,	  /* buf: the head so far */
	CONN_HTTP_BODY,	  /* buf: the head, then what the body has not taken yet */
	CONN_HTTP_BROKEN, /* buf: the head; all else is counted as payload */
	CONN_H2,	  /* h2 has it all */
	CONN_TLS,	  /* buf: the records so far */
	CONN_TLS_REFUSED,
	CONN_DNS,  /* buf: the messages that are not whole */
	CONN_RAW,  /* buf: the first bytes */
	CONN_OVER, /* answered for the last time; buf: the first bytes of what still comes */
};

struct h2;

struct conn {
	struct watch watch; /* first: what epoll hands back */
	struct conns *conns;
	struct endpoint src, dst;
	struct timespec t; /* when the record's connection or request began */
	enum conn_state state;
	bool dead;	/* closed; freed after the events at hand */
	bool mute;	/* we send no more */
	bool recorded;	/* has a record already */
	bool lingering; /* in conns->lingering */
	uint64_t bytes; /* received and not in a record yet */
	char *buf;
	size_t len, cap;
	struct http_head head;
	struct http_body body;
	EVP_MD_CTX *body_hash;	 /* once a body has begun */
	uint64_t broken_bytes;	 /* after HTTP broke */
	struct h2 *h2;		 /* of HTTP/2 */
	struct tls_hello *hello; /* once it was whole */
	uint64_t after_hello;
	struct decoy_scan scan, body_scan; /* of all that came; of the body at hand */
	size_t scan_memory;		   /* of both, of h2 and of hello */
	uint64_t linger_until_ms;
	TAILQ_ENTRY(conn) idle_entry, linger_entry;
};

TAILQ_HEAD(conn_queue, conn);

struct conns {
	int epoll_fd;
	struct resolver *resolver;
	const struct respond *respond; /* NULL: 403 */
	EVP_MD *sha256;		       /* fetched before files are out of reach */
	size_t max, cnt;
	size_t memory;		     /* of all buffers and scans */
	struct conn_queue idle;	     /* longest silent first */
	struct conn_queue lingering; /* soonest due first */
	struct conn_queue dead;
	char scratch[CONN_READ_SIZE];
};

/* Appends to the buffer, which may drop other connections. False when this one had to go. */
bool conn_append(struct conn *conn, const char *bytes, size_t len);

/* Looks for decoys in what was received. May drop connections, even this one: false then. */
bool conn_search(struct conn *conn, const char *bytes, size_t len);

/* Brings the books up to date with what is held beside the buffer. */
void conn_account(struct conn *conn);

/* Forgets the body at hand. */
void conn_body_end(struct conn *conn);

/* Drops the first @n buffered bytes. */
void conn_consume(struct conn *conn, size_t n);

/* Gives the buffer back but for the bytes that a record shows. */
void conn_trim(struct conn *conn);

/* Sends all or nothing more: a client that does not read gets no further answers. */
void conn_send(struct conn *conn, const void *bytes, size_t len);

/* Ends our direction and lets the other end finish. */
void conn_linger(struct conn *conn);

/* Writes what is not in a record yet, if anything, and closes. */
void conn_finish(struct conn *conn, bool early);

/* The bytes just received, wherever they lead (conn_protocol.c). */
void conn_feed(struct conn *conn, const char *bytes, size_t len);

/* The other end sends no more (conn_protocol.c). */
void conn_ended(struct conn *conn);

/* The record of the connection, or of the HTTP request at hand; @leftover bytes of those
 * received belong to the next one (conn_record.c). */
void conn_record(struct conn *conn, size_t leftover, bool early);

/* A `tcp` record begun with all bytes that are in none yet (conn_record.c). */
struct record conn_record_begin(struct conn *conn, const struct timespec *t, const char *protocol);

/* A "malformed" record for the connection (conn_record.c). */
void conn_malformed(struct conn *conn, const char *protocol, const char *why);

#endif
