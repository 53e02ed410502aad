// SPDX-License-Identifier: Apache-2.0
/* A table of methods and results, and the envelope of version 2.0 around them. */
#include "sinkhole/rpc.h"

#include "base/json.h"

#include <string.h>

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define HASH  "0x8b1f07d2c34ea95e60b7719a4d25c8e3f0967d1be82ac45539f46e0c7db1a283"

/* Enough of a balance and of fees that the caller goes on to what it came for. */
static const struct rpc_row {
	const char *method;
	const char *result; /* JSON */
} rows[] = {
	{"eth_chainId", "\"0x1\""},
	{"eth_blockNumber", "\"0x14a2f3b\""},
	{"eth_gasPrice", "\"0x2540be400\""},
	{"eth_maxPriorityFeePerGas", "\"0x3b9aca00\""},
	{"eth_getBalance", "\"0x1bc16d674ec80000\""},
	{"eth_getTransactionCount", "\"0x7\""},
	{"eth_estimateGas", "\"0x5208\""},
	{"eth_getCode", "\"0x\""},
	{"eth_call", "\"0x" ZEROS "\""},
	{"eth_getStorageAt", "\"0x" ZEROS "\""},
	{"eth_accounts", "[]"},
	{"eth_getLogs", "[]"},
	{"eth_syncing", "false"},
	{"eth_sendRawTransaction", "\"" HASH "\""},
	{"eth_sendTransaction", "\"" HASH "\""},
	{"net_version", "\"1\""},
	{"net_listening", "true"},
	{"net_peerCount", "\"0x32\""},
	{"web3_clientVersion", "\"Geth/v1.13.14-stable-2bd6bd01/linux-amd64/go1.21.7\""},
	{"getHealth", "\"ok\""},
	{"mining.subscribe", "[[[\"mining.set_difficulty\",\"1\"],[\"mining.notify\",\"1\"]],"
			     "\"0800a31f\",4]"},
	{"mining.authorize", "true"},
	{"mining.submit", "true"},
	{"mining.extranonce.subscribe", "true"},
	{"login", "{\"id\":\"417203651\",\"status\":\"OK\",\"job\":{\"job_id\":\"5120\","
		  "\"blob\":\"1010" ZEROS ZEROS "\",\"target\":\"b88d0600\"}}"},
	{"submit", "{\"status\":\"OK\"}"},
	{"keepalived", "{\"status\":\"KEEPALIVED\"}"},
	{"eth_submitLogin", "true"},
	{"eth_getWork", "[\"" HASH "\",\"0x" ZEROS "\",\"0x" ZEROS "\"]"},
	{"eth_submitWork", "true"},
};

static const char *const pool_methods[] = {"mining.",	 "login",      "submit",
					   "keepalived", "eth_submit", "eth_getWork"};

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool is_call(const json_t *call, bool versioned)
{
	return json_is_object(call) && text_of(call, "method") &&
	       (!versioned || text_of(call, "jsonrpc"));
}

json_t *rpc_parse(const char *text, size_t len, bool versioned)
{
	json_t *calls = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

	if (is_call(calls, versioned) ||
	    (json_is_array(calls) && is_call(json_array_get(calls, 0), versioned)))
		return calls;
	json_decref(calls);
	return NULL;
}

static size_t calls_cnt(const json_t *calls)
{
	size_t cnt = json_is_array(calls) ? json_array_size(calls) : 1;

	return cnt < RPC_CALLS_MAX ? cnt : RPC_CALLS_MAX;
}

static const json_t *call_at(const json_t *calls, size_t i)
{
	return json_is_array(calls) ? json_array_get(calls, i) : calls;
}

void rpc_methods(const json_t *calls, void (*method)(void *context, const char *name),
		 void *context)
{
	for (size_t i = 0; i < calls_cnt(calls); i++)
		if (is_call(call_at(calls, i), false))
			method(context, text_of(call_at(calls, i), "method"));
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

const char *rpc_service(const json_t *calls)
{
	const char *method = text_of(call_at(calls, 0), "method");

	for (size_t i = 0; i < sizeof(pool_methods) / sizeof(pool_methods[0]); i++)
		if (begins(method, pool_methods[i]))
			return "stratum";
	return begins(method, "eth_") || begins(method, "net_") || begins(method, "web3_")
		       ? "ethereum"
		       : "json-rpc";
}

static json_t *result_of(const char *method)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].method, method))
			return json_loads(rows[i].result, JSON_DECODE_ANY, NULL);
	/* Another question about the chain: not found. */
	return begins(method, "eth_") ? json_null() : NULL;
}

static json_t *answer_one(const json_t *call)
{
	const char *method = is_call(call, false) ? text_of(call, "method") : "";
	json_t *result = result_of(method), *id = json_object_get(call, "id");
	json_t *answer = json_object();
	const char *version = text_of(call, "jsonrpc");

	if (version)
		json_object_set_new(answer, "jsonrpc", json_string(version));
	json_object_set(answer, "id", id ? id : json_null());
	if (result)
		json_object_set_new(answer, "result", result);
	else
		json_object_set_new(
			answer, "error",
			json_pack("{s:i, s:o}", "code", -32601, "message",
				  json_sprintf("the method %.64s does not exist/is not available",
					       method)));
	if (result && !version)
		json_object_set_new(answer, "error", json_null());
	return answer;
}

char *rpc_answer(const json_t *calls)
{
	_cleanup_json_ json_t *answer = NULL;

	if (!json_is_array(calls)) {
		answer = answer_one(calls);
		return json_dumps(answer, JSON_COMPACT);
	}
	answer = json_array();
	for (size_t i = 0; i < calls_cnt(calls); i++)
		json_array_append_new(answer, answer_one(call_at(calls, i)));
	return json_dumps(answer, JSON_COMPACT);
}
