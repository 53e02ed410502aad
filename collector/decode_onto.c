// SPDX-License-Identifier: Apache-2.0
/*
 * Acts upon processes that a call names by their number or by a pidfd: signals, limits,
 * scheduling, memory, descriptors. Upon itself and its children a process may act.
 */
#include "collector/decode_state.h"

#include <sys/resource.h>

#define IOPRIO_BEHIND 1 /* ioprio_set numbers its kinds of targets from 1, setpriority from 0 */

/*
 * What could harm nobody but who is its target. renice, taskset and the like act for their
 * caller, a sibling's or a parent's: within the package that is its own affair.
 */
static bool is_gentle(uint32_t call)
{
	switch (call) {
	case QP_CALL_ID_kcmp:
	case QP_CALL_ID_pidfd_getfd:
	case QP_CALL_ID_process_madvise:
	case QP_CALL_ID_process_vm_readv:
	case QP_CALL_ID_process_vm_writev:
		return false;
	default:
		return true;
	}
}

static bool may_act_on(struct decoder *d, const struct step *step, int64_t target)
{
	const struct process *victim = proctree_by_nspid(&d->tree, target);

	if (!victim)
		return false;
	return process_descends(victim, step->process) ||
	       (is_gentle(step->event->call.call) && victim->actor == ACTOR_PACKAGE);
}

/*
 * Whom the pidfd in argument @arg names, 0: nobody that has a number inside. False when it is
 * no pidfd, and the kernel turned it away; else the folder of a process in /proc is one too.
 */
static bool pidfd_target(const struct kernel_event *event, unsigned int arg, int64_t *ret_target)
{
	const struct event_field *field = event_field_find(event, QP_FIELD_PID, arg);

	*ret_target = field ? event_pid(field) : 0;
	return field || event->call.ret != -EBADF;
}

static int act_on(struct decoder *d, const struct step *step, int64_t target)
{
	return may_act_on(d, step, target) ? 0 : tamper_observe(d, step, NULL, target);
}

/* setpriority and ioprio_set: one process, a group by its leader's number, all of a user. */
static int act_by_priority(struct decoder *d, const struct step *step)
{
	const uint64_t *args = step->event->call.args;
	bool io = step->event->call.call == QP_CALL_ID_ioprio_set;
	int64_t which = (int32_t)args[0] - (io ? IOPRIO_BEHIND : 0);

	if (which == PRIO_USER)
		return tamper_observe(d, step, NULL, TAMPER_NO_TARGET);
	if ((which != PRIO_PROCESS && which != PRIO_PGRP) || !(int32_t)args[1])
		return 0;
	return act_on(d, step, (int32_t)args[1]);
}

int decode_onto(struct decoder *d, const struct step *step)
{
	const struct qp_call *call = &step->event->call;
	int r = 0;

	if (call->call == QP_CALL_ID_setpriority || call->call == QP_CALL_ID_ioprio_set)
		return act_by_priority(d, step);
	if (call->call == QP_CALL_ID_prlimit64 && !call->args[2]) /* it only asks */
		return 0;
	for (unsigned int arg = 0; r == 0 && arg < CALL_ARGS_CNT; arg++) {
		int64_t target = (int32_t)call->args[arg];

		if (step->info->roles[arg] == QP_ARG_PID && target)
			r = act_on(d, step, target);
		else if (step->info->roles[arg] == QP_ARG_PIDFD &&
			 pidfd_target(step->event, arg, &target))
			r = act_on(d, step, target);
	}
	return r;
}

static int64_t signal_of(const struct kernel_event *event)
{
	switch (event->call.call) {
	case QP_CALL_ID_tgkill:
	case QP_CALL_ID_rt_tgsigqueueinfo:
		return (int32_t)event->call.args[2];
	default:
		return (int32_t)event->call.args[1];
	}
}

int decode_kill(struct decoder *d, const struct step *step)
{
	const struct qp_call *call = &step->event->call;
	int64_t target = (int32_t)call->args[0];

	/* A handle is no act yet. */
	if (call->call == QP_CALL_ID_pidfd_open || signal_of(step->event) == 0)
		return 0;
	if (call->call == QP_CALL_ID_pidfd_send_signal) {
		if (!pidfd_target(step->event, 0, &target))
			return 0;
	} else if (target == 0) { /* its own process group */
		return 0;
	}
	return may_act_on(d, step, target < -1 ? -target : target)
		       ? 0
		       : tamper_observe(d, step, NULL, target);
}
