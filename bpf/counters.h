/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layout of the maps that the collector reads or fills. */
#ifndef QP_BPF_COUNTERS_H
#define QP_BPF_COUNTERS_H

#include "bpf/event.h"

#define QP_GROUPS_MAX	 1024
#define QP_RING_BYTES	 (32U << 20)
#define QP_SCRATCH_SLOTS 4
#define QP_ABI_CNT	 4
#define QP_NR_CNT	 1024 /* numbers of an ABI; the last slot is for all beyond */
#define QP_TYPES_MAX	 8    /* event types, 0 unused */

#define QP_CACHE_CPUS 1024 /* a power of two */

/* The last answer to "is this group tracked" of a CPU, on a cache line of its own. */
struct group_cache {
	uint64_t word;
	uint64_t pad[7];
};

struct qp_cpu_counters {
	uint64_t seq;
	uint64_t produced[QP_TYPES_MAX]; /* events that should be delivered */
	uint64_t lost[QP_TYPES_MAX];	 /* of these, the ring or the scratch space was full */
};

#endif
