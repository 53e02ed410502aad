/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layout of the maps that the collector reads or fills. */
#ifndef QP_BPF_COUNTERS_H
#define QP_BPF_COUNTERS_H

#include "bpf/event.h"

#define QP_GROUPS_MAX 1024
/* A slot is what is counted and logged by itself: a group, or one log's share of its life.
 * 0 is none. More than groups: a log that is being finished keeps its slot for a while. */
#define QP_SLOTS_MAX	 2047
#define QP_CALL_KEYS_MAX 65536 /* pairs of a slot and a call that can be counted apart */
#define QP_PARENTS_MAX	 8192
#define QP_RING_BYTES	 (32U << 20)
#define QP_SCRATCH_SLOTS 4
#define QP_ABI_CNT	 4
#define QP_NR_CNT	 1024 /* numbers of an ABI; the last slot is for all beyond */
#define QP_TYPES_MAX	 16   /* event types, 0 unused; a power of two */

/* Of a variable's name with its NUL: one as long or longer is recorded at each read. */
#define QP_ENV_NAME_FOLDED 128

#define QP_WRITTEN_MAX 16384

#define QP_CACHE_CPUS 1024 /* a power of two */

/* The last answer to "is this group tracked" of a CPU, on a cache line of its own. */
struct group_cache {
	uint64_t word;
	uint64_t pad[7];
};

/* Of a slot on one CPU. */
struct qp_cpu_counters {
	uint64_t seq;
	uint64_t syscalls;
	uint64_t limited;		 /* of the lost: beyond the rate */
	uint64_t unsummed;		 /* writes whose bytes are in no sum */
	uint64_t produced[QP_TYPES_MAX]; /* events that should be delivered */
	uint64_t lost[QP_TYPES_MAX];	 /* of these, the ring or the scratch space was full */
};

/* What one process wrote to one file, of those whose events go to one slot. */
struct written_key {
	uint64_t start_ns; /* of the process: its number is used again */
	uint64_t ino;
	uint32_t tgid;
	uint32_t dev;
	uint32_t generation; /* of the inode: its number is used again */
	uint32_t slot;
};

#define QP_WRITTEN_OK	  1 /* a success was recorded */
#define QP_WRITTEN_FAILED 2

struct written_sum {
	uint64_t bytes;
	uint32_t number; /* qp_call.written */
	uint32_t bits;	 /* QP_WRITTEN_* */
};

/* The slot and the call, as a key of `slot_call_counts`. */
#define QP_CALL_KEY(slot, abi, nr) \
	((uint32_t)(slot) * (QP_ABI_CNT * QP_NR_CNT) + (abi)*QP_NR_CNT + (nr))

/* How many events a slot has had in this second. */
struct qp_rate {
	uint64_t second;
	uint64_t events;
};

/*
 * Every sample of the ring begins with eight bytes: the slot that the event behind it
 * belongs to, or QP_SAMPLE_NOTICE, and behind it is a struct qp_notice.
 */
#define QP_SAMPLE_NOTICE     (1ULL << 63)
#define QP_NOTICE_PATH_BYTES 1024 /* what the kernel gives, TRACE_CGROUP_PATH_LEN */

enum qp_notice_kind {
	QP_NOTICE_MADE = 1,  /* a folder whose parent is in `parents` */
	QP_NOTICE_GONE = 2,  /* a tracked group was removed */
	QP_NOTICE_EMPTY = 3, /* the last process left a tracked group and those below it */
	QP_NOTICE_FILLED = 4,
};

struct qp_notice {
	uint32_t kind;
	uint32_t slot; /* 0 when MADE found none left */
	uint64_t cgroup_id;
	char path[QP_NOTICE_PATH_BYTES]; /* MADE only, with its NUL, below the hierarchy's root */
};

#endif
