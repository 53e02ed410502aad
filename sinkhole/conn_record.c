// SPDX-License-Identifier: Apache-2.0
/* What is written about a TCP connection. */
#include "sinkhole/conn_internal.h"
#include "sinkhole/conn_tls.h"
#include "sinkhole/hidden_dns.h"
#include "sinkhole/ja4.h"
#include "sinkhole/talk.h"

#include <string.h>

#define RECORD_VERSIONS_MAX 16

/* Look-ups that are hidden in another protocol. */
static void service_member(struct record *record, const char *service)
{
	if (service)
		record_text(record, "service", service);
}

static void name_add(void *context, const char *name, size_t len)
{
	json_t *list = context;

	if (json_array_size(list) < RECORD_HEADERS_MAX)
		json_array_append_new(list, record_escaped(name, len));
}

/* The names of the head's fields, in their order and spelling. */
static void headers_member(struct record *record, const struct conn *conn)
{
	json_t *names = json_array();

	if (names)
		http_names_walk(&conn->head, conn->buf, name_add, names);
	record_set(record, "headers", names);
	if (conn->head.upgrade.len)
		record_bytes(record, "upgrade", conn->buf + conn->head.upgrade.offset,
			     conn->head.upgrade.len);
}

static void http_members(struct record *record, const struct conn *conn)
{
	const struct http_head *head = &conn->head;
	uint64_t payload = conn->broken_bytes;

	if (conn->state != CONN_HTTP_HEAD)
		payload += conn->body.payload;
	record_bytes(record, "method", conn->buf + head->method.offset, head->method.len);
	record_bytes(record, "path", conn->buf + head->target.offset, head->target.len);
	record_bytes(record, "host", head->has_host ? conn->buf + head->host.offset : NULL,
		     head->host.len);
	record_number(record, "payloadBytes", payload);
	record_set(record, "chunked", json_boolean(head->chunked));
	/* A head that broke off has no names that can be told. */
	if (conn->state == CONN_HTTP_BODY)
		headers_member(record, conn);
	record_hash(record, "bodySha256", conn->body_hash);
	service_member(record, hidden_dns_http(head, conn->buf));
	rpc_body_members(&conn->rpc, record);
}

/* The versions that the client offers, in its order. */
static json_t *versions_json(const struct tls_hello *hello)
{
	json_t *list = json_array();
	const char *name = tls_version_name(hello->legacy_version);

	for (size_t i = 0; i < hello->versions.cnt && i < RECORD_VERSIONS_MAX; i++) {
		name = tls_version_name(hello->versions.items[i]);
		if (name)
			json_array_append_new(list, json_string(name));
	}
	if (!hello->versions.cnt && name)
		json_array_append_new(list, json_string(name));
	return list;
}

static void tls_members(struct record *record, const struct conn *conn)
{
	const struct tls_hello *hello = conn->hello;
	json_t *alpn = json_array();
	char ja4[JA4_SIZE];
	size_t at = 0;

	record_bytes(record, "sni", hello->sni_len ? hello->sni : NULL, hello->sni_len);
	for (size_t i = 0; i < hello->alpn_cnt; i++) {
		json_t *name = record_escaped(hello->alpn + at, hello->alpn_len[i]);

		if (!name || json_array_append_new(alpn, name) < 0)
			record->failed = true;
		at += hello->alpn_len[i];
	}
	record_set(record, "alpn", alpn);
	record_set(record, "versions", versions_json(hello));
	if (ja4_print(hello, conn->conns->sha256, ja4) == 0)
		record_text(record, "ja4", ja4);
	record_number(record, "bytesAfterHello", conn->after_hello);
	if (conn->tls && !conn->inside)
		conn_tls_members(record, conn);
	service_member(record, hidden_dns_tls(&conn->dst, hello));
}

static const char *protocol_of(const struct conn *conn)
{
	switch (conn->state) {
	case CONN_HTTP_HEAD:
		if (!conn->head.has_line)
			break;
		return "http";
	case CONN_HTTP_BODY:
	case CONN_HTTP_BROKEN:
		return "http";
	case CONN_TLS_SHAKE:
	case CONN_TLS_REFUSED:
		return "tls";
	case CONN_TALK:
		return talk_name(conn->talk);
	case CONN_DNS:
		/* A message that was cut short is no DNS. */
		if (conn->len)
			break;
		return "dns";
	default:
		break;
	}
	return conn->bytes ? "unknown" : "none";
}

static struct record tcp_begin(struct resolver *resolver, const struct timespec *t,
			       const struct endpoint *src, const struct endpoint *dst,
			       const char *protocol, uint64_t bytes)
{
	struct record record = record_begin("tcp", t);

	record_flow(&record, src, dst);
	record_text(&record, "dstName", names_find(resolver->names, dst));
	record_text(&record, "protocol", protocol);
	record_number(&record, "bytesReceived", bytes);
	return record;
}

struct record conn_record_begin(struct conn *conn, const struct timespec *t, const char *protocol)
{
	struct record record =
		tcp_begin(conn->conns->resolver, t, &conn->src, &conn->dst, protocol, conn->bytes);

	if (conn->inside)
		record_set(&record, "inTls", json_incref(conn->tls_label));
	return record;
}

void record_tcp_none(struct resolver *resolver, const struct timespec *t,
		     const struct endpoint *src, const struct endpoint *dst)
{
	struct record record = tcp_begin(resolver, t, src, dst, "none", 0);

	record_write(resolver->log, &record);
}

/* What was said in another protocol, and to the proxy on the way. */
static void talks_member(struct record *record, const struct conn *conn)
{
	struct record proxy = {};

	if (conn->talk)
		talk_members(conn->talk, record);
	if (!conn->via)
		return;
	proxy.object = json_pack("{s:s}", "protocol", talk_name(conn->via));
	talk_members(conn->via, &proxy);
	record_set(record, "proxy", proxy.object);
}

/* What was found in the connection's bytes, and in names in which a value may be split. */
static void decoy_members(struct record *record, struct conn *conn, const char *protocol)
{
	const struct decoys *decoys = conn->conns->resolver->decoys;
	struct decoy_hits hits = conn->scan.hits;

	hits.labels |= conn->body_scan.hits.labels;
	hits.ways |= conn->body_scan.hits.ways;
	if (!strcmp(protocol, "tls"))
		decoys_search_name(decoys, (const char *)conn->hello->sni, conn->hello->sni_len,
				   &hits);
	if (!strcmp(protocol, "http") && conn->head.has_host)
		decoys_search_name(decoys, conn->buf + conn->head.host.offset, conn->head.host.len,
				   &hits);
	record_decoys(record, decoys, &hits, conn->scan.unsearched || conn->body_scan.unsearched);
	conn->scan.hits = (struct decoy_hits){};
	conn->scan.unsearched = false;
}

void conn_record(struct conn *conn, size_t leftover, bool early)
{
	struct resolver *resolver = conn->conns->resolver;
	const char *protocol = protocol_of(conn);
	struct record record;

	conn->bytes -= leftover;
	record = conn_record_begin(conn, &conn->t, protocol);
	if (!strcmp(protocol, "http")) {
		http_members(&record, conn);
	} else if (!strcmp(protocol, "tls")) {
		tls_members(&record, conn);
	} else if (conn->state == CONN_TALK || !strcmp(protocol, "unknown")) {
		size_t shown = conn->len < RECORD_FIRST_BYTES ? conn->len : RECORD_FIRST_BYTES;

		record_bytes(&record, "firstBytes", shown ? conn->buf : "", shown);
	}
	talks_member(&record, conn);
	decoy_members(&record, conn, protocol);
	if (early)
		record_set(&record, "early", json_true());
	record_write(resolver->log, &record);
	conn->recorded = true;
	conn->bytes = leftover;
}

struct dns_exchange conn_exchange(const struct conn *conn)
{
	return (struct dns_exchange){conn->t, conn->src, conn->dst, "tcp",
				     conn->inside ? conn->tls_label : NULL};
}

void conn_malformed(struct conn *conn, const char *protocol, const char *why)
{
	struct dns_exchange where = conn_exchange(conn);

	record_malformed(conn->conns->resolver->log, &where, protocol, conn->bytes, why);
}
