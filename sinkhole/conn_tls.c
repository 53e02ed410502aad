// SPDX-License-Identifier: Apache-2.0
/*
 * A connection whose TLS is answered has two lives. Until something comes under TLS it is a
 * TLS connection, with a record of how the handshake went; from then on what was decrypted
 * goes the way of a connection in the clear.
 */
#include "sinkhole/conn_tls.h"

#include "sinkhole/h2.h"
#include "sinkhole/tls_alert.h"
#include "sinkhole/tls_session.h"

#include <string.h>

static void output_send(struct conn *conn)
{
	const char *bytes;
	size_t len = tls_session_output(conn->tls, &bytes);

	if (len)
		conn_send_wire(conn, bytes, len);
	tls_session_sent(conn->tls);
}

/* What the records of all that comes under TLS say of it. */
static json_t *label_make(const struct conn *conn)
{
	const struct tls_hello *hello = conn->hello;
	json_t *label = json_pack("{s:s}", "version", tls_session_version(conn->tls));
	unsigned alpn_len;
	const unsigned char *alpn = tls_session_alpn(conn->tls, &alpn_len);

	if (label && hello->sni_len)
		json_object_set_new(label, "sni", record_escaped(hello->sni, hello->sni_len));
	if (label && alpn_len)
		json_object_set_new(label, "alpn", record_escaped(alpn, alpn_len));
	return label;
}

/* The handshake has its record; what follows is another connection, for all that is told. */
static void enter(struct conn *conn)
{
	conn->entered = true;
	conn->tls_label = label_make(conn);
	conn_record(conn, 0, false);
	free(conn->hello);
	conn->hello = NULL;
	conn->after_hello = 0;
	conn->state = CONN_SNIFF;
	conn->inside = true;
	conn->recorded = false;
	decoy_scan_end(&conn->scan);
	memset(&conn->scan, 0, sizeof(conn->scan));
	conn_account(conn);
}

/* The same for the sake of bytes that cannot be read. */
static void enter_unread(struct conn *conn)
{
	enter(conn);
	conn->recorded = true;
}

/* Records what is at hand inside; the connection is from here on one that carries raw bytes. */
static void leave(struct conn *conn)
{
	if (conn->h2) {
		h2_end(conn, false);
		h2_free(conn->h2);
		conn->h2 = NULL;
	} else if (conn->bytes || !conn->recorded) {
		conn_record(conn, 0, false);
	}
	conn_body_end(conn);
	conn_consume(conn, conn->len);
	conn->state = CONN_OVER;
}

/* Nothing can be read any more: what comes, and the @held bytes that had come of the record,
 * is raw. */
static void broke(struct conn *conn, const char *bytes, size_t len, size_t held)
{
	const char *why = tls_session_failure(conn->tls);

	if (!conn->inside && tls_session_is_done(conn->tls) &&
	    tls_session_alert(conn->tls) == TLS_NO_ALERT)
		enter_unread(conn);
	if (!conn->inside) {
		conn->state = CONN_TLS_REFUSED;
		conn_linger(conn);
		return;
	}
	conn_malformed(conn, "tls", why ? why : "a record that cannot be read");
	conn_ended(conn);
	leave(conn);
	conn->inside = false;
	conn_linger(conn);
	conn->t = record_now();
	conn->bytes = held;
	conn_received(conn, bytes, len);
}

/* Takes in what can be read by now: @bytes were the last to come, after the @held. */
static void go_on(struct conn *conn, const char *bytes, size_t len, size_t held)
{
	struct conns *conns = conn->conns;
	ssize_t n;

	for (;;) {
		n = tls_session_read(conn->tls, conns->plain, sizeof(conns->plain));
		output_send(conn);
		if (n <= 0)
			break;
		if (!conn->inside)
			enter(conn);
		conn_received(conn, conns->plain, (size_t)n);
		if (conn->dead)
			return;
	}
	conn_account(conn);
	if (!conn->inside && !conn->talk && n == 0 && tls_session_is_done(conn->tls))
		conn_greet_wait(conn);
	if (n == -EPROTO) {
		broke(conn, bytes, len, held);
	} else if (n == -EPIPE) {
		if (conn->inside)
			conn_ended(conn);
		conn->gone = true;
		conn_finish(conn, false);
	}
}

bool conn_tls_begin(struct conn *conn)
{
	const struct tls_hello *hello = conn->hello;
	const struct leaf_subject subject = {
		.name = hello->sni_len ? hello->sni : NULL,
		.name_len = hello->sni_len,
		.known_as = names_find(conn->conns->resolver->names, &conn->dst),
		.address = &conn->dst,
	};
	struct tls_session *session = tls_session_new(conn->conns->tls, &subject);

	if (!session)
		return false;
	if (!tls_session_feed(session, conn->buf, conn->len)) {
		tls_session_free(session);
		return false;
	}
	conn->tls = session;
	conn->state = CONN_TLS_SHAKE;
	conn_consume(conn, conn->len);
	go_on(conn, NULL, 0, 0);
	return true;
}

void conn_tls_feed(struct conn *conn, const char *bytes, size_t len)
{
	size_t held = tls_session_unread(conn->tls);

	if (tls_session_feed(conn->tls, bytes, len))
		go_on(conn, bytes, len, held);
	else
		conn_finish(conn, true);
}

void conn_tls_send(struct conn *conn, const void *bytes, size_t len)
{
	tls_session_write(conn->tls, bytes, len);
	output_send(conn);
}

void conn_tls_close(struct conn *conn)
{
	tls_session_close(conn->tls);
	output_send(conn);
}

void conn_tls_finish(struct conn *conn, bool early)
{
	size_t unread = tls_session_unread(conn->tls);

	if (!unread || !tls_session_is_done(conn->tls))
		return;
	if (!conn->inside)
		enter_unread(conn);
	conn_consume(conn, conn->len);
	conn->state = CONN_OVER;
	conn->bytes = unread;
	conn_record(conn, 0, early);
}

/* How far the client came: what it took, what it refused, or where it stopped. */
static const char *outcome(const struct conn *conn)
{
	bool done = tls_session_is_done(conn->tls), shown = tls_session_has_shown(conn->tls);
	bool alert = tls_session_alert(conn->tls) != TLS_NO_ALERT;

	if (conn->entered)
		return "accepted";
	if (shown && (alert || (conn->gone && !done && !tls_session_failure(conn->tls))))
		return "refused";
	if (done)
		return "unused";
	return alert || tls_session_failure(conn->tls) ? "failed" : "unfinished";
}

void conn_tls_members(struct record *record, const struct conn *conn)
{
	int alert = tls_session_alert(conn->tls);
	const char *failure = tls_session_failure(conn->tls);
	unsigned alpn_len;
	const unsigned char *alpn = tls_session_alpn(conn->tls, &alpn_len);

	record_text(record, "handshake", outcome(conn));
	if (tls_session_is_done(conn->tls)) {
		record_text(record, "version", tls_session_version(conn->tls));
		record_bytes(record, "alpnChosen", alpn_len ? alpn : NULL, alpn_len);
	}
	if (alert != TLS_NO_ALERT)
		record_text(record, "alert", tls_alert_name(alert));
	else if (failure)
		record_text(record, "failure", failure);
}
