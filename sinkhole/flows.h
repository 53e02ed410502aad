/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP connections that were begun, seen as packets, and have not been accepted yet. What
 * stays here too long was given up by the sandbox before it stood, and gets a record of its
 * own: no attempt goes unrecorded.
 */
#ifndef QP_SINKHOLE_FLOWS_H
#define QP_SINKHOLE_FLOWS_H

#include "base/cleanup.h"
#include "sinkhole/endpoint.h"

#include <stdint.h>
#include <time.h>

#define FLOWS_MAX 65536
/* A handshake on a veth takes microseconds; a second SYN follows after a second. */
#define FLOW_WAIT_MS 3000

struct flow {
	struct endpoint src, dst;
	struct timespec t;   /* for the record */
	uint64_t started_ms; /* on the caller's clock */
};

struct flows;

/* NULL when out of memory. */
struct flows *flows_new(void);
void flows_free(struct flows *flows);

DEFINE_CLEANUP(flows, struct flows *, flows_free);
#define _cleanup_flows_ _cleanup_(flows)

/* Adds one, unless it is there already (a repeated SYN). -ENOSPC at FLOWS_MAX, -ENOMEM. */
int flows_add(struct flows *flows, const struct flow *flow);

/* Takes out the flow from @src to @dst, if it is there. */
void flows_remove(struct flows *flows, const struct endpoint *src, const struct endpoint *dst);

/* Takes out the oldest flow if it was started before @before_ms. */
bool flows_take_older(struct flows *flows, uint64_t before_ms, struct flow *ret_flow);

/* When the oldest was started; false when there is none. */
bool flows_oldest(const struct flows *flows, uint64_t *ret_started_ms);

#endif
