/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every map and global of the programs. Weak, so that each object file that includes
 * this header shares one definition once they are linked. */
#ifndef QP_BPF_MAPS_BPF_H
#define QP_BPF_MAPS_BPF_H

#include "bpf/core.bpf.h"
#include "bpf/counters.h"

/* Groups being recorded. Key: kernel id of a cgroup v2 folder. The collector adds; entries
 * live as long as the collector. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QP_GROUPS_MAX);
	__type(key, u64);
	__type(value, u8);
} groups __weak SEC(".maps");

/* What a task is in the middle of. Made by the fork that makes the task, or at its first
 * call in a group; the kernel frees it with the task. */
enum task_phase {
	PHASE_NONE = 0,	   /* not in a call that was seen to begin */
	PHASE_CALL = 1,	   /* between the entry and the exit of a call */
	PHASE_NEWBORN = 2, /* will return from the call that its parent made */
};

struct task_state {
	u32 nr;
	u16 call; /* 0: nothing to record at the exit */
	u8 abi;
	u8 phase;
	u32 ns_tgid;
	u32 ns_tid;
	u64 entered_ns;
	u64 args[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} task_states __weak SEC(".maps");

/* The records' way to userspace. The collector sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, QP_RING_BYTES);
} events __weak SEC(".maps");

/* System calls by ABI and number, QP_NR_CNT for each ABI; the last of an ABI's slots takes
 * numbers that are out of range. Counted here whether recorded or not. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, QP_ABI_CNT *QP_NR_CNT);
	__type(key, u32);
	__type(value, u64);
} call_counts __weak SEC(".maps");

/* Key 0: this CPU's accounting of records. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qp_cpu_counters);
} cpu_counters __weak SEC(".maps");

/*
 * Where records are built. A program can be preempted by another task's on the same CPU,
 * so a CPU has several, each taken with an atomic exchange. Slot k of CPU c is
 * c * QP_SCRATCH_SLOTS + k; the collector sets max_entries to the number of CPUs times
 * QP_SCRATCH_SLOTS.
 */
/* Room for the longest read behind the last start of a field: the verifier wants it. */
#define SCRATCH_TAIL QP_ARGV_BYTES_MAX

struct scratch {
	u64 taken;
	u32 pos;
	u32 flags;
	u32 ns_tgid;
	u32 ns_tid;
	u64 address; /* see address_of() */
	u64 wake;    /* this record is to wake the reader */
	u8 data[QP_EVENT_BYTES_MAX + SCRATCH_TAIL];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QP_SCRATCH_SLOTS);
	__type(key, u32);
	__type(value, struct scratch);
} scratches __weak SEC(".maps");

/*
 * Open files whose writing was recorded already; the value holds WRITTEN_* bits. An open
 * that returns a file drops its key, for memory of a closed file is used again. When the
 * map is full the oldest goes, and a write to that file is recorded once more.
 */
#define WRITTEN_OK     1
#define WRITTEN_FAILED 2

struct written_key {
	u64 file;
	u64 ino;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct written_key);
	__type(value, u32);
} written __weak SEC(".maps");

/* Set when the reader was woken and has not begun to read yet: one wake-up is enough. The
 * collector clears it. */
__u32 wake_pending __weak = 0;

/* Counts the changes of `groups`; the collector raises it after each. */
__u32 groups_generation __weak = 0;

/* No record and no count any more; set by the collector before it reads the counters. */
__u32 stopped __weak = 0;

/* The ring's size divided by four: filled further, a record wakes the reader. */
const volatile __u64 wake_bytes __weak = QP_RING_BYTES / 4;

#endif
