/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own copy of the addresses that a task connects, sends and binds to. The
 * hooks let everything pass. */
#include "bpf/filter.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/sock.bpf.h"

static __always_inline int record_address(struct bpf_sock_addr *ctx, u8 hook, u8 family)
{
	struct task_struct *task = current_task();
	struct task_state numbers = {};
	struct qp_sockaddr *body;
	struct scratch *s;

	if (stopped || !task_is_tracked(task))
		return 1;
	/* Read anew: Linux 6.1 has no task storage for these hooks. */
	task_state_number(&numbers, task);
	s = scratch_take(QP_EVENT_SOCKADDR, sizeof(*body), &numbers);
	if (!s)
		return 1;
	body = scratch_body(s);
	__builtin_memset(body, 0, sizeof(*body));
	body->hook = hook;
	body->family = family;
	body->protocol = ctx->protocol;
	body->type = ctx->type;
	body->dport = bpf_ntohs((u16)ctx->user_port);
	if (family == AF_INET) {
		*(u32 *)body->addr = ctx->user_ip4;
	} else {
		((u32 *)body->addr)[0] = ctx->user_ip6[0];
		((u32 *)body->addr)[1] = ctx->user_ip6[1];
		((u32 *)body->addr)[2] = ctx->user_ip6[2];
		((u32 *)body->addr)[3] = ctx->user_ip6[3];
	}
	body->cookie = bpf_get_socket_cookie(ctx);
	record_emit(s, QP_EVENT_SOCKADDR);
	return 1;
}

SEC("cgroup/connect4")
int on_connect4(struct bpf_sock_addr *ctx)
{
	return record_address(ctx, QP_HOOK_CONNECT, AF_INET);
}

SEC("cgroup/connect6")
int on_connect6(struct bpf_sock_addr *ctx)
{
	return record_address(ctx, QP_HOOK_CONNECT, AF_INET6);
}

SEC("cgroup/sendmsg4")
int on_sendmsg4(struct bpf_sock_addr *ctx)
{
	return record_address(ctx, QP_HOOK_SENDMSG, AF_INET);
}

SEC("cgroup/sendmsg6")
int on_sendmsg6(struct bpf_sock_addr *ctx)
{
	return record_address(ctx, QP_HOOK_SENDMSG, AF_INET6);
}

SEC("cgroup/bind4")
int on_bind4(struct bpf_sock_addr *ctx)
{
	return record_address(ctx, QP_HOOK_BIND, AF_INET);
}

SEC("cgroup/bind6")
int on_bind6(struct bpf_sock_addr *ctx)
{
	return record_address(ctx, QP_HOOK_BIND, AF_INET6);
}
