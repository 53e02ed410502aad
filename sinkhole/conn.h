/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP connections of the sandbox: held, bounded, read, and each written down. What they
 * say is understood in conn_protocol.c.
 */
#ifndef QP_SINKHOLE_CONN_H
#define QP_SINKHOLE_CONN_H

#include "base/cleanup.h"
#include "sinkhole/resolver.h"
#include "sinkhole/respond.h"

#include <stdbool.h>

/* Buffers of all connections together; beyond it the largest is recorded early. */
#define CONNS_MEMORY_MAX (128 * 1024 * 1024)
/* Open connections; beyond it the one that was silent longest is recorded early. */
#define CONNS_MAX 16384
/* How long a connection that we have ended waits for the other end to end it too. */
#define CONN_LINGER_MS 2000

struct conns;
struct tls_server;

/* @epoll_fd, @resolver and its log are borrowed. @max: open connections, at least 1. NULL
 * when out of memory. */
struct conns *conns_new(int epoll_fd, struct resolver *resolver, size_t max);
void conns_free(struct conns *conns);

DEFINE_CLEANUP(conns, struct conns *, conns_free);
#define _cleanup_conns_ _cleanup_(conns)

/* What HTTP requests are answered with; borrowed. */
void conns_set_respond(struct conns *conns, const struct respond *respond);

/* Who answers TLS; borrowed. NULL, as at the start: it is refused. */
void conns_set_tls(struct conns *conns, struct tls_server *server);

/* Takes over an accepted, non-blocking @fd, also on failure. 0 or a negative errno. */
int conns_add(struct conns *conns, int fd, const struct endpoint *src, const struct endpoint *dst);

/* Records and closes the connection that was silent longest; false when there is none. */
bool conns_drop_idlest(struct conns *conns);

/* Closes what has lingered long enough, greets who has been silent long enough. @now_ms is
 * CLOCK_MONOTONIC. Returns the milliseconds until the next one is due, -1 for none. */
int conns_expire(struct conns *conns, uint64_t now_ms);

/* Frees connections that ended; call it when no event of an epoll_wait is left. */
void conns_bury(struct conns *conns);

/* Records and closes every connection. */
void conns_flush(struct conns *conns);

/* A connection that was seen but never carried anything: its "tcp" record. */
void record_tcp_none(struct resolver *resolver, const struct timespec *t,
		     const struct endpoint *src, const struct endpoint *dst);

#endif
