/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every map and global of the programs. */
#ifndef QP_BPF_MAPS_BPF_H
#define QP_BPF_MAPS_BPF_H

#include "bpf/core.bpf.h"
#include "bpf/counters.h"

/* Groups being recorded, each with its slot. Key: kernel id of a cgroup v2 folder. The
 * collector adds and deletes; on_cgroup_mkdir adds what the collector may want. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QP_SLOTS_MAX);
	__type(key, u64);
	__type(value, u32);
} groups SEC(".maps");

/* Slots that no one has. The collector fills it, takes and gives back; so does
 * on_cgroup_mkdir. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, QP_SLOTS_MAX);
	__type(value, u32);
} free_slots SEC(".maps");

/*
 * Folders in which groups that the collector wants can be made. Bit k of the value: those
 * k + 1 levels below. The collector adds what there is, on_cgroup_mkdir what comes;
 * on_cgroup_rmdir deletes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QP_PARENTS_MAX);
	__type(key, u64);
	__type(value, u32);
} parents SEC(".maps");

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
	/* Of a call by path: where it acts, by its path arguments (object.bpf.c). */
	struct {
		u64 vfsmount;
		u64 dentry;
	} objects[2];
	u64 objects_told; /* they are recorded */
	u64 home;	  /* id of the tracked group that it is in, itself or below */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} task_states SEC(".maps");

/* The records' way to userspace. The collector sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, QP_RING_BYTES);
} events SEC(".maps");

/*
 * System calls by ABI and number, QP_NR_CNT for each ABI; the last of an ABI's takes
 * numbers that are out of range. Counted here whether recorded or not. This one is for a
 * collector of one slot; more slots than one would make it too large (32 KiB a slot and
 * CPU), so they are counted in slot_call_counts. The collector makes the other one small.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, QP_ABI_CNT *QP_NR_CNT);
	__type(key, u32);
	__type(value, u64);
} call_counts SEC(".maps");

/* The same by QP_CALL_KEY. The collector takes a slot's entries out when its log ends; a
 * call that finds the map full is in the slot's `syscalls` only. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, QP_CALL_KEYS_MAX);
	__type(key, u32);
	__type(value, u64);
} slot_call_counts SEC(".maps");

/* Key: a slot. Set by the kernel side alone; for the bound on events per second. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QP_SLOTS_MAX + 1);
	__type(key, u32);
	__type(value, struct qp_rate);
} rates SEC(".maps");

/* Key: a slot. Each CPU's accounting of its records. The collector makes it smaller, and
 * clears what it gives back. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, QP_SLOTS_MAX + 1);
	__type(key, u32);
	__type(value, struct qp_cpu_counters);
} cpu_counters SEC(".maps");

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
	u64 slot;    /* stands before the data in the ring */
	u8 data[QP_EVENT_BYTES_MAX + SCRATCH_TAIL];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QP_SCRATCH_SLOTS);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/*
 * What each process wrote to each file, by whatever descriptor. Nothing is deleted while a program
 * may still be adding to it: the collector makes the other map the one in use (written_half),
 * waits, and then takes all that the first one holds into the logs. What finds no room is counted
 * in qp_cpu_counters.unsummed.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QP_WRITTEN_MAX);
	__type(key, struct written_key);
	__type(value, struct written_sum);
} written_even SEC(".maps"), written_odd SEC(".maps");

/* The lowest bit says which of them is in use; the collector raises it. */
__u32 written_half = 0;

/* The last number that was given to a sum, and how many sums the map in use has: above half,
 * it is the collector's turn. */
__u32 written_numbers = 0;
__u32 written_cnt = 0;

/* A name that a process read from its environment, since its last exec. */
struct env_key {
	u64 start_ns; /* of the process: its number is used again */
	u32 tgid;
	u32 execs;
	char name[QP_ENV_NAME_FOLDED];
};

/* The names that were recorded. When it is full the oldest goes, and a read of that name is
 * recorded once more. The collector makes it small where no one watches. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct env_key);
	__type(value, u8);
} env_names SEC(".maps");

/* Set when the reader was woken and has not begun to read yet: one wake-up is enough. The
 * collector clears it. */
__u32 wake_pending = 0;

/* Counts the changes of `groups`; the collector raises it after each. */
__u32 groups_generation = 0;

/* Notices that did not fit into the ring, folders and groups that found no place: the
 * collector then looks for itself. */
__u32 notices_lost = 0;

/* The slot whose processes the iterators are to tell of, and how many they had to leave
 * out. Set by the collector before it reads them. */
__u32 join_slot = 0;
__u32 join_missed = 0;

/* No record and no count any more; set by the collector before it reads the counters. */
__u32 stopped = 0;

/* The ring's size divided by four: filled further, a record wakes the reader. */
const volatile __u64 wake_bytes = QP_RING_BYTES / 4;

/* Whether there are several slots. */
const volatile bool many_slots = false;

/* The events of a slot in one second, 0: without bound. */
const volatile __u64 rate_max = 0;

#endif
