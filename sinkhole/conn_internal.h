/* SPDX-License-Identifier: Apache-2.0 */
/* One TCP connection, as conn.c, conn_protocol.c and conn_record.c share it. */
#ifndef QP_SINKHOLE_CONN_INTERNAL_H
#define QP_SINKHOLE_CONN_INTERNAL_H

#include "sinkhole/conn.h"
#include "sinkhole/http.h"
#include "sinkhole/rpc_body.h"
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
	CONN_TLS_SHAKE,	  /* answered; nothing has come under it yet */
	CONN_TLS_REFUSED,
	CONN_DNS,  /* buf: the messages that are not whole */
	CONN_TELL, /* none of these; buf: what does not tell yet what it is */
	CONN_TALK, /* talk has it all; buf: the first bytes */
	CONN_RAW,  /* buf: the first bytes */
	CONN_OVER, /* answered for the last time; buf: the first bytes of what still comes */
};

struct h2;
struct talk;
struct tls_session;

/* Those who are greeted soon, and those who may still begin with TLS. */
#define CONN_GREET_CLASSES 2

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
	EVP_MD_CTX *body_hash;	      /* once a body has begun */
	struct rpc_body rpc;	      /* the body, while it may be a call */
	uint64_t broken_bytes;	      /* after HTTP broke */
	struct h2 *h2;		      /* of HTTP/2 */
	struct talk *talk;	      /* of another protocol; the greeting is out in CONN_SNIFF */
	struct talk *via;	      /* of the proxy that it went through */
	struct tls_progress progress; /* of the ClientHello in buf */
	struct tls_hello *hello;      /* once it was whole */
	uint64_t after_hello;
	/* Of TLS that is answered. */
	struct tls_session *tls;
	json_t *tls_label; /* once something came under it */
	bool entered;	   /* something came under it */
	bool inside;	   /* what is handled now was decrypted, and is encrypted when sent */
	bool gone;	   /* the client has closed it */
	struct decoy_scan scan, body_scan; /* of all that came; of the body at hand */
	size_t scan_memory;		   /* of both, of h2, talks, hello and tls */
	uint64_t linger_until_ms, greet_due_ms;
	unsigned greet_class;
	bool greet_waits; /* in conns->greet */
	TAILQ_ENTRY(conn) idle_entry, linger_entry, greet_entry;
};

TAILQ_HEAD(conn_queue, conn);

struct conns {
	int epoll_fd;
	struct resolver *resolver;
	const struct respond *respond; /* NULL: 403 */
	struct tls_server *tls;	       /* NULL: TLS is refused */
	EVP_MD *sha256;		       /* fetched before files are out of reach */
	size_t max, cnt;
	size_t memory;				     /* of all buffers and scans */
	struct conn_queue idle;			     /* longest silent first */
	struct conn_queue lingering;		     /* soonest due first */
	struct conn_queue greet[CONN_GREET_CLASSES]; /* likewise */
	struct conn_queue dead;
	char scratch[CONN_READ_SIZE];
	char plain[CONN_READ_SIZE]; /* decrypted */
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

/* The same, past TLS. */
void conn_send_wire(struct conn *conn, const void *bytes, size_t len);

/* Where what is said now comes from, for records of its own; borrows from @conn. */
struct dns_exchange conn_exchange(const struct conn *conn);

/* Ends our direction and lets the other end finish. */
void conn_linger(struct conn *conn);

/* Writes what is not in a record yet, if anything, and closes. */
void conn_finish(struct conn *conn, bool early);

/* Counts, searches and understands bytes that came: from the wire, or from under TLS. */
void conn_received(struct conn *conn, const char *bytes, size_t len);

uint64_t conn_now_ms(void);

/* Has the silent client greeted where servers speak first; forget: it has spoken, or ended
 * (conn_talk.c). */
void conn_greet_wait(struct conn *conn);
void conn_greet_forget(struct conn *conn);

/* Greets those who are due. Milliseconds until the next one is; -1 for none (conn_talk.c). */
int conns_greet(struct conns *conns, uint64_t now_ms);

/* The buffer is a first message that may look like DNS: talk is ready for it. *ret_wait: it may
 * become one (conn_talk.c). */
bool conn_talk_early(struct conn *conn, bool *ret_wait);

/* CONN_TELL: looks what it is; with @whole no more comes. A step of conn_protocol.c, to which
 * another may follow (conn_talk.c). */
bool conn_talk_tell(struct conn *conn, bool whole);

/* CONN_TALK: the bytes just received (conn_talk.c). */
void conn_talk_feed(struct conn *conn, const char *bytes, size_t len);

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
