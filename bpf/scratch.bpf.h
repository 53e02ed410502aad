/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Taking a scratch space, and the state of the task that the record is about. */
#ifndef QP_BPF_SCRATCH_BPF_H
#define QP_BPF_SCRATCH_BPF_H

#include "bpf/filter.bpf.h"
#include "bpf/record.bpf.h"

/* A free scratch space of this CPU with an empty body of @body_len bytes (a multiple of
 * 8); NULL when all are in use: the record is then counted as lost. */
static __always_inline struct scratch *scratch_take_in(u32 slot, u32 type, u32 body_len,
						       const struct task_state *state)
{
	u32 first = bpf_get_smp_processor_id() * QP_SCRATCH_SLOTS;

	for (u32 i = 0; i < QP_SCRATCH_SLOTS; i++) {
		struct scratch *s = scratch_slot(first + i);

		if (!s || __sync_lock_test_and_set(&s->taken, 1))
			continue;
		s->pos = sizeof(struct qp_event) + body_len;
		s->flags = 0;
		s->wake = 0;
		s->slot = slot;
		s->ns_tgid = state->ns_tgid;
		s->ns_tid = state->ns_tid;
		return s;
	}
	record_lost_in(slot, type);
	return NULL;
}

/* The same for a record of the current task's group. */
static __always_inline struct scratch *scratch_take(u32 type, u32 body_len,
						    const struct task_state *state)
{
	return scratch_take_in(task_slot(current_task()), type, body_len, state);
}

/* Reads the numbers that the state keeps. An exec from a thread changes them. */
static __always_inline void task_state_number(struct task_state *state, struct task_struct *task)
{
	task = PLAIN(task);
	state->ns_tid = pid_in_own_namespace(task->thread_pid);
	state->ns_tgid = pid_in_own_namespace(task->group_leader->thread_pid);
}

/* The state of @task, made if it has none; NULL when the kernel has no memory for it. */
static __always_inline struct task_state *task_state_get(struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&task_states, task, NULL, 0);

	if (state)
		return state;
	state = bpf_task_storage_get(&task_states, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (state) {
		task_state_number(state, task);
		state->home = task_home(task);
	}
	return state;
}

#endif
