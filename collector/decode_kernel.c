// SPDX-License-Identifier: Apache-2.0
/* Kernel events in the order of time: to which process each belongs, which entry goes with
 * which exit, and who is to make something of it. */
#include "collector/decode_state.h"

#include <string.h>

static bool is_observing(const struct decoder *d)
{
	/* Before PID 1 runs its program the container's runtime is at work in there. */
	return d->mode == MODE_COLLECT || d->init_has_exec;
}

static int dispatch_call(struct decoder *d, const struct step *step);

/* Of a system call only what acts by path has an entry; of a request of io_uring, what does
 * not say for sure that there will be a result. */
static int without_result(struct decoder *d, const struct step *step)
{
	return step->event->call.request ? dispatch_call(d, step) : decode_enter_alone(d, step);
}

/* An entry whose exit never came: what it led to is not known. */
static int enter_alone(struct decoder *d, struct entered_key key)
{
	_cleanup_(entered) struct entered entered;
	struct step step = {.event = &entered.enter, .enter = &entered.enter};

	if (!entered_take(d, key, &entered))
		return 0;
	step.object = entered_object(&entered);
	step.process = proctree_get(&d->tree, entered.enter.head.tgid);
	step.info = call_info_get(entered.enter.call.call);
	if (!step.process || !is_observing(d))
		return 0;
	return without_result(d, &step);
}

static int handle_enter(struct decoder *d, const struct kernel_event *event, const void *bytes,
			size_t len)
{
	int r = enter_alone(d, entered_key(event));

	return r < 0 ? r : entered_put(d, event, bytes, len);
}

/* Requests of io_uring that a process leaves behind: their results come too late, if at all. */
static int requests_flush(struct decoder *d, uint32_t tgid)
{
	struct entered_key key;
	int r = 0;

	while (r == 0 && entered_request_of(d, tgid, &key))
		r = enter_alone(d, key);
	return r;
}

static int find_process(struct decoder *d, const struct qp_event *head, struct process **ret)
{
	int r;

	if (head->ns_tgid == 1 && !d->init_tgid && d->mode != MODE_COLLECT)
		d->init_tgid = head->tgid;
	*ret = proctree_get(&d->tree, head->tgid);
	if (*ret)
		return 0;
	r = proctree_add(&d->tree, head, ret);
	if (r == -E2BIG)
		trace_fail(d, "more than %d processes", PROCESSES_MAX);
	if (r == 0)
		actor_of_unknown(d, *ret);
	return r;
}

static int handle_fork(struct decoder *d, const struct step *step)
{
	struct process *child;
	int r = proctree_fork(&d->tree, step->process, step->event, &child);

	if (r == -E2BIG)
		trace_fail(d, "more than %d processes", PROCESSES_MAX);
	if (r == 0 && child)
		phase_new_child(d, child);
	return bounded(r);
}

static int handle_exit(struct decoder *d, const struct step *step)
{
	int r = enter_alone(d, (struct entered_key){.tid = step->event->head.tid});

	if (r < 0 || !step->event->exit.group_dead)
		return r;
	r = requests_flush(d, step->event->head.tgid);
	if (r == 0)
		r = exec_pending_flush(d, step->process);
	proctree_exit(&d->tree, step->process, step->event);
	return r;
}

static int handle_exec(struct decoder *d, const struct step *step)
{
	int r = enter_alone(d, (struct entered_key){.tid = step->event->exec.old_tid});

	if (r == 0)
		r = enter_alone(d, (struct entered_key){.tid = step->event->head.tid});
	return r < 0 ? r : decode_exec(d, step);
}

/* Where the process is from now on: for paths whose call brought no folder along. */
static int handle_chdir(struct decoder *d, const struct step *step)
{
	_cleanup_(place) struct place place = {0};
	int r;

	if (step->event->call.ret != 0)
		return 0;
	if (step->info->roles[0] == QP_ARG_PATH)
		r = place_of_argument(d, step, 0, true, &place);
	else
		r = place_of_field(step->event, 0, &place);
	if (r < 0 || !place.text)
		return r;
	free(step->process->cwd);
	step->process->cwd = steal_ptr(place.text);
	return 0;
}

static int handle_io_uring(struct decoder *d, const struct step *step)
{
	if (step->event->call.call != QP_CALL_ID_io_uring_setup || step->event->call.ret < 0)
		return 0;
	d->has_uring = true;
	d->names_doubted = true;
	if (step->process->actor == ACTOR_PACKAGE && !d->uring_pid)
		d->uring_pid = step->process->ns_pid;
	return 0;
}

static int dispatch_call(struct decoder *d, const struct step *step)
{
	switch (step->info->kind) {
	case QP_KIND_OPEN:
		return decode_open(d, step);
	case QP_KIND_EXEC:
		return decode_exec_failed(d, step);
	case QP_KIND_CHDIR:
		return handle_chdir(d, step);
	case QP_KIND_KILL:
		return decode_kill(d, step);
	case QP_KIND_ONTO:
		return decode_onto(d, step);
	case QP_KIND_PRCTL:
		return phase_heartbeat(d, step);
	case QP_KIND_SOCKET:
	case QP_KIND_CONNECT:
	case QP_KIND_BIND:
	case QP_KIND_LISTEN:
	case QP_KIND_SEND:
		return decode_net_call(d, step);
	case QP_KIND_TAMPER:
	case QP_KIND_CLONE:
		return decode_tamper(d, step);
	case QP_KIND_IO_URING:
		return handle_io_uring(d, step);
	case QP_KIND_COUNT:
		return decode_uring_command(d, step);
	case QP_KIND_MEMFD:
		return 0; /* running it is what matters */
	default:
		return decode_file_call(d, step);
	}
}

/* A request that gives no result when it succeeds, and one only perhaps when it fails. */
static int handle_silent(struct decoder *d, const struct step *caller)
{
	struct step step = *caller;

	step.enter = step.event;
	step.info = call_info_get(step.event->call.call);
	d->bytes_untold |= step.info->kind == QP_KIND_WRITE;
	return is_observing(d) ? without_result(d, &step) : 0;
}

static int handle_call(struct decoder *d, const struct step *caller, struct kernel_event *event)
{
	_cleanup_(entered) struct entered entered;
	struct step step = *caller;
	int r = 0;

	step.info = call_info_get(step.event->call.call);
	if (entered_take(d, entered_key(step.event), &entered)) {
		struct step alone = step;

		if (entered.enter.call.call == step.event->call.call) {
			step.enter = &entered.enter;
			step.object = entered_object(&entered);
			if (step.event->call.request)
				uring_join(event, &entered.enter);
		} else if (is_observing(d)) {
			alone.event = alone.enter = &entered.enter;
			alone.object = entered_object(&entered);
			alone.info = call_info_get(entered.enter.call.call);
			r = without_result(d, &alone);
		}
	}
	/* Told without its result already. */
	if (step.event->call.request && !step.enter &&
	    (step.info->by_path || step.info->kind == QP_KIND_OPEN))
		return r;
	if (r == 0 && (is_observing(d) || step.info->kind == QP_KIND_PRCTL))
		r = dispatch_call(d, &step);
	resolved_drop(d, &step);
	return r;
}

/* Who was moved comes with a past that was not seen, or goes on unseen. */
static int handle_move(struct decoder *d, const struct kernel_event *event)
{
	const struct event_field *exe = event_field_find(event, QP_FIELD_PATH, QP_ROLE_EXE);
	const struct event_field *cwd = event_field_find(event, QP_FIELD_PATH, QP_ROLE_CWD);
	const struct qp_move *move = &event->move;
	struct qp_event head = {.time_ns = move->start_ns,
				.tgid = move->tgid,
				.tid = move->tid,
				.ns_tgid = move->ns_tgid,
				.ns_tid = move->ns_tid};
	bool known = proctree_get(&d->tree, move->tgid);
	struct process *process;
	int r;

	if (move->flags & QP_MOVE_OUT)
		trace_fail(d,
			   "process %u was moved out of the group: what it did from then on was "
			   "not seen",
			   move->ns_tgid);
	else if (!(move->flags & QP_MOVE_LAUNCH))
		trace_fail(d,
			   "joined-late: process %u was moved into the group by another: what it "
			   "did before was not seen",
			   move->ns_tgid);
	if (known || move->flags & QP_MOVE_OUT)
		return 0;
	r = find_process(d, &head, &process);
	if (r < 0)
		return bounded(r);
	process->exe = exe ? event_path_text(exe) : NULL;
	process->cwd = cwd ? event_path_text(cwd) : NULL;
	return (exe && !process->exe) || (cwd && !process->cwd) ? -ENOMEM : 0;
}

int decode_kernel_event(struct decoder *d, const void *bytes, size_t len)
{
	struct kernel_event event;
	struct step step = {.event = &event};
	const char *why;
	int r;

	if (event_parse(bytes, len, &event, &why) < 0)
		return 0;
	if (event.head.type == QP_EVENT_MOVE)
		return handle_move(d, &event);
	r = find_process(d, &event.head, &step.process);
	if (r < 0)
		return bounded(r);
	switch (event.head.type) {
	case QP_EVENT_FORK:
		return handle_fork(d, &step);
	case QP_EVENT_EXEC:
		return handle_exec(d, &step);
	case QP_EVENT_EXIT:
		return handle_exit(d, &step);
	case QP_EVENT_ENTER:
		if (event.call.flags & QP_CALL_SILENT)
			return handle_silent(d, &step);
		return handle_enter(d, &event, bytes, len);
	case QP_EVENT_OBJECT:
		return entered_add_object(d, &event, bytes, len);
	case QP_EVENT_CALL:
		if (event.call.flags & QP_CALL_SILENT)
			return 0; /* told of when it was submitted */
		return handle_call(d, &step, &event);
	case QP_EVENT_ENV:
		return is_observing(d) ? decode_env(d, &step) : 0;
	default:
		return is_observing(d) ? decode_net_address(d, &step) : 0;
	}
}

int decode_kernel_end(struct decoder *d)
{
	int r = 0;

	while (r == 0 && d->entered.cnt) {
		struct entered_key key;
		size_t i = 0;

		while (!d->entered.entries[i].key)
			i++;
		memcpy(&key, d->entered.entries[i].key, sizeof(key));
		r = enter_alone(d, key);
	}
	for (size_t i = 0; r == 0 && i < d->tree.cnt; i++)
		r = exec_pending_flush(d, d->tree.items[i]);
	return r;
}
