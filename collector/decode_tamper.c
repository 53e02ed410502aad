// SPDX-License-Identifier: Apache-2.0
/* Attacks on isolation and on other processes, and what only looks like one. */
#include "collector/decode_state.h"

#include "base/escape.h"

#include <sched.h>
#include <string.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define NEW_NAMESPACE                                                                       \
	((uint64_t)(uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
			      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET))

static int tamper_fill(struct observation *observation, const struct step *step,
		       const struct place *place, int64_t target)
{
	const struct qp_call *call = &step->event->call;
	int r = observation_set_call(observation, step);

	observation->outcome = call_outcome(step->event);
	observation->blocked = call->flags & QP_CALL_BLOCKED ? TRISTATE_TRUE : TRISTATE_FALSE;
	if (r == 0 && place && place->text) {
		observation->path = escape_bytes(place->text, strlen(place->text));
		r = observation->path ? 0 : -ENOMEM;
	}
	if (r == 0 && target != TAMPER_NO_TARGET)
		r = observation_set(observation, "target", json_integer(target));
	return r;
}

/* Each process is told of once for each call, object and outcome. */
static int is_new(struct decoder *d, const struct step *step, const struct place *place,
		  int64_t target)
{
	_cleanup_free_ char *key = NULL;
	int len = asprintf(&key, "tamper %llx %u %lld %d %s",
			   (unsigned long long)step->process->serial, step->event->call.call,
			   (long long)target, call_outcome(step->event),
			   place && place->text ? place->text : "");
	int r;

	if (len < 0) {
		key = NULL;
		return -ENOMEM;
	}
	if (map_get(&d->seen, key, (size_t)len))
		return 0;
	r = bounded(map_put(&d->seen, key, (size_t)len, 0));
	return r < 0 ? r : 1;
}

int tamper_observe(struct decoder *d, const struct step *step, const struct place *place,
		   int64_t target)
{
	struct observation observation;
	int r;

	if (step->process->actor != ACTOR_PACKAGE)
		return 0;
	r = is_new(d, step, place, target);
	if (r <= 0)
		return r;
	r = observation_begin(d, &observation, OBSERVATION_TAMPER, step->process,
			      step->event->head.time_ns);
	if (r < 0)
		return r;
	r = tamper_fill(&observation, step, place, target);
	if (r < 0) {
		observation_clear(&observation);
		return r;
	}
	return bounded(observe_take(d, &observation,
				    (struct note){.phase = (uint8_t)step->process->phase}, NULL));
}

/*
 * Denying clone3 with ENOSYS is how sandboxes make libcs use clone, and every new process of
 * an innocent program begins so. Its flags decide; where they could not be read, its success
 * does, since only what asks for a namespace is recorded then.
 */
static bool clone3_asks_for_namespace(const struct kernel_event *event)
{
	const struct event_field *payload = event_field_find(event, QP_FIELD_PAYLOAD, 0);
	uint64_t flags;

	if (!payload || payload->flags & QP_FIELD_FAULT || payload->len < sizeof(flags))
		return event->call.ret >= 0;
	memcpy(&flags, payload->data, sizeof(flags));
	return flags & (NEW_NAMESPACE | CLONE_NEWTIME);
}

static bool asks_for_namespace(const struct kernel_event *event)
{
	switch (event->call.call) {
	case QP_CALL_ID_unshare:
		return event->call.args[0] & (NEW_NAMESPACE | CLONE_NEWTIME);
	case QP_CALL_ID_clone:
		return event->call.args[0] & NEW_NAMESPACE;
	default:
		return clone3_asks_for_namespace(event);
	}
}

static bool is_harmless(const struct step *step)
{
	const struct kernel_event *event = step->event;

	switch (event->call.call) {
	case QP_CALL_ID_name_to_handle_at: /* libraries compare mounts with it */
		return true;
	case QP_CALL_ID_unshare:
	case QP_CALL_ID_clone:
	case QP_CALL_ID_clone3:
		return !asks_for_namespace(event);
	default:
		return false;
	}
}

static int64_t target_of(const struct kernel_event *event)
{
	if (event->call.call == QP_CALL_ID_ptrace && event->call.args[0])
		return (int32_t)event->call.args[1];
	return TAMPER_NO_TARGET;
}

/* Calls after which names may mean other files than before, for a process at least. */
static bool changes_mounts(const struct kernel_event *event)
{
	switch (event->call.call) {
	case QP_CALL_ID_mount:
	case QP_CALL_ID_umount:
	case QP_CALL_ID_umount2:
	case QP_CALL_ID_pivot_root:
	case QP_CALL_ID_move_mount:
	case QP_CALL_ID_setns:
		return true;
	case QP_CALL_ID_unshare:
	case QP_CALL_ID_clone:
	case QP_CALL_ID_clone3:
		return asks_for_namespace(event);
	default:
		return false;
	}
}

int decode_tamper(struct decoder *d, const struct step *step)
{
	_cleanup_(place) struct place place = {0};
	int r = 0;

	/* What was mounted before there were links is part of what they were made in. */
	if (d->symlinks.cnt && changes_mounts(step->event) &&
	    call_outcome(step->event) != OUTCOME_ATTEMPTED)
		d->names_doubted = true;
	if (step->process->actor != ACTOR_PACKAGE || is_harmless(step))
		return 0;
	for (unsigned int i = 0; i < CALL_ARGS_CNT; i++) {
		if (step->info->roles[i] != QP_ARG_PATH)
			continue;
		r = place_of_argument(d, step, i, true, &place);
		break;
	}
	return r < 0 ? r : tamper_observe(d, step, &place, target_of(step->event));
}
