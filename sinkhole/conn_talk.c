// SPDX-License-Identifier: Apache-2.0
/* Connections that speak neither HTTP, TLS nor DNS: when they are greeted, what they speak, and
 * what is said to them. */
#include "sinkhole/conn_internal.h"
#include "sinkhole/talk.h"

#include <stdio.h>
#include <string.h>

/* How long a silent client is waited for: a little, and where TLS is spoken long enough that
 * it certainly is not. */
static const unsigned greet_after_ms[CONN_GREET_CLASSES] = {TALK_GREET_MS, 2000};

static void send_to_client(void *context, const void *bytes, size_t len)
{
	conn_send(context, bytes, len);
}

static bool talk_start(struct conn *conn, const struct talk_protocol *protocol)
{
	const char *name = names_find(conn->conns->resolver->names, &conn->dst);
	struct talk_setup setup = {
		.send = send_to_client,
		.context = conn,
		.host = name ? name : "mail",
		.sha256 = conn->conns->sha256,
		.dst = conn->dst,
	};

	talk_free(conn->talk);
	conn->talk = talk_new(protocol, &setup);
	conn_account(conn);
	return conn->talk != NULL;
}

void conn_greet_wait(struct conn *conn)
{
	bool late = false;

	if (!talk_greeter(conn->dst.port, &late))
		return;
	conn->greet_class = late && !conn->tls;
	conn->greet_waits = true;
	conn->greet_due_ms = conn_now_ms() + greet_after_ms[conn->greet_class];
	TAILQ_INSERT_TAIL(&conn->conns->greet[conn->greet_class], conn, greet_entry);
}

void conn_greet_forget(struct conn *conn)
{
	if (conn->greet_waits)
		TAILQ_REMOVE(&conn->conns->greet[conn->greet_class], conn, greet_entry);
	conn->greet_waits = false;
}

static void greet(struct conn *conn)
{
	bool late;

	conn_greet_forget(conn);
	/* Silent so far, or silent since the handshake of TLS. */
	if ((conn->state != CONN_SNIFF || conn->bytes || conn->recorded) &&
	    conn->state != CONN_TLS_SHAKE)
		return;
	if (talk_start(conn, talk_greeter(conn->dst.port, &late)))
		talk_greet(conn->talk);
}

int conns_greet(struct conns *conns, uint64_t now_ms)
{
	int due = -1;

	for (int i = 0; i < CONN_GREET_CLASSES; i++) {
		struct conn *conn = TAILQ_FIRST(&conns->greet[i]);

		while (conn && conn->greet_due_ms <= now_ms) {
			greet(conn);
			conn = TAILQ_FIRST(&conns->greet[i]);
		}
		if (conn && (due < 0 || conn->greet_due_ms - now_ms < (uint64_t)due))
			due = (int)(conn->greet_due_ms - now_ms);
	}
	return due;
}

/* What goes through a proxy is a conversation of its own. */
static void begin_anew(struct conn *conn, size_t used)
{
	talk_free(conn->via);
	conn->via = steal_ptr(conn->talk);
	conn->state = CONN_SNIFF;
	/* It may have been looked at as HTTP before it was known. */
	memset(&conn->head, 0, sizeof(conn->head));
	conn_consume(conn, used < conn->len ? used : conn->len);
	conn_account(conn);
}

/* The bytes in the buffer are the first of a talk. True when others follow that are not. */
static bool talk_begin(struct conn *conn)
{
	size_t used;
	enum talk_end end;

	conn->state = CONN_TALK;
	talk_greet(conn->talk);
	end = talk_feed(conn->talk, conn->buf, conn->len, &used);
	if (end == TALK_NEXT) {
		begin_anew(conn, used);
		return conn->len != 0;
	}
	conn_account(conn);
	conn_trim(conn);
	if (end == TALK_OVER)
		conn_linger(conn);
	return false;
}

bool conn_talk_early(struct conn *conn, bool *ret_wait)
{
	const struct talk_protocol *protocol;
	enum talk_told told = talk_tell_early((const uint8_t *)conn->buf, conn->len, &protocol);

	*ret_wait = told == TALK_MAYBE;
	return told == TALK_YES && talk_start(conn, protocol);
}

bool conn_talk_tell(struct conn *conn, bool whole)
{
	const struct talk_protocol *protocol = NULL;
	enum talk_told told =
		talk_tell((const uint8_t *)conn->buf, conn->len, conn->dst.port, whole, &protocol);

	/* Who was greeted, and says nothing that is known, answers the greeting. */
	if (conn->talk && told != TALK_YES)
		return talk_begin(conn);
	if (told == TALK_MAYBE)
		return false;
	if (told == TALK_NO || ((!conn->talk || talk_protocol_of(conn->talk) != protocol) &&
				!talk_start(conn, protocol))) {
		conn->state = CONN_RAW;
		conn_trim(conn);
		return false;
	}
	return talk_begin(conn);
}

void conn_talk_feed(struct conn *conn, const char *bytes, size_t len)
{
	size_t used;
	enum talk_end end = talk_feed(conn->talk, bytes, len, &used);

	if (end == TALK_NEXT) {
		begin_anew(conn, conn->len);
		if (used < len)
			conn_feed(conn, bytes + used, len - used);
		return;
	}
	conn_account(conn);
	if (end == TALK_OVER)
		conn_linger(conn);
}
