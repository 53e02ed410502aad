/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load on a sinkhole, from inside its sandbox's network namespace. Each generator counts what it
 * tried, so that the sinkhole's records can be held against it.
 */
#ifndef QP_TOOLS_BENCH_LOAD_H
#define QP_TOOLS_BENCH_LOAD_H

#include "tools/bench/bench.h"

/* What is loaded: an address that nobody has, and the name server's. */
#define LOAD_ADDRESS	 "203.0.113.7"
#define LOAD_NAME_SERVER "10.23.4.1"

/* How long a generator waits for what does not come. */
#define LOAD_PATIENCE_MS 60000

struct load {
	uint64_t cnt;	   /* in: how many of them */
	uint64_t attempts; /* connections, queries, datagrams or requests that were begun */
	uint64_t answered; /* of these stood or got an answer */
	uint64_t bytes;	   /* that were sent as payload */
	double seconds;
};

/* Each 0 or -errno with the cause. */

/* That many connections at once: all stand before any ends. A few bytes go over each. */
int load_connections(struct load *load, struct qp_error *err);

/* As many, each an HTTP request that comes byte by byte and never ends. */
int load_slow(struct load *load, struct qp_error *err);

/* As many SYN packets from addresses that do not answer. */
int load_half_open(struct load *load, struct qp_error *err);

/* As many bytes of junk, over a few connections. */
int load_junk(struct load *load, struct qp_error *err);

/* DNS queries for different names, a window of them under way. */
int load_queries(struct load *load, struct qp_error *err);

/* The same as fast as they can be sent, without waiting. */
int load_query_burst(struct load *load, struct qp_error *err);

/* The largest datagrams that IPv4 has, as fast as they can be sent. */
int load_datagrams(struct load *load, struct qp_error *err);

/* HTTP requests over kept connections. */
int load_http1(struct load *load, struct qp_error *err);
int load_http2(struct load *load, struct qp_error *err);

/* A socket that is connected, or being so without waiting; the descriptor or -errno. */
int load_connect(const char *address, uint16_t port, bool wait);

#endif
