/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel knows of a socket. */
#include "bpf/record.bpf.h"
#include "bpf/sock.bpf.h"

u64 sock_of_file(u64 file)
{
	u64 inode;

	if (!file)
		return 0;
	inode = KPTR(struct file, file, f_inode);
	if (!inode || (KREAD(struct inode, inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	return KPTR(struct socket, KPTR(struct file, file, private_data), sk);
}

static __always_inline void sock_addresses(struct qp_sock *out, u64 sk)
{
	if (out->family == AF_INET) {
		*(u32 *)out->saddr = KREAD(struct sock, sk, __sk_common.skc_rcv_saddr);
		*(u32 *)out->daddr = KREAD(struct sock, sk, __sk_common.skc_daddr);
	} else if (out->family == AF_INET6) {
		u64 from = sk + bpf_core_field_offset(struct sock, __sk_common.skc_v6_rcv_saddr);
		u64 to = sk + bpf_core_field_offset(struct sock, __sk_common.skc_v6_daddr);

		((u64 *)out->saddr)[0] = KWORD(from);
		((u64 *)out->saddr)[1] = KWORD(from + 8);
		((u64 *)out->daddr)[0] = KWORD(to);
		((u64 *)out->daddr)[1] = KWORD(to + 8);
	} else {
		return;
	}
	out->sport = KREAD(struct sock, sk, __sk_common.skc_num);
	out->dport = bpf_ntohs(KREAD(struct sock, sk, __sk_common.skc_dport));
}

int append_sock(struct scratch *s, u64 file, u32 role)
{
	u64 sk = sock_of_file(file);
	struct qp_field *field;
	struct qp_sock *out;
	u32 pos;

	if (!s || !sk)
		return 0;
	pos = s->pos;
	if (pos > QP_EVENT_BYTES_MAX - sizeof(*field) - sizeof(*out)) {
		s->flags |= QP_EVENT_TRUNCATED;
		return 0;
	}
	field = (struct qp_field *)(s->data + pos);
	field->kind = QP_FIELD_SOCK;
	field->role = role;
	field->flags = 0;
	field->len = sizeof(*out);
	out = (struct qp_sock *)(field + 1);
	__builtin_memset(out, 0, sizeof(*out));
	out->family = KREAD(struct sock, sk, __sk_common.skc_family);
	out->type = KREAD(struct sock, sk, sk_type);
	out->protocol = KREAD(struct sock, sk, sk_protocol);
	out->state = KREAD(struct sock, sk, __sk_common.skc_state);
	out->cookie = KREAD(struct sock, sk, __sk_common.skc_cookie.counter);
	sock_addresses(out, sk);
	s->pos = pos + sizeof(*field) + sizeof(*out);
	return 0;
}
