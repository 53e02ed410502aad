/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_uring's own types, of each only the members that bpf/ reads; some are not in every
 * kernel (bpf/uring_core.bpf.h). A request's command data begins at the request itself.
 */
#ifndef __VMLINUX_IO_URING_H__
#define __VMLINUX_IO_URING_H__

#include "vmlinux.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct io_fixed_file {
	unsigned long file_ptr;
};

struct io_rsrc_node {
	unsigned long file_ptr;
};

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};

struct io_file_table {
	struct io_fixed_file *files;
	struct io_rsrc_data data;
};

struct io_ring_ctx {
	unsigned int compat : 1;
	struct io_file_table file_table;
};

struct io_cqe {
	u64 user_data;
	s32 res;
	int fd;
};

struct io_uring_cqe {
	u64 user_data;
	s32 res;
};

struct io_kiocb {
	struct file *file;
	u8 opcode;
	u32 flags;
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
	void *async_data;
};

struct filename {
	const char *name;
	const char *uptr;
};

struct open_how {
	u64 flags;
	u64 mode;
	u64 resolve;
};

struct io_open {
	int dfd;
	u32 file_slot;
	struct filename *filename;
	struct open_how how;
};

struct io_unlink {
	int dfd;
	int flags;
	struct filename *filename;
};

struct io_mkdir {
	int dfd;
	u16 mode;
	struct filename *filename;
};

struct io_rename {
	int old_dfd;
	int new_dfd;
	struct filename *oldpath;
	struct filename *newpath;
	int flags;
};

struct io_link {
	int old_dfd;
	int new_dfd;
	struct filename *oldpath;
	struct filename *newpath;
	int flags;
};

struct xattr_name {
	char name[256];
};

struct kernel_xattr_ctx {
	unsigned long size;
	struct xattr_name *kname;
	unsigned int flags;
};

struct io_xattr {
	struct kernel_xattr_ctx ctx;
	struct filename *filename;
};

struct kiocb {
	s64 ki_pos;
};

struct io_rw {
	struct kiocb kiocb;
	u64 addr;
	u32 len;
};

struct io_splice {
	u64 len;
	int splice_fd_in;
	unsigned int flags;
};

struct io_sync {
	s64 len;
	s64 off;
	int mode;
};

struct io_ftrunc {
	s64 len;
};

struct sockaddr;

struct __kernel_sockaddr_storage {
	unsigned short ss_family;
};

struct io_connect {
	struct sockaddr *addr;
	int addr_len;
};

struct io_bind {
	int addr_len;
};

struct io_listen {
	int backlog;
};

struct io_accept {
	int flags;
	u32 file_slot;
};

struct io_socket {
	int domain;
	int type;
	int protocol;
	int flags;
};

struct io_sr_msg {
	void *buf;
	int len;
	unsigned int msg_flags;
	u16 addr_len;
	void *addr;
};

struct msghdr {
	void *msg_name;
	int msg_namelen;
};

struct iou_vec {
	unsigned int nr;
};

struct io_async_msghdr {
	struct iou_vec vec;
	struct msghdr msg;
	struct __kernel_sockaddr_storage addr;
};

struct io_async_connect {
	struct __kernel_sockaddr_storage address;
};

struct io_uring_cmd {
	u32 cmd_op;
};

#pragma clang attribute pop

#endif
