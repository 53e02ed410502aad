/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of one HTTP/2 connection, as h2.c and h2_record.c share them. */
#ifndef QP_SINKHOLE_H2_INTERNAL_H
#define QP_SINKHOLE_H2_INTERNAL_H

#include "sinkhole/h2.h"

#include <nghttp2/nghttp2.h>

struct h2_stream {
	struct h2 *h2;
	struct timespec t;
	char *method, *host, *path; /* NULL: not sent */
	size_t method_len, host_len, path_len;
	json_t *names;	     /* of header fields */
	size_t header_bytes; /* of names and values */
	uint64_t payload;    /* data, padding and trailers */
	bool headers_over, expects, recorded;
	EVP_MD_CTX *hash;
	struct decoy_scan scan, body_scan;
	struct rpc_body rpc; /* the body, while it may be a call */
	const struct response *response;
	size_t sent; /* of its body */
	TAILQ_ENTRY(h2_stream) entry;
};

TAILQ_HEAD(h2_streams, h2_stream);

struct h2 {
	struct conn *conn;
	nghttp2_session *session;
	struct h2_streams streams;
	uint64_t odd; /* payload of frames that are of no request */
	bool broken;
	bool client_ends; /* it said GOAWAY */
};

/* Chooses the answer to a request whose end was read, from the table (h2_answer.c). */
void h2_choose(struct h2 *h2, struct h2_stream *stream);

/* Gives it (h2_answer.c). */
void h2_answer(struct h2 *h2, int32_t id, struct h2_stream *stream);

/* 100 Continue (h2_answer.c). */
void h2_go_on(struct h2 *h2, int32_t id);

/* Writes the record of one request, once (h2_record.c). */
void h2_stream_record(struct h2_stream *stream, bool early);

/* The record of what is of no request (h2_record.c). */
void h2_odd_record(struct h2 *h2, bool early);

#endif
