/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A request as the system call of its row in bpf/uring.def: which arguments it would have. */
#ifndef QP_BPF_URING_ARGS_BPF_H
#define QP_BPF_URING_ARGS_BPF_H

#include "bpf/record.bpf.h"
#include "bpf/uring.h"
#include "bpf/uring_core.bpf.h"

#define URING_ARGS 6

enum uring_shape {
	URING_NONE,
	URING_OPEN,
	URING_UNLINK,
	URING_MKDIR,
	URING_RENAME,
	URING_SYMLINK,
	URING_LINK,
	URING_SETXATTR,
	URING_FSETXATTR,
	URING_WRITE,
	URING_WRITEV,
	URING_SPLICE,
	URING_TEE,
	URING_FALLOCATE,
	URING_FTRUNCATE,
	URING_CONNECT,
	URING_BIND,
	URING_LISTEN,
	URING_ACCEPT,
	URING_SOCKET,
	URING_SEND,
	URING_SENDMSG,
	URING_COMMAND,
	URING_SHAPE_CNT
};

struct uring_row {
	u16 call;
	u8 shape;
};

static const struct uring_row uring_rows[QP_URING_OP_CNT] = {
#define QP_URING(name, number, call, shape) [number] = {QP_CALL_##call, URING_##shape},
#include "bpf/uring.def"
#undef QP_URING
};

#define NO_ROLE 0xff

/* The argument that is the request's own file, by shape. */
static const u8 uring_file_roles[URING_SHAPE_CNT] = {
	[URING_NONE] = NO_ROLE,	 [URING_OPEN] = NO_ROLE,   [URING_UNLINK] = NO_ROLE,
	[URING_MKDIR] = NO_ROLE, [URING_RENAME] = NO_ROLE, [URING_SYMLINK] = NO_ROLE,
	[URING_LINK] = NO_ROLE,	 [URING_SOCKET] = NO_ROLE, [URING_SETXATTR] = NO_ROLE,
	[URING_SPLICE] = 2,	 [URING_TEE] = 1,
};

/* What is remembered of a request between its submission and its result. */
struct uring_request {
	struct record_owner owner;
	u64 entered_ns;
	u64 args[URING_ARGS];
	u32 serial;
	u32 slot;
	u32 ns_tgid;
	u32 ns_tid;
	u16 call;
	u8 opcode;
	u8 shape;
	u8 abi;
	u8 flags; /* QP_CALL_* of the record */
	u8 fixed; /* the descriptor is an index of the ring's registered files */
	u8 pad;
};

/* Calls that act by path; of the paths, bpf/uring_names.bpf.h. */
static __always_inline void path_arguments(u64 req, u32 shape, u64 *args)
{
	switch (shape) {
	case URING_OPEN:
		args[0] = UREAD(io_open, req, dfd);
		args[2] = UREAD(io_open, req, how.flags);
		args[3] = UREAD(io_open, req, how.mode);
		break;
	case URING_UNLINK:
		args[0] = UREAD(io_unlink, req, dfd);
		args[2] = UREAD(io_unlink, req, flags);
		break;
	case URING_MKDIR:
		args[0] = UREAD(io_mkdir, req, dfd);
		args[2] = UREAD(io_mkdir, req, mode);
		break;
	case URING_RENAME:
		args[0] = UREAD(io_rename, req, old_dfd);
		args[2] = UREAD(io_rename, req, new_dfd);
		args[4] = UREAD(io_rename, req, flags);
		break;
	case URING_LINK:
		args[0] = UREAD(io_link, req, old_dfd);
		args[2] = UREAD(io_link, req, new_dfd);
		args[4] = UREAD(io_link, req, flags);
		break;
	case URING_SYMLINK:
		args[1] = UREAD(io_link, req, new_dfd);
		break;
	case URING_SETXATTR:
	case URING_FSETXATTR:
		args[3] = UREAD(io_xattr, req, ctx.size);
		args[4] = UREAD(io_xattr, req, ctx.flags);
		break;
	}
}

/* Calls on sockets; the descriptor is in args[0] already. */
static __always_inline void socket_arguments(u64 req, u32 shape, u64 *args)
{
	switch (shape) {
	case URING_CONNECT:
		args[1] = UPTR(io_connect, req, addr);
		args[2] = UREAD(io_connect, req, addr_len);
		break;
	case URING_BIND:
		args[2] = UREAD(io_bind, req, addr_len);
		break;
	case URING_LISTEN:
		args[1] = UREAD(io_listen, req, backlog);
		break;
	case URING_ACCEPT:
		args[3] = UREAD(io_accept, req, flags);
		break;
	case URING_SOCKET:
		args[0] = UREAD(io_socket, req, domain);
		args[1] = UREAD(io_socket, req, type);
		args[2] = UREAD(io_socket, req, protocol);
		break;
	case URING_SEND:
		args[1] = UPTR(io_sr_msg, req, buf);
		args[2] = UREAD(io_sr_msg, req, len);
		args[3] = UREAD(io_sr_msg, req, msg_flags);
		args[4] = UPTR(io_sr_msg, req, addr);
		args[5] = UREAD(io_sr_msg, req, addr_len);
		break;
	case URING_SENDMSG:
		args[1] = UPTR(io_sr_msg, req, buf);
		args[2] = UREAD(io_sr_msg, req, msg_flags);
		break;
	}
}

/* Calls on open files; the descriptor is in args[0] already. */
static __always_inline void file_arguments(u64 req, u32 shape, u64 *args)
{
	switch (shape) {
	case URING_WRITE:
	case URING_WRITEV:
		args[1] = UREAD(io_rw, req, addr);
		args[2] = UREAD(io_rw, req, len);
		break;
	case URING_SPLICE:
		args[2] = args[0];
		args[0] = UREAD(io_splice, req, splice_fd_in);
		args[4] = UREAD(io_splice, req, len);
		args[5] = UREAD(io_splice, req, flags);
		break;
	case URING_TEE:
		args[1] = args[0];
		args[0] = UREAD(io_splice, req, splice_fd_in);
		args[2] = UREAD(io_splice, req, len);
		args[3] = UREAD(io_splice, req, flags);
		break;
	case URING_FALLOCATE:
		args[1] = UREAD(io_sync, req, mode);
		args[2] = UREAD(io_sync, req, off);
		args[3] = UREAD(io_sync, req, len);
		break;
	case URING_FTRUNCATE:
		args[1] = UREAD(io_ftrunc, req, len);
		break;
	case URING_COMMAND:
		args[1] = UREAD(io_uring_cmd, req, cmd_op);
		break;
	}
}

#endif
