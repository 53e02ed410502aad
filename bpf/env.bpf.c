/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads of environment variables: probes on getenv and secure_getenv of the C libraries
 * that the collector finds. Names only; no value is looked at. */
#include "bpf/filter.bpf.h"
#include "bpf/scratch.bpf.h"

#define EEXIST	   17
#define PAGE_BYTES 4096 /* or a divisor of it: more pages are looked at than there are */

/* A name that lies in the program's file is often not in memory before its first use. A
 * program that may sleep can wait for it; one that only copies would see a fault. */
static __always_inline void page_in(u64 user, u32 bytes)
{
	u64 last = (user + bytes - 1) & ~(u64)(PAGE_BYTES - 1);
	u8 byte;

	bpf_copy_from_user(&byte, sizeof(byte), (void *)user);
	if (last > user)
		bpf_copy_from_user(&byte, sizeof(byte), (void *)last);
}

/*
 * Whether the process asks for this name for the first time since its last exec. The key
 * holds the name itself, for a hash could be met on purpose; a longer name is always new.
 */
static __always_inline bool name_is_new(struct task_struct *task, u64 user)
{
	struct env_key key;
	u8 one = 1;
	long len;

	__builtin_memset(&key, 0, sizeof(key));
	task = PLAIN(task);
	key.start_ns = task->group_leader->start_boottime;
	key.tgid = task->tgid;
	key.execs = task->self_exec_id;
	len = bpf_probe_read_user_str(key.name, sizeof(key.name), (void *)user);
	if (len <= 0 || len == sizeof(key.name))
		return true;
	/* Only who adds the key has the first read: two threads may ask at once. Linux before
	 * 6.4 returns 32 bits, not extended to the 64 of the helper's type. */
	return (int)bpf_map_update_elem(&env_names, &key, &one, BPF_NOEXIST) != -EEXIST;
}

SEC("uprobe.s")
int BPF_KPROBE(on_getenv, const char *name)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 user = (u64)name;
	struct task_state *state;
	struct scratch *s;

	if (stopped || !task_is_tracked(task))
		return 0;
	page_in(user, QP_ENV_NAME_FOLDED);
	if (!name_is_new(task, user))
		return 0;
	state = task_state_get(task);
	if (!state) {
		record_lost(QP_EVENT_ENV);
		return 0;
	}
	s = scratch_take(QP_EVENT_ENV, 0, state);
	if (!s)
		return 0;
	append_user_string(s, user, 0);
	return record_emit(s, QP_EVENT_ENV);
}
