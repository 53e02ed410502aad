/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that the programs of bpf/ use, and of each only the members they read.
 * Offsets are relocated at load time against the running kernel's BTF, so neither order
 * nor completeness matters, save for the context types and enums of the UAPI below.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u64 u64;
typedef __u32 u32;
typedef __u16 u16;
typedef __u8 u8;
typedef __s64 s64;
typedef __s32 s32;
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s32 int32_t;
typedef __s64 int64_t;
typedef _Bool bool;
enum { false = 0, true = 1 };

#define NULL ((void *)0)

/* ---- UAPI: fixed by the kernel's promise, never relocated -------------------------- */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
};

struct bpf_sock;

struct bpf_sock_addr {
	__u32 user_family;
	__u32 user_ip4;
	__u32 user_ip6[4];
	__u32 user_port;
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 msg_src_ip4;
	__u32 msg_src_ip6[4];
	union {
		struct bpf_sock *sk;
		__u64 pad;
	} __attribute__((aligned(8)));
};

/* ---- Kernel types ------------------------------------------------------------------ */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9;
	unsigned long bx, cx, bp;
	unsigned long orig_ax;
};
#else
/* What libbpf's macros for arguments read struct pt_regs as, which begins with it. */
struct user_pt_regs {
	u64 regs[31];
};

struct pt_regs {
	u64 regs[31];
	u64 orig_x0;
	s32 syscallno;
};
#endif

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

struct qstr {
	u32 len;
	const unsigned char *name;
};

struct hlist_bl_node {
	struct hlist_bl_node *next, **pprev;
};

struct file_system_type;

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
	struct dentry *s_root;
};

struct inode {
	u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_nlink;
	u32 i_rdev;
	void *i_private;
	u32 i_generation;
};

struct seqcount {
	unsigned int sequence;
};

struct seqcount_spinlock {
	struct seqcount seqcount;
};

struct dentry {
	struct seqcount_spinlock d_seq;
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};

struct mnt_namespace {
	struct mount *root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	unsigned int f_mode;
	void *private_data;
	struct inode *f_inode;
	struct path f_path;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct fs_struct {
	struct path root;
	struct path pwd;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct kernfs_node {
	u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct thread_info {
	unsigned long flags;
	u32 status;
};

struct signal_struct {
	atomic_t live;
};

/* For what it looks like, not for what it is: a number of eight bytes. */
struct timespec64 {
	s64 tv_sec;
};

struct cred {
	struct {
		u32 val;
	} uid;
};

struct mm_struct {
	unsigned long arg_start, arg_end;
	struct file *exe_file;
};

struct task_struct {
	struct thread_info thread_info;
	struct mm_struct *mm;
	int exit_code;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	u64 start_boottime;
	u64 self_exec_id;
	struct fs_struct *fs;
	struct files_struct *files;
	const struct cred *cred;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct css_set *cgroups;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	u32 fd;
	struct file *file;
};

struct linux_binprm {
	struct file *file;
	const char *filename;
	const char *interp;
};

struct in6_addr {
	union {
		u8 u6_addr8[16];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	u16 skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_type;
	u16 sk_protocol;
};

struct socket {
	struct sock *sk;
};

#pragma clang attribute pop

#endif
