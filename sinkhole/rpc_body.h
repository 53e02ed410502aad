/* SPDX-License-Identifier: Apache-2.0 */
/* The body of an HTTP request, kept while it may be a call of JSON-RPC. */
#ifndef QP_SINKHOLE_RPC_BODY_H
#define QP_SINKHOLE_RPC_BODY_H

#include "sinkhole/record.h"
#include "sinkhole/respond.h"

/* A longer body is none that is answered. */
#define RPC_BODY_MAX 65536

struct rpc_body {
	char *bytes;
	size_t len, cap;
	bool none; /* it cannot be one */
	char *answer;
	struct response response;
	json_t *methods;
	const char *service;
};

void rpc_body_feed(struct rpc_body *body, const char *bytes, size_t len);
void rpc_body_free(struct rpc_body *body);
size_t rpc_body_memory(const struct rpc_body *body);

/* The answer to the whole body, or NULL when it was no call; it lives as long as @body. */
const struct response *rpc_body_answer(struct rpc_body *body);

/* `service` and `methods`, after an answer. */
void rpc_body_members(const struct rpc_body *body, struct record *record);

#endif
