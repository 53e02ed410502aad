/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks that are moved from one group to another, where a tracked one is among them. */
#include "bpf/filter.bpf.h"
#include "bpf/scratch.bpf.h"

/* @direction: one of QP_MOVE_IN and QP_MOVE_OUT, from the view of the group with that id. */
static __always_inline int move_emit(struct task_struct *task, struct task_state *state, u64 id,
				     u32 direction)
{
	struct task_struct *mover = bpf_get_current_task_btf();
	u32 *slot = bpf_map_lookup_elem(&groups, &id);
	struct qp_move *body;
	struct scratch *s;
	u64 fs;

	if (!slot)
		return 0;
	s = scratch_take_in(*slot, QP_EVENT_MOVE, sizeof(*body), state);
	if (!s)
		return 0;
	body = scratch_body(s);
	body->start_ns = task->group_leader->start_boottime;
	body->tgid = task->tgid;
	body->tid = task->pid;
	body->ns_tgid = state->ns_tgid;
	body->ns_tid = state->ns_tid;
	body->flags = direction;
	body->pad = 0;
	if (mover->tgid == task->tgid || mover->tgid == task->real_parent->tgid)
		body->flags |= QP_MOVE_LAUNCH;
	if (direction == QP_MOVE_IN) {
		append_file(s, KPTR(struct mm_struct, KPTR(struct task_struct, task, mm), exe_file),
			    QP_ROLE_EXE);
		fs = KPTR(struct task_struct, task, fs);
		append_path(s, KPTR(struct fs_struct, fs, pwd.mnt),
			    KPTR(struct fs_struct, fs, pwd.dentry), QP_ROLE_CWD);
	}
	return record_emit(s, QP_EVENT_MOVE);
}

/*
 * The tracepoint comes once the task is where it was moved to, and does not say from where:
 * that is kept with the task. A move within a tracked group is none.
 */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_attach, struct cgroup *to, const char *path, struct task_struct *task,
	     bool threadgroup)
{
	struct task_state *state;
	u64 home, before;

	if (stopped || !cgroup_is_v2(to))
		return 0;
	home = home_lookup((u64)to + bpf_core_field_offset(struct cgroup, self));
	state = bpf_task_storage_get(&task_states, task, NULL, 0);
	before = state ? state->home : 0;
	if (home == before)
		return 0;
	if (!state)
		state = bpf_task_storage_get(&task_states, task, NULL,
					     BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) {
		u32 *slot = bpf_map_lookup_elem(&groups, &home);

		return slot ? record_lost_in(*slot, QP_EVENT_MOVE) : 0;
	}
	task_state_number(state, task);
	state->home = home;
	if (before)
		move_emit(task, state, before, QP_MOVE_OUT);
	return home ? move_emit(task, state, home, QP_MOVE_IN) : 0;
}
