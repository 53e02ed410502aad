/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a request names: paths and attributes, of which the kernel has its own copy by now,
 * and the addresses of sockets. No memory of the task's is looked at where it need not be.
 */
#ifndef QP_BPF_URING_NAMES_BPF_H
#define QP_BPF_URING_NAMES_BPF_H

#include "bpf/sock.bpf.h"
#include "bpf/uring_args.bpf.h"

#define AT_FDCWD ((u32)-100)

/* The ring's registered file or the descriptor's, by what the request says. */
static __always_inline u64 request_file(u64 req, const struct uring_request *r, u32 fd)
{
	return r->fixed ? registered_file(KPTR(struct io_kiocb, req, ctx), fd) : file_of_fd(fd);
}

/* The path argument @role of the struct filename at @filename, and, unless it is absolute,
 * where it starts from. True when that is the working directory. */
static __noinline bool append_name(struct scratch *s, struct uring_request *r, u64 filename,
				   u32 role, u32 dirfd_role)
{
	u64 name = filename ? KPTR(struct filename, filename, name) : 0;
	u64 dirfd = AT_FDCWD;
	char first = 0;

	if (role < URING_ARGS && filename)
		r->args[role] = KPTR(struct filename, filename, uptr);
	append_kernel_string(s, name, role);
	bpf_probe_read_kernel(&first, sizeof(first), (void *)name);
	if (first == '/')
		return false;
	barrier_var(dirfd_role); /* the test's very register is what the verifier knows */
	if (dirfd_role < URING_ARGS)
		dirfd = (u32)r->args[dirfd_role];
	if (dirfd == AT_FDCWD)
		return true;
	append_file(s, file_of_fd(dirfd), dirfd_role);
	return false;
}

/* Inline: the frames of a chain of calls are only eight, and the walk of a path needs five. */
static __always_inline void append_names(struct scratch *s, u64 req, struct uring_request *r)
{
	bool cwd = false;

	switch (r->shape) {
	case URING_OPEN:
		cwd = append_name(s, r, UPTR(io_open, req, filename), 1, 0);
		break;
	case URING_UNLINK:
		cwd = append_name(s, r, UPTR(io_unlink, req, filename), 1, 0);
		break;
	case URING_MKDIR:
		cwd = append_name(s, r, UPTR(io_mkdir, req, filename), 1, 0);
		break;
	case URING_RENAME:
		cwd = append_name(s, r, UPTR(io_rename, req, oldpath), 1, 0);
		cwd |= append_name(s, r, UPTR(io_rename, req, newpath), 3, 2);
		break;
	case URING_LINK:
		cwd = append_name(s, r, UPTR(io_link, req, oldpath), 1, 0);
		cwd |= append_name(s, r, UPTR(io_link, req, newpath), 3, 2);
		break;
	case URING_SYMLINK:
		append_kernel_string(s, KPTR(struct filename, UPTR(io_link, req, oldpath), name),
				     0);
		cwd = append_name(s, r, UPTR(io_link, req, newpath), 2, 1);
		break;
	case URING_SETXATTR:
		cwd = append_name(s, r, UPTR(io_xattr, req, filename), 0, NO_ROLE);
		append_kernel_string(s, UPTR(io_xattr, req, ctx.kname), 1);
		break;
	case URING_FSETXATTR:
		append_kernel_string(s, UPTR(io_xattr, req, ctx.kname), 1);
		return;
	default:
		return;
	}
	if (cwd)
		append_cwd(s);
	append_root(s);
}

/* Bytes of the kernel's as one field; what is longer than an address may be is cut. */
static __noinline void append_kernel_bytes(struct scratch *s, u64 addr, u32 len, u32 kind_role)
{
	u32 n = len < QP_SOCKADDR_BYTES_MAX ? len : QP_SOCKADDR_BYTES_MAX;
	struct qp_field *field;
	u32 pos = s->pos;

	if (!addr || !len)
		return;
	if (pos > QP_EVENT_BYTES_MAX - sizeof(*field) - QP_SOCKADDR_BYTES_MAX - 8) {
		s->flags |= QP_EVENT_TRUNCATED;
		return;
	}
	field = (struct qp_field *)(s->data + pos);
	barrier_var(n);
	if (n > QP_SOCKADDR_BYTES_MAX)
		return;
	field->kind = kind_role & 0xff;
	field->role = kind_role >> 8;
	field->flags = bpf_probe_read_kernel(field + 1, n, (void *)addr) ? QP_FIELD_FAULT : 0;
	field->len = field->flags ? 0 : n;
	*(u64 *)(s->data + pos + sizeof(*field) + n) = 0; /* the padding */
	s->pos = pos + sizeof(*field) + ((field->len + 7) & ~7U);
}

/* Where the request's socket is to connect, be bound, or send to. */
static __noinline void append_address(struct scratch *s, u64 req, const struct uring_request *r)
{
	u32 kind_role = KIND_ROLE(QP_FIELD_SOCKADDR, r->shape == URING_SEND ? 4 : 1);
	u64 copy = has_address_copy() ? KPTR(struct io_kiocb, req, async_data) : 0;
	u64 sk = sock_of_file(request_file(req, r, r->args[0]));

	if (copy && (r->shape == URING_CONNECT || r->shape == URING_BIND)) {
		u16 family = sk ? KREAD(struct sock, sk, __sk_common.skc_family) : 0;

		append_kernel_bytes(s, address_copy(copy, family), r->args[2], kind_role);
	} else if (copy) {
		append_kernel_bytes(s, UPTR(io_async_msghdr, copy, msg.msg_name),
				    UREAD(io_async_msghdr, copy, msg.msg_namelen), kind_role);
	} else if (r->shape == URING_CONNECT) {
		append_user_bytes(s, r->args[1], r->args[2], kind_role);
	} else if (r->shape == URING_SEND) {
		append_user_bytes(s, r->args[4], r->args[5], kind_role);
	}
}

#endif
