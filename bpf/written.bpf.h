/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which files a process wrote to already, and how many bytes. */
#ifndef QP_BPF_WRITTEN_BPF_H
#define QP_BPF_WRITTEN_BPF_H

#include "bpf/filter.bpf.h"
#include "bpf/sock.bpf.h"

#define TTY_MAJOR	   4
#define TTYAUX_MAJOR	   5
#define UNIX98_PTY_FIRST   136
#define UNIX98_PTY_LAST	   143
#define KERNEL_MAJOR(rdev) ((rdev) >> 20)

static __always_inline bool is_inet(u64 sk)
{
	u16 family = KREAD(struct sock, sk, __sk_common.skc_family);

	return family == AF_INET || family == AF_INET6;
}

/* Whether a write to that inode can change something outside of the process. */
static __always_inline bool inode_holds_data(u64 inode, u64 file)
{
	u16 format = KREAD(struct inode, inode, i_mode) & S_IFMT;

	if (format == S_IFREG || format == S_IFBLK)
		return true;
	if (format == S_IFCHR) {
		u32 major = KERNEL_MAJOR(KREAD(struct inode, inode, i_rdev));

		return major != TTY_MAJOR && major != TTYAUX_MAJOR &&
		       !(major >= UNIX98_PTY_FIRST && major <= UNIX98_PTY_LAST);
	}
	return format == S_IFSOCK &&
	       is_inet(KPTR(struct socket, KPTR(struct file, file, private_data), sk));
}

/* The current process and the inode, in the share of the log that the task's events go to. */
static __always_inline void written_key_fill(struct written_key *key, u64 inode)
{
	struct task_struct *task = bpf_get_current_task_btf();

	key->start_ns = task->group_leader->start_boottime;
	key->tgid = task->tgid;
	key->slot = task_slot(task);
	key->ino = KREAD(struct inode, inode, i_ino);
	key->dev = KREAD(struct super_block, KPTR(struct inode, inode, i_sb), s_dev);
	key->generation = KREAD(struct inode, inode, i_generation);
}

/* Two threads may add the same key at once: one of them does, both then find it. */
static __always_inline struct written_sum *written_add(void *map, const struct written_key *key)
{
	struct written_sum fresh = {};

	fresh.number = __sync_fetch_and_add(&written_numbers, 1) + 1;
	if (!bpf_map_update_elem(map, key, &fresh, BPF_NOEXIST))
		__sync_fetch_and_add(&written_cnt, 1);
	return bpf_map_lookup_elem(map, key);
}

static __always_inline struct written_sum *written_sum_get(const struct written_key *key)
{
	struct written_sum *sum;

	if (written_half & 1) {
		sum = bpf_map_lookup_elem(&written_odd, key);
		return sum ?: written_add(&written_odd, key);
	}
	sum = bpf_map_lookup_elem(&written_even, key);
	return sum ?: written_add(&written_even, key);
}

/*
 * Adds what a write to @file returned to the sum of the process and the file. The sum's
 * number for the first success and for the first failure, and for each that finds no room;
 * else 0.
 */
static __always_inline u32 written_note(u64 file, s64 ret)
{
	u32 bit = ret < 0 ? QP_WRITTEN_FAILED : QP_WRITTEN_OK;
	u64 inode = KPTR(struct file, file, f_inode);
	struct written_key key;
	struct written_sum *sum;

	if (!inode || !inode_holds_data(inode, file))
		return 0;
	written_key_fill(&key, inode);
	sum = written_sum_get(&key);
	if (!sum) {
		unsummed_count();
		return QP_WRITTEN_NO_NUMBER;
	}
	if (ret > 0)
		__sync_fetch_and_add(&sum->bytes, ret);
	if (sum->bits & bit)
		return 0;
	if (__sync_fetch_and_or(&sum->bits, bit) & bit)
		return 0;
	return sum->number ?: QP_WRITTEN_NO_NUMBER;
}

#endif
