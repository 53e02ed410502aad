// SPDX-License-Identifier: Apache-2.0
/* JSON-RPC over HTTP. */
#include "sinkhole/rpc_body.h"

#include "sinkhole/rpc.h"

#include "base/json.h"

#include <string.h>

static void give_up(struct rpc_body *body)
{
	free(body->bytes);
	body->bytes = NULL;
	body->len = body->cap = 0;
	body->none = true;
}

void rpc_body_feed(struct rpc_body *body, const char *bytes, size_t len)
{
	size_t needed = body->len + len;
	char *grown;

	if (body->none || !len)
		return;
	if ((!body->len && *bytes != '{' && *bytes != '[') || needed > RPC_BODY_MAX) {
		give_up(body);
		return;
	}
	if (needed > body->cap) {
		size_t cap = needed < 2 * body->cap ? 2 * body->cap : needed;

		grown = realloc(body->bytes, cap);
		if (!grown) {
			give_up(body);
			return;
		}
		body->bytes = grown;
		body->cap = cap;
	}
	memcpy(body->bytes + body->len, bytes, len);
	body->len = needed;
}

void rpc_body_free(struct rpc_body *body)
{
	free(body->bytes);
	free(body->answer);
	json_decref(body->methods);
	*body = (struct rpc_body){};
}

size_t rpc_body_memory(const struct rpc_body *body)
{
	return body->cap;
}

static void method_add(void *context, const char *name)
{
	struct rpc_body *body = context;

	json_array_append_new(body->methods, record_escaped(name, strlen(name)));
}

const struct response *rpc_body_answer(struct rpc_body *body)
{
	static const struct respond_header type = {"Content-Type", "application/json"};
	_cleanup_json_ json_t *calls = body->len ? rpc_parse(body->bytes, body->len, true) : NULL;

	if (!calls)
		return NULL;
	body->methods = json_array();
	rpc_methods(calls, method_add, body);
	body->service = rpc_service(calls);
	body->answer = rpc_answer(calls);
	if (!body->answer)
		return NULL;
	body->response = (struct response){
		.status = 200,
		.reason = "OK",
		.headers = {type},
		.headers_cnt = 1,
		.body = body->answer,
		.body_len = strlen(body->answer),
	};
	return &body->response;
}

void rpc_body_members(const struct rpc_body *body, struct record *record)
{
	if (!body->service)
		return;
	record_text(record, "service", body->service);
	record_set(record, "methods", json_incref(body->methods));
}
