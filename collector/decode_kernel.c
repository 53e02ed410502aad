// SPDX-License-Identifier: Apache-2.0
/* Kernel events in the order of time: to which process each belongs, which entry goes with
 * which exit, and who is to make something of it. */
#include "collector/decode_state.h"

#include <string.h>

/* The entry of a call that has not returned yet. */
struct enter {
	size_t len;
	unsigned char bytes[];
};

static int enter_take(struct decoder *d, uint32_t tid, struct enter **ret_enter)
{
	uint64_t value;

	*ret_enter = NULL;
	if (map_remove(&d->enters, &tid, sizeof(tid), &value))
		*ret_enter = (struct enter *)(uintptr_t)value;
	return *ret_enter != NULL;
}

static bool is_observing(const struct decoder *d)
{
	/* Before PID 1 runs its program the container's runtime is at work in there. */
	return d->mode == MODE_COLLECT || d->init_has_exec;
}

/* An entry whose exit never came: what it led to is not known. */
static int enter_alone(struct decoder *d, uint32_t tid)
{
	_cleanup_free_ struct enter *enter = NULL;
	struct kernel_event event;
	struct step step = {.event = &event, .enter = &event};
	const char *why;

	if (!enter_take(d, tid, &enter) || event_parse(enter->bytes, enter->len, &event, &why) < 0)
		return 0;
	step.process = proctree_get(&d->tree, event.head.tgid);
	step.info = call_info_get(event.call.call);
	if (!step.process || !is_observing(d))
		return 0;
	return decode_enter_alone(d, &step);
}

static int enter_put(struct decoder *d, const struct kernel_event *event, const void *bytes,
		     size_t len)
{
	uint32_t tid = event->head.tid;
	_cleanup_free_ struct enter *enter = NULL;
	int r = enter_alone(d, tid);

	if (r < 0)
		return r;
	enter = malloc(sizeof(*enter) + len);
	if (!enter)
		return -ENOMEM;
	enter->len = len;
	memcpy(enter->bytes, bytes, len);
	r = map_put(&d->enters, &tid, sizeof(tid), (uintptr_t)enter);
	if (r == 0)
		steal_ptr(enter);
	else if (r == -E2BIG)
		trace_fail(d, "more than %d calls under way at one time", ENTERS_MAX);
	return bounded(r);
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
	int r = enter_alone(d, step->event->head.tid);

	if (r < 0 || !step->event->exit.group_dead)
		return r;
	r = exec_pending_flush(d, step->process);
	proctree_exit(&d->tree, step->process, step->event);
	return r;
}

static int handle_exec(struct decoder *d, const struct step *step)
{
	int r = enter_alone(d, step->event->exec.old_tid);

	if (r == 0)
		r = enter_alone(d, step->event->head.tid);
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
	if (step->event->call.call == QP_CALL_ID_io_uring_setup && step->event->call.ret >= 0 &&
	    step->process->actor == ACTOR_PACKAGE)
		trace_fail(d, "process %u set up an io_uring, whose requests are not recorded",
			   step->process->ns_pid);
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
	case QP_KIND_MEMFD:
		return 0; /* running it is what matters */
	default:
		return decode_file_call(d, step);
	}
}

static int handle_call(struct decoder *d, const struct step *caller)
{
	struct step step = *caller;
	_cleanup_free_ struct enter *enter = NULL;
	struct kernel_event entered;
	const char *why;
	int r = 0;

	step.info = call_info_get(step.event->call.call);
	if (enter_take(d, step.event->head.tid, &enter) &&
	    event_parse(enter->bytes, enter->len, &entered, &why) == 0) {
		if (entered.call.call == step.event->call.call) {
			step.enter = &entered;
		} else {
			struct step alone = step;

			alone.event = alone.enter = &entered;
			alone.info = call_info_get(entered.call.call);
			if (is_observing(d))
				r = decode_enter_alone(d, &alone);
		}
	}
	if (r == 0 && (is_observing(d) || step.info->kind == QP_KIND_PRCTL))
		r = dispatch_call(d, &step);
	resolved_drop(d, &step);
	return r;
}

int decode_kernel_event(struct decoder *d, const void *bytes, size_t len)
{
	struct kernel_event event;
	struct step step = {.event = &event};
	const char *why;
	int r;

	if (event_parse(bytes, len, &event, &why) < 0)
		return 0;
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
		return enter_put(d, &event, bytes, len);
	case QP_EVENT_CALL:
		return handle_call(d, &step);
	case QP_EVENT_ENV:
		return is_observing(d) ? decode_env(d, &step) : 0;
	default:
		return is_observing(d) ? decode_net_address(d, &step) : 0;
	}
}

int decode_kernel_end(struct decoder *d)
{
	int r = 0;

	while (r == 0 && d->enters.cnt) {
		size_t i = 0;
		uint32_t tid;

		while (!d->enters.entries[i].key)
			i++;
		memcpy(&tid, d->enters.entries[i].key, sizeof(tid));
		r = enter_alone(d, tid);
	}
	for (size_t i = 0; r == 0 && i < d->tree.cnt; i++)
		r = exec_pending_flush(d, d->tree.items[i]);
	return r;
}
