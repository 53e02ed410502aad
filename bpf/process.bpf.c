/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The life of tasks: fork, exec, exit. */
#include "bpf/filter.bpf.h"
#include "bpf/scratch.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_state *mine, *its;
	struct qp_fork *body;
	struct scratch *s;
	u32 slot;

	if (stopped)
		return 0;
	/* A clone into a group from outside is of the child's group. */
	slot = task_slot(parent);
	if (!slot)
		slot = task_slot(child);
	if (!slot)
		return 0;
	its = bpf_task_storage_get(&task_states, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	mine = task_state_get(bpf_get_current_task_btf());
	if (!its || !mine) {
		record_lost_in(slot, QP_EVENT_FORK);
		return 0;
	}
	its->phase = PHASE_NEWBORN;
	its->home =
		mine->home && PLAIN(child)->cgroups->dfl_cgrp == PLAIN(parent)->cgroups->dfl_cgrp
			? mine->home
			: task_home(child);
	task_state_number(its, child);
	s = scratch_take_in(slot, QP_EVENT_FORK, sizeof(*body), mine);
	if (!s)
		return 0;
	body = scratch_body(s);
	child = PLAIN(child);
	body->child_tgid = child->tgid;
	body->child_tid = child->pid;
	body->child_ns_tgid = its->ns_tgid;
	body->child_ns_tid = its->ns_tid;
	body->child_start_ns = child->start_boottime;
	return record_emit(s, QP_EVENT_FORK);
}

/* The parent's number as the task's getppid() gives it: 0 for one outside its namespace. */
static __always_inline u32 parent_number(struct task_struct *task)
{
	struct pid *own = task->thread_pid;
	struct pid *parent = task->real_parent->group_leader->thread_pid;
	u64 offset = upid_offset(own);

	if (parent->level < own->level ||
	    KPTR(struct upid, (u64)parent + offset, ns) != KPTR(struct upid, (u64)own + offset, ns))
		return 0;
	return KREAD(struct upid, (u64)parent + offset, nr);
}

/* A file without a link is a memfd, or was deleted before it was run. */
static __always_inline bool file_has_no_link(u64 file)
{
	return KREAD(struct inode, KPTR(struct file, file, f_inode), i_nlink) == 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_state *state;
	struct qp_exec *body;
	struct scratch *s;
	u64 file;

	if (stopped || !task_is_tracked(current))
		return 0;
	state = task_state_get(current);
	if (!state) {
		record_lost(QP_EVENT_EXEC);
		return 0;
	}
	/* An exec whose entry was not seen: the task's calls do not reach on_sys_enter. */
	if (state->phase != PHASE_CALL)
		record_lost(QP_EVENT_CALL);
	task_state_number(state, current);
	s = scratch_take(QP_EVENT_EXEC, sizeof(*body), state);
	if (!s)
		return 0;
	current = PLAIN(current);
	bprm = PLAIN(bprm);
	file = address_of(s, bprm->file);
	body = scratch_body(s);
	body->old_tid = old_pid;
	body->parent_tgid = current->real_parent->tgid;
	body->parent_ns_tgid = parent_number(current);
	body->flags = file_has_no_link(file) ? QP_EXEC_MEMFD : 0;
	append_file(s, file, QP_ROLE_EXE);
	append_cwd(s);
	append_kernel_string(s, address_of(s, bprm->filename), QP_ROLE_ASKED);
	append_kernel_string(s, address_of(s, bprm->interp), QP_ROLE_INTERP);
	append_argv_area(s, current->mm->arg_start, current->mm->arg_end);
	return record_emit(s, QP_EVENT_EXEC);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_state *state;
	struct qp_exit *body;
	struct scratch *s;

	if (stopped || !task_is_tracked(current))
		return 0;
	state = task_state_get(current);
	if (!state) {
		record_lost(QP_EVENT_EXIT);
		return 0;
	}
	s = scratch_take(QP_EVENT_EXIT, sizeof(*body), state);
	if (!s)
		return 0;
	body = scratch_body(s);
	current = PLAIN(current);
	body->code = current->exit_code;
	if (have_group_dead)
		body->group_dead = ctx[1] & 1;
	else
		body->group_dead = current->signal->live.counter == 0;
	return record_emit(s, QP_EVENT_EXIT);
}
