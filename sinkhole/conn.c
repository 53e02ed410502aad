// SPDX-License-Identifier: Apache-2.0
/* The life of TCP connections and the bounds on them. */
#include "sinkhole/conn_internal.h"
#include "sinkhole/conn_tls.h"
#include "sinkhole/h2.h"
#include "sinkhole/talk.h"
#include "sinkhole/tls_session.h"

#include <string.h>
#include <sys/socket.h>

#define READS_PER_EVENT 16 /* so that one sender cannot hold up the others */

uint64_t conn_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct conns *conns_new(int epoll_fd, struct resolver *resolver, size_t max)
{
	struct conns *conns = calloc(1, sizeof(*conns));

	if (!conns)
		return NULL;
	conns->epoll_fd = epoll_fd;
	conns->resolver = resolver;
	conns->max = max;
	conns->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	TAILQ_INIT(&conns->idle);
	TAILQ_INIT(&conns->lingering);
	TAILQ_INIT(&conns->dead);
	for (int i = 0; i < CONN_GREET_CLASSES; i++)
		TAILQ_INIT(&conns->greet[i]);
	if (conns->sha256)
		return conns;
	free(conns);
	return NULL;
}

void conns_set_respond(struct conns *conns, const struct respond *respond)
{
	conns->respond = respond;
}

void conns_set_tls(struct conns *conns, struct tls_server *server)
{
	conns->tls = server;
}

static void conn_close(struct conn *conn)
{
	struct conns *conns = conn->conns;

	close(conn->watch.fd);
	conn->watch.fd = -1;
	conn->dead = true;
	conns->memory -= conn->cap + conn->scan_memory;
	conns->cnt--;
	decoy_scan_end(&conn->scan);
	decoy_scan_end(&conn->body_scan);
	EVP_MD_CTX_free(conn->body_hash);
	conn->body_hash = NULL;
	rpc_body_free(&conn->rpc);
	conn->scan_memory = 0;
	free(conn->buf);
	conn->buf = NULL;
	conn->len = conn->cap = 0;
	conn_greet_forget(conn);
	TAILQ_REMOVE(&conns->idle, conn, idle_entry);
	if (conn->lingering)
		TAILQ_REMOVE(&conns->lingering, conn, linger_entry);
	TAILQ_INSERT_TAIL(&conns->dead, conn, idle_entry);
}

void conns_bury(struct conns *conns)
{
	while (!TAILQ_EMPTY(&conns->dead)) {
		struct conn *conn = TAILQ_FIRST(&conns->dead);

		TAILQ_REMOVE(&conns->dead, conn, idle_entry);
		free(conn->hello);
		h2_free(conn->h2);
		talk_free(conn->talk);
		talk_free(conn->via);
		tls_session_free(conn->tls);
		json_decref(conn->tls_label);
		free(conn);
	}
}

void conns_free(struct conns *conns)
{
	if (!conns)
		return;
	while (!TAILQ_EMPTY(&conns->idle))
		conn_close(TAILQ_FIRST(&conns->idle));
	conns_bury(conns);
	EVP_MD_free(conns->sha256);
	free(conns);
}

void conn_finish(struct conn *conn, bool early)
{
	bool silent = conn->state == CONN_TLS_SHAKE; /* nothing was read under TLS */

	if (conn->dead)
		return;
	if (conn->h2)
		h2_end(conn, early);
	if (silent)
		conn_tls_finish(conn, early);
	if (conn->bytes || !conn->recorded)
		conn_record(conn, 0, early);
	if (conn->inside && !silent)
		conn_tls_finish(conn, early);
	conn_close(conn);
}

bool conns_drop_idlest(struct conns *conns)
{
	if (TAILQ_EMPTY(&conns->idle))
		return false;
	conn_finish(TAILQ_FIRST(&conns->idle), true);
	return true;
}

void conns_flush(struct conns *conns)
{
	while (!TAILQ_EMPTY(&conns->idle))
		conn_finish(TAILQ_FIRST(&conns->idle), false);
}

void conn_received(struct conn *conn, const char *bytes, size_t len)
{
	/* A request that follows another, or a handshake, began now. */
	if ((conn->recorded || conn->inside) && !conn->bytes)
		conn->t = record_now();
	conn->bytes += len;
	conn_greet_forget(conn);
	if (conn_search(conn, bytes, len))
		conn_feed(conn, bytes, len);
}

static void conn_ready(struct watch *watch)
{
	struct conn *conn = (struct conn *)watch;
	struct conns *conns = conn->conns;

	for (int i = 0; i < READS_PER_EVENT && !conn->dead; i++) {
		ssize_t n = recv(watch->fd, conns->scratch, sizeof(conns->scratch), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		conn->gone = n <= 0;
		if (n == 0)
			conn_ended(conn);
		if (n <= 0) {
			conn_finish(conn, false);
			return;
		}
		if (conn->inside)
			conn_tls_feed(conn, conns->scratch, (size_t)n);
		else
			conn_received(conn, conns->scratch, (size_t)n);
	}
	if (conn->dead)
		return;
	TAILQ_REMOVE(&conns->idle, conn, idle_entry);
	TAILQ_INSERT_TAIL(&conns->idle, conn, idle_entry);
}

int conns_add(struct conns *conns, int fd, const struct endpoint *src, const struct endpoint *dst)
{
	_cleanup_close_ int held = fd;
	struct conn *conn;
	int r;

	while (conns->cnt >= conns->max && conns_drop_idlest(conns))
		;
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return -ENOMEM;
	conn->watch = (struct watch){.fd = fd, .ready = conn_ready};
	conn->conns = conns;
	conn->src = *src;
	conn->dst = *dst;
	conn->t = record_now();
	r = watch_add(conns->epoll_fd, &conn->watch);
	if (r < 0) {
		free(conn);
		return r;
	}
	steal_fd(&held);
	conns->cnt++;
	TAILQ_INSERT_TAIL(&conns->idle, conn, idle_entry);
	conn_greet_wait(conn);
	return 0;
}

int conns_expire(struct conns *conns, uint64_t now)
{
	int due = conns_greet(conns, now), lingers;
	struct conn *conn;

	while ((conn = TAILQ_FIRST(&conns->lingering)) && conn->linger_until_ms <= now)
		conn_finish(conn, false);
	if (!conn)
		return due;
	lingers = (int)(conn->linger_until_ms - now);
	return due >= 0 && due < lingers ? due : lingers;
}

/* Brings all buffers back below the bound. The search is long only when memory is short. */
static void memory_limit(struct conns *conns)
{
	while (conns->memory > CONNS_MEMORY_MAX) {
		struct conn *largest = NULL, *conn;

		TAILQ_FOREACH(conn, &conns->idle, idle_entry)
		if (!largest || conn->cap + conn->scan_memory > largest->cap + largest->scan_memory)
			largest = conn;
		if (!largest)
			return;
		conn_finish(largest, true);
	}
}

static void conn_resize(struct conn *conn, char *buf, size_t cap)
{
	conn->conns->memory += cap;
	conn->conns->memory -= conn->cap;
	conn->buf = buf;
	conn->cap = cap;
}

bool conn_append(struct conn *conn, const char *bytes, size_t len)
{
	size_t needed = conn->len + len;

	if (needed > conn->cap) {
		size_t cap = needed < 2 * conn->cap ? 2 * conn->cap : needed;
		char *grown = realloc(conn->buf, cap);

		if (!grown) {
			conn_finish(conn, true);
			return false;
		}
		conn_resize(conn, grown, cap);
	}
	memcpy(conn->buf + conn->len, bytes, len);
	conn->len = needed;
	memory_limit(conn->conns);
	return !conn->dead;
}

void conn_account(struct conn *conn)
{
	size_t held = decoy_scan_memory(&conn->scan) + decoy_scan_memory(&conn->body_scan) +
		      h2_memory(conn->h2) + rpc_body_memory(&conn->rpc) + talk_memory(conn->talk) +
		      talk_memory(conn->via) + tls_session_memory(conn->tls) +
		      (conn->hello ? sizeof(*conn->hello) : 0);

	conn->conns->memory += held;
	conn->conns->memory -= conn->scan_memory;
	conn->scan_memory = held;
}

bool conn_search(struct conn *conn, const char *bytes, size_t len)
{
	decoy_scan_feed(&conn->scan, conn->conns->resolver->decoys, bytes, len, true);
	conn_account(conn);
	memory_limit(conn->conns);
	return !conn->dead;
}

void conn_body_end(struct conn *conn)
{
	decoy_scan_end(&conn->body_scan);
	memset(&conn->body_scan, 0, sizeof(conn->body_scan));
	EVP_MD_CTX_free(conn->body_hash);
	conn->body_hash = NULL;
	rpc_body_free(&conn->rpc);
	conn_account(conn);
}

void conn_consume(struct conn *conn, size_t n)
{
	if (!n)
		return;
	conn->len -= n;
	memmove(conn->buf, conn->buf + n, conn->len);
	if (conn->len)
		return;
	/* An idle connection holds no buffer. */
	free(conn->buf);
	conn_resize(conn, NULL, 0);
}

void conn_trim(struct conn *conn)
{
	char *shrunk;

	if (conn->len > RECORD_FIRST_BYTES)
		conn->len = RECORD_FIRST_BYTES;
	if (!conn->len || conn->cap <= RECORD_FIRST_BYTES)
		return;
	shrunk = realloc(conn->buf, RECORD_FIRST_BYTES);
	if (shrunk)
		conn_resize(conn, shrunk, RECORD_FIRST_BYTES);
}

void conn_send(struct conn *conn, const void *bytes, size_t len)
{
	bool under_tls = conn->inside || conn->state == CONN_TLS_SHAKE;

	if (under_tls && !conn->mute)
		conn_tls_send(conn, bytes, len);
	else
		conn_send_wire(conn, bytes, len);
}

void conn_send_wire(struct conn *conn, const void *bytes, size_t len)
{
	if (conn->mute)
		return;
	if (send(conn->watch.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len)
		return;
	conn->mute = true;
	shutdown(conn->watch.fd, SHUT_WR);
}

void conn_linger(struct conn *conn)
{
	if (conn->lingering)
		return;
	if (conn->inside && !conn->mute)
		conn_tls_close(conn);
	conn->mute = conn->lingering = true;
	shutdown(conn->watch.fd, SHUT_WR);
	conn->linger_until_ms = conn_now_ms() + CONN_LINGER_MS;
	TAILQ_INSERT_TAIL(&conn->conns->lingering, conn, linger_entry);
}
