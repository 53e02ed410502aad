// SPDX-License-Identifier: Apache-2.0
/* What TCP connections say, and what they are told. Each step works on the buffer and
 * returns whether another one can follow at once. */
#include "sinkhole/conn_internal.h"
#include "sinkhole/conn_tls.h"
#include "sinkhole/h2.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DNS_PORT	   53
#define DNS_PREFIX	   2 /* the length before each message, RFC 1035 section 4.2.2 */
#define DNS_FIRST_BYTE_MAX 0x0f
#define ANSWERED_MAX	   2048 /* of a host or path that an answer is chosen by */

/* The text of a span, bounded, for the table of answers; NULL for none. */
static const char *span_text(const struct conn *conn, struct http_span span,
			     char buf[static ANSWERED_MAX])
{
	if (!span.len || span.len >= ANSWERED_MAX)
		return NULL;
	memcpy(buf, conn->buf + span.offset, span.len);
	buf[span.len] = '\0';
	return buf;
}

static void http_reply(struct conn *conn, const struct response *response, bool keep)
{
	bool head_only = conn->head.method.len == 4 &&
			 !memcmp(conn->buf + conn->head.method.offset, "HEAD", 4);
	_cleanup_free_ char *text = NULL;
	bool typed = false;
	char date[64];
	time_t now = time(NULL);
	struct tm parts;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &parts));
	fprintf(out, "HTTP/1.1 %u %s\r\nServer: nginx\r\nDate: %s\r\n", response->status,
		response->reason, date);
	for (size_t i = 0; i < response->headers_cnt; i++) {
		typed |= !strcasecmp(response->headers[i].name, "content-type");
		fprintf(out, "%s: %s\r\n", response->headers[i].name, response->headers[i].value);
	}
	if (!typed)
		fprintf(out, "Content-Type: text/html\r\n");
	fprintf(out, "Content-Length: %zu\r\nConnection: %s\r\n\r\n", response->body_len,
		keep ? "keep-alive" : "close");
	if (!head_only && response->body_len)
		fwrite(response->body, 1, response->body_len, out);
	if (fclose(out) == 0)
		conn_send(conn, text, len);
}

/* Nothing more is expected; what comes all the same is recorded as bytes. */
static bool go_over(struct conn *conn, enum conn_state state)
{
	conn->state = state;
	conn_linger(conn);
	return true;
}

static bool go_raw(struct conn *conn)
{
	conn->state = CONN_RAW;
	conn_trim(conn);
	return false;
}

/* Neither HTTP nor DNS: what else? */
static bool go_tell(struct conn *conn)
{
	conn->state = CONN_TELL;
	return true;
}

static bool http_broken(struct conn *conn, const char *why, size_t head_len)
{
	conn_malformed(conn, "http", why);
	conn->broken_bytes = conn->len - head_len;
	conn->len = head_len;
	http_reply(conn, respond_bad_request(), false);
	return go_over(conn, CONN_HTTP_BROKEN);
}

static void on_body_data(void *context, const char *bytes, size_t len)
{
	struct conn *conn = context;

	/* Without memory for it the record has no hash. */
	if (!conn->body_hash) {
		conn->body_hash = EVP_MD_CTX_new();
		if (conn->body_hash)
			EVP_DigestInit_ex2(conn->body_hash, conn->conns->sha256, NULL);
	}
	if (conn->body_hash)
		EVP_DigestUpdate(conn->body_hash, bytes, len);
	rpc_body_feed(&conn->rpc, bytes, len);
	decoy_scan_feed(&conn->body_scan, conn->conns->resolver->decoys, bytes, len, true);
	conn_account(conn);
}

static void http_answer(struct conn *conn)
{
	char method[ANSWERED_MAX], host[ANSWERED_MAX], path[ANSWERED_MAX];
	bool keep = http_keeps_open(&conn->head);

	http_reply(conn,
		   respond_find(conn->conns->respond, span_text(conn, conn->head.method, method),
				span_text(conn, conn->head.host, host),
				span_text(conn, conn->head.target, path),
				rpc_body_answer(&conn->rpc)),
		   keep);
	conn_record(conn, conn->len - conn->head.length, false);
	conn_body_end(conn);
	conn_consume(conn, conn->head.length);
	memset(&conn->head, 0, sizeof(conn->head));
	conn->state = CONN_SNIFF;
	if (!keep)
		go_over(conn, CONN_OVER);
}

static bool http_body_step(struct conn *conn)
{
	size_t head_len = conn->head.length, used;
	enum http_result result =
		http_body_feed(&conn->body, conn->buf + head_len, conn->len - head_len, &used);

	conn->len -= used;
	memmove(conn->buf + head_len, conn->buf + head_len + used, conn->len - head_len);
	if (result == HTTP_BAD)
		return http_broken(conn, conn->body.why, head_len);
	if (result != HTTP_DONE)
		return false;
	http_answer(conn);
	return conn->len != 0;
}

static bool http_head_step(struct conn *conn)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	enum http_result result = http_head_scan(&conn->head, conn->buf, conn->len);

	if (result == HTTP_NOT)
		return go_tell(conn);
	if (result == HTTP_BAD)
		return http_broken(conn, conn->head.why, conn->head.line_start);
	if (result != HTTP_DONE)
		return false;
	conn->state = CONN_HTTP_BODY;
	http_body_init(&conn->body, &conn->head);
	conn->body.data = on_body_data;
	conn->body.context = conn;
	if (conn->head.expect_continue && !conn->head.http10 && conn->len == conn->head.length)
		conn_send(conn, go_on, sizeof(go_on) - 1);
	return true;
}

static bool tls_step(struct conn *conn)
{
	struct tls_hello hello;
	const char *why = "";
	ssize_t used = tls_hello_parse(&conn->progress, (const uint8_t *)conn->buf, conn->len,
				       &hello, &why);

	if (used == -EAGAIN)
		return false;
	if (used == -EBADMSG) {
		conn_malformed(conn, "tls", why);
		return go_raw(conn);
	}
	conn->hello = used > 0 ? malloc(sizeof(*conn->hello)) : NULL;
	if (!conn->hello)
		return go_raw(conn);
	*conn->hello = hello;
	conn_account(conn);
	conn->after_hello = conn->len - (size_t)used;
	/* Only once: TLS within TLS is refused. */
	if (conn->conns->tls && !conn->tls && conn_tls_begin(conn))
		return false;
	conn_consume(conn, conn->len);
	conn_send(conn, tls_handshake_failure, sizeof(tls_handshake_failure));
	return go_over(conn, CONN_TLS_REFUSED);
}

/* Whether the first bytes may be a DNS message of their length. Beyond port 53 only
 * queries are believed, of lengths that no text begins with. */
static bool dns_may_follow(const struct conn *conn)
{
	const uint8_t *b = (const uint8_t *)conn->buf;
	bool elsewhere = conn->dst.port != DNS_PORT;
	size_t len = conn->len;

	if (elsewhere && len >= 1 && b[0] > DNS_FIRST_BYTE_MAX)
		return false;
	if (len >= 2 && (b[0] << 8 | b[1]) < DNS_QUERY_MIN)
		return false;
	if (elsewhere && len >= 5 && b[4] & 0xf8)
		return false;
	return len < 8 || (b[6] == 0 && b[7] != 0 && b[7] <= DNS_QUESTIONS_MAX);
}

/* Another binary protocol may begin as DNS does; it is no broken DNS for that. */
static bool dns_was_meant(const struct conn *conn)
{
	return conn->dst.port == DNS_PORT || conn->bytes > conn->len;
}

static bool dns_bad(struct conn *conn, size_t len, const char *why)
{
	uint8_t reply[DNS_PREFIX + DNS_HEADER_SIZE] = {0, DNS_HEADER_SIZE};
	const uint8_t *message = (const uint8_t *)conn->buf + DNS_PREFIX;

	if (!dns_was_meant(conn))
		return go_tell(conn);
	conn_malformed(conn, "dns", why);
	if (dns_refusal_build(message, len, reply + DNS_PREFIX))
		conn_send(conn, reply, sizeof(reply));
	return go_tell(conn);
}

static bool dns_step(struct conn *conn)
{
	struct dns_exchange exchange = conn_exchange(conn);
	uint8_t reply[DNS_PREFIX + RESOLVER_REPLY_MAX];
	const uint8_t *bytes = (const uint8_t *)conn->buf;
	struct dns_query query;
	const char *why = "";
	size_t len, n;

	if (conn->len < DNS_PREFIX)
		return false;
	len = (size_t)bytes[0] << 8 | bytes[1];
	if (conn->len - DNS_PREFIX < len)
		return false;
	if (dns_query_parse(bytes + DNS_PREFIX, len, &query, &why) < 0)
		return dns_bad(conn, len, why);
	conn->state = CONN_DNS;
	exchange.t = record_now();
	n = resolver_answer(conn->conns->resolver, &exchange, bytes + DNS_PREFIX, len, &query,
			    reply + DNS_PREFIX, RESOLVER_REPLY_MAX);
	reply[0] = (uint8_t)(n >> 8);
	reply[1] = (uint8_t)n;
	if (n)
		conn_send(conn, reply, DNS_PREFIX + n);
	conn_consume(conn, DNS_PREFIX + len);
	return conn->len != 0;
}

static bool go_h2(struct conn *conn)
{
	if (h2_begin(conn) < 0)
		return go_raw(conn);
	conn->state = CONN_H2;
	h2_feed(conn, conn->buf, conn->len);
	conn_consume(conn, conn->len);
	return false;
}

static bool sniff_step(struct conn *conn)
{
	const uint8_t *bytes = (const uint8_t *)conn->buf;
	bool wait = false;

	if (!conn->len)
		return false;
	if (!conn->recorded && h2_looks_like(conn->buf, conn->len))
		return conn->len >= H2_PREFACE_LEN && go_h2(conn);
	/* A connection that spoke HTTP goes on with it. */
	if (!conn->recorded && tls_looks_like_hello(bytes, conn->len)) {
		if (conn->len < 3)
			return false;
		conn->state = CONN_TLS;
		conn->progress = (struct tls_progress){};
		return true;
	}
	if (!conn->recorded && conn->dst.port != DNS_PORT && conn_talk_early(conn, &wait))
		return go_tell(conn);
	if (wait)
		return false;
	if (!conn->recorded && !conn->talk && dns_may_follow(conn)) {
		/* dns_step says once the message is whole whether it was one. */
		if (conn->len >= 8)
			conn->state = CONN_DNS;
		return conn->len >= 8;
	}
	conn->state = CONN_HTTP_HEAD;
	return true;
}

static bool step(struct conn *conn)
{
	switch (conn->state) {
	case CONN_SNIFF:
		return sniff_step(conn);
	case CONN_HTTP_HEAD:
		return http_head_step(conn);
	case CONN_HTTP_BODY:
		return http_body_step(conn);
	case CONN_TLS:
		return tls_step(conn);
	case CONN_DNS:
		return dns_step(conn);
	case CONN_TELL:
		return conn_talk_tell(conn, false);
	default:
		return false;
	}
}

void conn_feed(struct conn *conn, const char *bytes, size_t len)
{
	size_t room;

	switch (conn->state) {
	case CONN_HTTP_BROKEN:
		conn->broken_bytes += len;
		return;
	case CONN_TLS_REFUSED:
		conn->after_hello += len;
		return;
	case CONN_TLS_SHAKE:
		conn->after_hello += len;
		conn_tls_feed(conn, bytes, len);
		return;
	case CONN_H2:
		h2_feed(conn, bytes, len);
		return;
	case CONN_TALK:
	case CONN_RAW:
	case CONN_OVER:
		room = conn->len < RECORD_FIRST_BYTES ? RECORD_FIRST_BYTES - conn->len : 0;
		if (room && !conn_append(conn, bytes, len < room ? len : room))
			return;
		if (conn->state == CONN_TALK)
			conn_talk_feed(conn, bytes, len);
		return;
	default:
		break;
	}
	if (!conn_append(conn, bytes, len))
		return;
	while (step(conn))
		;
}

void conn_ended(struct conn *conn)
{
	switch (conn->state) {
	case CONN_HTTP_BODY:
		/* A body that only the end of the connection ends. */
		if (conn->body.state == HTTP_BODY_TO_END)
			http_answer(conn);
		else
			conn_malformed(conn, "http", "the connection ends within a body");
		break;
	case CONN_HTTP_HEAD:
		if (conn->head.has_line)
			conn_malformed(conn, "http", "the connection ends within a head");
		else
			conn_talk_tell(conn, true);
		break;
	case CONN_TELL:
		conn_talk_tell(conn, true);
		break;
	case CONN_TLS:
		conn_malformed(conn, "tls", "the connection ends within the ClientHello");
		break;
	case CONN_DNS:
		if (conn->len && dns_was_meant(conn))
			conn_malformed(conn, "dns", "the connection ends within a message");
		break;
	default:
		break;
	}
}
