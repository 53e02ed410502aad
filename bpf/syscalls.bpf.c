/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entry and the exit of every system call: counts all of them, records those that
 * syscalls.def and wanted.bpf.h name.
 */
#include "bpf/abi.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/sock.bpf.h"
#include "bpf/wanted.bpf.h"

#define AT_FDCWD    ((u32)-100)
#define HOW_BYTES   24 /* struct open_how */
#define CLONE_BYTES 8  /* the flags of struct clone_args */

/* Global, for the verifier to look at it once. */
int count_call_in(u32 slot, u32 index)
{
	struct qp_cpu_counters *counters = bpf_map_lookup_elem(&cpu_counters, &slot);
	u32 key = slot * (QP_ABI_CNT * QP_NR_CNT) + index;
	u64 *count = bpf_map_lookup_elem(&slot_call_counts, &key);
	u64 zero = 0;

	if (counters)
		__sync_fetch_and_add(&counters->syscalls, 1);
	if (!count) {
		bpf_map_update_elem(&slot_call_counts, &key, &zero, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&slot_call_counts, &key);
	}
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}

static __always_inline void count_call(u32 slot, struct pt_regs *regs, u8 abi, u32 nr)
{
	u32 index;
	u64 *count;

	abi_counted(regs, &abi, &nr);
	index = abi * QP_NR_CNT + (nr < QP_NR_CNT ? nr : QP_NR_CNT - 1);
	if (many_slots) {
		count_call_in(slot, index);
		return;
	}
	count = bpf_map_lookup_elem(&call_counts, &index);
	if (count)
		__sync_fetch_and_add(count, 1);
}

/* What a descriptor stands for: a socket by its addresses, all else by its path. */
static __always_inline void append_descriptor(struct scratch *s, u64 fd, u32 role)
{
	u64 file = file_of_fd(fd);

	if (sock_of_file(file))
		append_sock(s, file, role);
	else
		append_file(s, file, role);
}

struct recorded {
	u32 type;
	u32 call;
	s64 ret;
	u32 written;
	u8 flags;
	bool has_cwd; /* these are in the record once */
	bool has_root;
};

/* Roles that give rise to a field. */
#define FIELD_ROLES                                                                                \
	(1U << QP_ARG_FD | 1U << QP_ARG_PATH | 1U << QP_ARG_STRING | 1U << QP_ARG_BUF |            \
	 1U << QP_ARG_IOVEC | 1U << QP_ARG_MSGHDR | 1U << QP_ARG_MMSGHDR | 1U << QP_ARG_SOCKADDR | \
	 1U << QP_ARG_ARGV | 1U << QP_ARG_HOW | 1U << QP_ARG_PIDFD)

/* A path as the task spells it and, unless it is absolute, the place that it starts from. */
static __always_inline void append_spelt_path(struct scratch *s, const struct call_row *row, u32 i,
					      const struct task_state *state, struct recorded *r)
{
	int begins = append_user_string(s, state->args[i], i);
	bool absolute = begins > 0;
	u64 dirfd = AT_FDCWD;
	u32 before = i - 1;

	if (begins == STRING_MAGIC) {
		int own = own_link(state->args[i]);

		if (own >= 0)
			append_file(s, file_of_fd(own), QP_ROLE_NAMED + i);
		else if (own == OWN_CWD && !r->has_cwd) {
			append_cwd(s);
			r->has_cwd = true;
		}
	}
	if (r->type != QP_EVENT_ENTER && row->kind != QP_KIND_OPEN && row->kind != QP_KIND_EXEC)
		return;	     /* the entry's record has the rest */
	barrier_var(before); /* Linux 6.1 learns a bound from "< 5", not from i != 0 */
	if (before < 5 && row->roles[before] == QP_ARG_DIRFD)
		dirfd = (u32)state->args[before];
	if (!absolute && dirfd != AT_FDCWD) {
		append_file(s, file_of_fd(dirfd), before);
	} else if (!absolute && !r->has_cwd) {
		append_cwd(s);
		r->has_cwd = true;
	}
	if (!r->has_root) {
		append_root(s);
		r->has_root = true;
	}
}

/* What is wanted of one argument. Global, for the verifier to look at it once and not for
 * every argument of every caller. */
int append_argument(struct scratch *s, struct task_state *state, struct recorded *r, u32 i)
{
	const struct call_row *row;
	u64 arg, next = 0;
	u32 behind = i + 1;
	u32 pointer, call;

	if (!s || !state || !r || i >= CALL_ARGS)
		return 0;
	arg = state->args[i];
	barrier_var(behind); /* Linux 6.1 learns the bound of this, not of what i says of it */
	if (behind < CALL_ARGS)
		next = state->args[behind];
	pointer = abi_pointer_bytes(state->abi);
	call = r->call;
	barrier_var(call); /* and forgets a bound that is learnt further up */
	if (call >= QP_CALL_ID_CNT)
		return 0;
	row = &call_rows[call];
	switch (row->roles[i]) {
	case QP_ARG_PATH:
		append_spelt_path(s, row, i, state, r);
		break;
	case QP_ARG_STRING:
		append_user_string(s, arg, i);
		break;
	case QP_ARG_ARGV:
		append_argv_array(s, arg, i, pointer);
		break;
	case QP_ARG_HOW:
		append_user_bytes(s, arg, HOW_BYTES, KIND_ROLE(QP_FIELD_PAYLOAD, i));
		break;
	case QP_ARG_PIDFD:
		append_pidfd(s, arg, i);
		break;
	case QP_ARG_FD:
		if (r->type == QP_EVENT_ENTER)
			break;
		if (row->kind == QP_KIND_WRITE && i != written_argument(r->call))
			break;
		append_descriptor(s, arg, i);
		break;
	case QP_ARG_SOCKADDR:
		append_user_bytes(s, arg, (u32)next, KIND_ROLE(QP_FIELD_SOCKADDR, i));
		break;
	case QP_ARG_MSGHDR:
	case QP_ARG_MMSGHDR:
		append_message(s, arg, i, pointer);
		break;
	case QP_ARG_BUF:
		append_user_bytes(s, arg, next, KIND_ROLE(QP_FIELD_PAYLOAD, i));
		break;
	case QP_ARG_IOVEC:
		if (row->kind == QP_KIND_WRITE && next)
			append_iovec(s, arg, i, pointer);
		break;
	}
	return 0;
}

static __noinline int record_call(struct task_state *state, struct recorded *r)
{
	const struct call_row *row;
	struct qp_call *body;
	struct scratch *s;

	if (!state || !r || r->call >= QP_CALL_ID_CNT)
		return 0;
	row = &call_rows[r->call];
	barrier_var(row); /* Linux 6.1 keeps the bound of a pointer on the stack, not of a number */
	s = scratch_take(r->type, sizeof(*body), state);
	if (!s)
		return 0;
	body = scratch_body(s);
	body->call = r->call;
	body->nr = state->nr;
	body->abi = state->abi;
	body->flags = r->flags;
	body->pad = 0;
	body->written = r->written;
	body->request = 0;
	body->pad2 = 0;
	body->ret = r->ret;
	for (int i = 0; i < CALL_ARGS; i++)
		body->args[i] = state->args[i];
	body->entered_ns = state->entered_ns;
	if (row->kind == QP_KIND_OPEN && r->ret >= 0) {
		if (append_opened(s, r->ret))
			for (int i = 0; i < CALL_ARGS; i++)
				if (row->roles[i] == QP_ARG_PATH)
					append_argument(s, state, r, i);
		if (r->call == QP_CALL_ID_openat2)
			append_user_bytes(s, state->args[2], HOW_BYTES,
					  KIND_ROLE(QP_FIELD_PAYLOAD, 2));
	} else {
		for (int i = 0; i < CALL_ARGS; i++)
			if (1U << row->roles[i] & FIELD_ROLES)
				append_argument(s, state, r, i);
		if (r->call == QP_CALL_ID_clone3)
			append_user_bytes(s, state->args[0], CLONE_BYTES,
					  KIND_ROLE(QP_FIELD_PAYLOAD, 0));
		if (row->kind == QP_KIND_LISTEN && r->call != QP_CALL_ID_listen)
			append_sock(s, file_of_fd(r->ret), QP_ROLE_RET);
		/* The collector looks at once where the path led, unless the kernel has told. */
		s->wake = row->flags & ROW_BY_PATH && r->type == QP_EVENT_CALL && r->ret == 0 &&
			  !state->objects_told;
	}
	return record_emit(s, r->type);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long id)
{
	struct task_struct *task = current_task();
	struct task_state *state;
	u32 slot = task_slot(task);
	u32 nr, call;
	u8 abi, kind;

	if (!slot || stopped)
		return 0;
	abi = abi_of_call(task, id);
	nr = abi == QP_ABI_X32 ? (u32)id & ~X32_BIT : (u32)id;
	call = call_of(abi, nr);
	if (counted_at_exit(abi, nr, call))
		return 0;
	count_call(slot, regs, abi, nr);
	state = task_state_get(bpf_get_current_task_btf());
	if (!state) {
		if (call)
			record_lost(QP_EVENT_CALL);
		return 0;
	}
	state->nr = nr;
	state->abi = abi;
	state->phase = PHASE_CALL;
	state->call = 0;
	if (!call && !(abi == QP_ABI_I386 && nr == I386_SOCKETCALL))
		return 0;
	abi_arguments(regs, abi, state->args);
	call = abi_unwrap(abi, nr, call, state->args);
	if (call >= QP_CALL_ID_CNT)
		return 0;
	barrier_var(call); /* one range check for both would hide the bound from Linux 6.1 */
	if (!call)
		return 0;
	kind = call_rows[call].kind;
	if (!call_wanted(call, kind, state->args, state))
		return 0;
	state->call = call;
	state->entered_ns = 0;
	if (call_rows[call].flags & ROW_BY_PATH) {
		struct recorded r = {.type = QP_EVENT_ENTER, .call = call};

		state->entered_ns = bpf_ktime_get_boot_ns();
		state->objects[0].vfsmount = 0;
		state->objects_told = 0;
		record_call(state, &r);
	}
	return 0;
}

/* By what the call came to. */
static __always_inline bool exit_wanted(const struct task_state *state, struct recorded *r)
{
	u32 call = r->call;
	bool failed = r->ret < 0;

	if (call >= QP_CALL_ID_CNT)
		return false;
	switch (call_rows[call].kind) {
	case QP_KIND_EXEC:
		return failed;
	case QP_KIND_LISTEN:
		return call == QP_CALL_ID_listen || !failed || r->flags & QP_CALL_BLOCKED;
	case QP_KIND_CLONE:
		if (failed)
			return true;
		if (call == QP_CALL_ID_clone)
			return state->args[0] & CLONE_NEW_ANY;
		u64 flags = 0;

		if (bpf_probe_read_user(&flags, sizeof(flags), (void *)state->args[0]))
			return true;
		return flags & (CLONE_NEW_ANY | 0x80);
	case QP_KIND_WRITE:
		/* What seccomp's answer says was written was not. */
		r->written = write_sum(state->args[written_argument(call) & 3],
				       r->flags & QP_CALL_BLOCKED && !failed ? 0 : r->ret);
		return r->written != 0;
	}
	return true;
}

/*
 * An exit whose entry was not seen: seccomp turned the call away before it. The arguments
 * are still in the registers. A task whose state is new was in a call when its recording
 * began, which says nothing.
 */
static __noinline u32 blocked_call(struct task_struct *task, struct task_state *state,
				   struct pt_regs *regs)
{
	s64 id = abi_number_at_exit(regs);
	u8 abi;
	u32 nr, call;

	if (id < 0)
		return 0;
	abi = abi_of_call(task, id);
	nr = abi == QP_ABI_X32 ? (u32)id & ~X32_BIT : (u32)id;
	count_call(task_slot(task), regs, abi, nr);
	call = call_of(abi, nr);
	state->nr = nr;
	state->abi = abi;
	state->entered_ns = 0;
	abi_arguments(regs, abi, state->args);
	call = abi_unwrap(abi, nr, call, state->args);
	if (call >= QP_CALL_ID_CNT)
		return 0;
	barrier_var(call); /* as above */
	if (!call)
		return 0;
	return call_wanted(call, call_rows[call].kind, state->args, state) ? call : 0;
}

/* Whether the call that ends is only counted, which then is done. */
static __always_inline bool count_exit(u32 slot, struct task_struct *task, struct pt_regs *regs)
{
	s64 id = abi_number_at_exit(regs);
	u8 abi;
	u32 nr;

	if (id < 0) /* rt_sigreturn leaves no number */
		return false;
	abi = abi_of_call(task, id);
	nr = abi == QP_ABI_X32 ? (u32)id & ~X32_BIT : (u32)id;
	if (!counted_at_exit(abi, nr, call_of(abi, nr)))
		return false;
	if (!stopped)
		count_call(slot, regs, abi, nr);
	return true;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = current_task();
	struct recorded r = {.type = QP_EVENT_CALL, .ret = ret};
	struct task_state *state;
	u32 slot = task_slot(task);
	u8 phase;

	if (!slot || count_exit(slot, task, regs))
		return 0;
	state = bpf_task_storage_get(&task_states, bpf_get_current_task_btf(), NULL, 0);
	if (!state)
		return 0;
	phase = state->phase;
	state->phase = PHASE_NONE;
	if (phase == PHASE_NEWBORN || stopped)
		return 0;
	if (phase == PHASE_CALL) {
		r.call = state->call;
	} else {
		r.call = blocked_call(task, state, regs);
		r.flags = QP_CALL_BLOCKED;
	}
	if (!r.call || !exit_wanted(state, &r))
		return 0;
	return record_call(state, &r);
}
