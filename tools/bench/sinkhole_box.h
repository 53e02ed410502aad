/* SPDX-License-Identifier: Apache-2.0 */
/* A network namespace with a sinkhole, one load in it, and what the sinkhole wrote of that. */
#ifndef QP_TOOLS_BENCH_SINKHOLE_BOX_H
#define QP_TOOLS_BENCH_SINKHOLE_BOX_H

#include "tools/bench/load.h"

struct box_report {
	struct load load;
	uint64_t records[2]; /* of type tcp, of type dns or udp */
	uint64_t early;	     /* of them, written before their time for want of room */
	uint64_t bytes;	     /* bytesReceived or bytes of these, summed */
	uint64_t lost;	     /* what the sinkhole says it lost or dropped */
	bool flushed;
	uint64_t peak_bytes;  /* the sinkhole's resident memory at its highest */
	double drain_seconds; /* from the load's end to the sinkhole's */
};

/*
 * Runs @generate for @cnt in a new namespace; records go to a new file in @folder, which is
 * removed. A record that is no whole JSON line, and a sinkhole that does not end well, is an
 * error. 0 or -errno.
 */
int box_run(const char *folder, int (*generate)(struct load *, struct qp_error *), uint64_t cnt,
	    struct box_report *ret_report, struct qp_error *err);

#endif
