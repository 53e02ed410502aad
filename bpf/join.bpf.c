/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes that are in a group when its recording begins, and their open files: two
 * iterators, which the collector reads. Each answer is laid out as the event of an exec.
 */
#include "bpf/filter.bpf.h"
#include "bpf/scratch.bpf.h"

/* An answer with the task's numbers in its head; NULL when the task is of another slot or
 * is no process's leader. */
static __always_inline struct scratch *answer_begin(struct task_struct *task)
{
	struct task_state numbers = {};
	struct qp_event *event;
	struct qp_exec *body;
	struct scratch *s;

	task = PLAIN(task);
	if (!task || task->pid != task->tgid || task_slot(task) != join_slot)
		return NULL;
	task_state_number(&numbers, task);
	s = scratch_take_in(0, QP_EVENT_EXEC, sizeof(*body), &numbers);
	if (!s) {
		__sync_fetch_and_add(&join_missed, 1);
		return NULL;
	}
	event = scratch_event(s);
	__builtin_memset(event, 0, sizeof(*event));
	event->type = QP_EVENT_EXEC;
	event->version = QP_EVENT_VERSION;
	event->time_ns = task->start_boottime;
	event->tgid = task->tgid;
	event->tid = task->pid;
	event->ns_tgid = numbers.ns_tgid;
	event->ns_tid = numbers.ns_tid;
	body = scratch_body(s);
	__builtin_memset(body, 0, sizeof(*body));
	return s;
}

static __always_inline void answer_end(struct scratch *s, struct seq_file *seq)
{
	u32 len = s->pos;

	if (len <= QP_EVENT_BYTES_MAX) {
		scratch_event(s)->len = len;
		bpf_seq_write(seq, s->data, len);
	}
	__sync_lock_test_and_set(&s->taken, 0);
}

SEC("iter/task")
int on_join_task(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	struct scratch *s = answer_begin(task);
	u64 fs;

	if (!s || !task)
		return 0;
	((struct qp_exec *)scratch_body(s))->old_tid = task->pid;
	((struct qp_exec *)scratch_body(s))->parent_tgid = task->real_parent->tgid;
	append_file(s, KPTR(struct mm_struct, KPTR(struct task_struct, task, mm), exe_file),
		    QP_ROLE_EXE);
	fs = KPTR(struct task_struct, task, fs);
	append_path(s, KPTR(struct fs_struct, fs, pwd.mnt), KPTR(struct fs_struct, fs, pwd.dentry),
		    QP_ROLE_CWD);
	answer_end(s, seq);
	return 0;
}

SEC("iter/task_file")
int on_join_file(struct bpf_iter__task_file *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	u32 fd = ctx->fd;
	struct scratch *s;

	if (!task || !file)
		return 0;
	s = answer_begin(task);
	if (!s)
		return 0;
	((struct qp_exec *)scratch_body(s))->old_tid = fd;
	append_file(s, address_of(s, file), QP_ROLE_EXE);
	answer_end(s, seq);
	return 0;
}
