// SPDX-License-Identifier: Apache-2.0
/* What is written about requests of HTTP/2. */
#include "sinkhole/h2_internal.h"

#include "sinkhole/hidden_dns.h"

static struct record begin(struct conn *conn, const struct timespec *t, uint64_t payload)
{
	struct record record = conn_record_begin(conn, t, "http");

	record_text(&record, "httpVersion", "2");
	record_number(&record, "payloadBytes", payload);
	record_set(&record, "chunked", json_false());
	return record;
}

static void finish(struct conn *conn, struct record *record, bool early)
{
	if (early)
		record_set(record, "early", json_true());
	record_write(conn->conns->resolver->log, record);
	conn->recorded = true;
	conn->bytes = 0;
}

void h2_stream_record(struct h2_stream *stream, bool early)
{
	struct conn *conn = stream->h2->conn;
	const struct decoys *decoys = conn->conns->resolver->decoys;
	struct record record = begin(conn, &stream->t, stream->payload);
	struct decoy_hits hits = stream->scan.hits;
	const char *service = hidden_dns_path(stream->path, stream->path_len);

	stream->recorded = true;
	record_bytes(&record, "method", stream->method, stream->method_len);
	record_bytes(&record, "host", stream->host, stream->host_len);
	record_bytes(&record, "path", stream->path, stream->path_len);
	record_set(&record, "headers", json_incref(stream->names));
	record_hash(&record, "bodySha256", stream->hash);
	if (service)
		record_text(&record, "service", service);
	rpc_body_members(&stream->rpc, &record);
	hits.labels |= stream->body_scan.hits.labels | conn->scan.hits.labels;
	hits.ways |= stream->body_scan.hits.ways | conn->scan.hits.ways;
	if (stream->host)
		decoys_search_name(decoys, stream->host, stream->host_len, &hits);
	record_decoys(&record, decoys, &hits,
		      stream->scan.unsearched || stream->body_scan.unsearched ||
			      conn->scan.unsearched);
	conn->scan.hits = (struct decoy_hits){};
	conn->scan.unsearched = false;
	finish(conn, &record, early);
}

void h2_odd_record(struct h2 *h2, bool early)
{
	struct conn *conn = h2->conn;
	struct record record = begin(conn, &conn->t, h2->odd);

	record_text(&record, "method", NULL);
	record_text(&record, "host", NULL);
	record_text(&record, "path", NULL);
	record_decoys(&record, conn->conns->resolver->decoys, &conn->scan.hits,
		      conn->scan.unsearched);
	finish(conn, &record, early);
}
