/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC: what a node of a block chain, or a mining pool, is asked and answers. */
#ifndef QP_SINKHOLE_RPC_H
#define QP_SINKHOLE_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RPC_CALLS_MAX 32 /* of a batch that are answered */

/* The call or the batch of calls in @text; NULL when it is neither. A version is asked for
 * where @versioned: pools do without. */
json_t *rpc_parse(const char *text, size_t len, bool versioned);

/* Calls @method for the name of each call. */
void rpc_methods(const json_t *calls, void (*method)(void *context, const char *name),
		 void *context);

/* "stratum", "ethereum" or "json-rpc". */
const char *rpc_service(const json_t *calls);

/* The answer to all of it, as a JSON text that the caller frees; NULL when out of memory. */
char *rpc_answer(const json_t *calls);

#endif
