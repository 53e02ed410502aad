/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which open files were written to already, so that the first write of each is recorded. */
#ifndef QP_BPF_WRITTEN_BPF_H
#define QP_BPF_WRITTEN_BPF_H

#include "bpf/core.bpf.h"
#include "bpf/maps.bpf.h"
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

/* True for the first success and for the first failure on an open file. */
static __always_inline bool written_first(u64 file, bool failed)
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
