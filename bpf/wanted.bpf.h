/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which calls that have a row are recorded. These are questions of volume, not of policy:
 * what is left out here changes nothing outside its own process.
 */
#ifndef QP_BPF_WANTED_BPF_H
#define QP_BPF_WANTED_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/sock.bpf.h"

#define PROT_WRITE    2
#define PROT_EXEC     4
#define MAP_SHARED    1 /* also a bit of MAP_SHARED_VALIDATE */
#define MAP_ANONYMOUS 0x20

#define PR_SET_DUMPABLE 4
#define PR_SET_PTRACER	0x59616d61

/* NEWTIME 0x80 is left out: for clone it is part of the signal number. */
#define CLONE_NEW_ANY 0x7e020000

#define TTY_MAJOR	   4
#define TTYAUX_MAJOR	   5
#define UNIX98_PTY_FIRST   136
#define UNIX98_PTY_LAST	   143
#define KERNEL_MAJOR(rdev) ((rdev) >> 20)
#define FMODE_CREATED	   0x100000

/* By the arguments alone. */
static __always_inline bool call_wanted(u32 call, u8 kind, const u64 *args,
					const struct task_state *state)
{
	switch (kind) {
	case QP_KIND_MMAP:
		if (call == QP_CALL_ID_mmap || call == QP_CALL_ID_mmap2) {
			if (!(args[2] & PROT_WRITE) || args[3] & MAP_ANONYMOUS)
				return false;
			return args[3] & MAP_SHARED || args[2] & PROT_EXEC;
		}
		return (args[2] & (PROT_WRITE | PROT_EXEC)) == (PROT_WRITE | PROT_EXEC);
	case QP_KIND_KILL:
		if (call == QP_CALL_ID_tkill)
			return (u32)args[0] != state->ns_tid && (u32)args[0] != state->ns_tgid;
		if (call == QP_CALL_ID_pidfd_send_signal)
			return true;
		return (u32)args[0] != state->ns_tgid;
	case QP_KIND_PRCTL:
		return args[0] == QP_HEARTBEAT || args[0] == PR_SET_PTRACER ||
		       args[0] == PR_SET_DUMPABLE;
	default:
		return true;
	}
}

/* Which argument holds the descriptor that a call of kind WRITE writes to. */
static __always_inline u32 written_argument(u32 call)
{
	if (call == QP_CALL_ID_copy_file_range || call == QP_CALL_ID_splice)
		return 2;
	return call == QP_CALL_ID_tee ? 1 : 0;
}

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

/* True for the first success and for the first failure on an open file. */
static __always_inline bool write_is_first(u64 file, bool failed)
{
	struct written_key key = {.file = file};
	u32 bit = failed ? WRITTEN_FAILED : WRITTEN_OK;
	u64 inode = KPTR(struct file, file, f_inode);
	u32 *bits, both;

	if (!inode || !inode_holds_data(inode, file))
		return false;
	key.ino = KREAD(struct inode, inode, i_ino);
	bits = bpf_map_lookup_elem(&written, &key);
	if (bits && *bits & bit)
		return false;
	both = bits ? *bits | bit : bit;
	bpf_map_update_elem(&written, &key, &both, BPF_ANY);
	return true;
}

/* An open returned @file: whatever was remembered of that address is of another file. */
static __always_inline void written_forget(u64 file)
{
	struct written_key key = {.file = file};
	u64 inode = KPTR(struct file, file, f_inode);

	if (!inode)
		return;
	key.ino = KREAD(struct inode, inode, i_ino);
	bpf_map_delete_elem(&written, &key);
}

#endif
