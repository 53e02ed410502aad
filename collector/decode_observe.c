// SPDX-License-Identifier: Apache-2.0
/* Making observations: what all kinds have in common. */
#include "collector/decode_state.h"

#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void trace_fail(struct decoder *d, const char *fmt, ...)
{
	va_list ap;

	if (d->trace_reason[0])
		return;
	va_start(ap, fmt);
	vsnprintf(d->trace_reason, sizeof(d->trace_reason), fmt, ap);
	va_end(ap);
}

bool in_areas(const struct decoder *d, const char *path)
{
	for (size_t i = 0; i < d->areas_cnt; i++)
		if (path_is_below(path, d->areas[i]))
			return true;
	return false;
}

static int set_escaped(char **to, const char *text)
{
	*to = NULL;
	if (!text)
		return 0;
	*to = escape_bytes(text, strlen(text));
	return *to ? 0 : -ENOMEM;
}

int observation_begin(struct decoder *d, struct observation *ret_observation,
		      enum observation_kind kind, const struct process *process, uint64_t time_ns)
{
	observation_init(ret_observation);
	ret_observation->kind = kind;
	ret_observation->t_ns = since_start(d, time_ns);
	ret_observation->actor = process ? process->actor : ACTOR_PACKAGE;
	if (!process)
		return 0;
	ret_observation->pid = process->ns_pid;
	if (set_escaped(&ret_observation->exe, process->exe) < 0 ||
	    set_escaped(&ret_observation->package, process->package) < 0) {
		observation_clear(ret_observation);
		return -ENOMEM;
	}
	return 0;
}

int observation_set(struct observation *observation, const char *key, json_t *value)
{
	if (!observation->extra)
		observation->extra = json_object();
	return json_object_set_new(observation->extra, key, value) < 0 ? -ENOMEM : 0;
}

static int notes_reserve(struct decoder *d)
{
	size_t allocated = d->notes_allocated ? d->notes_allocated * 2 : 64;
	struct note *grown;

	if (d->facts.observations.cnt < d->notes_allocated)
		return 0;
	grown = realloc(d->notes, allocated * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->notes = grown;
	d->notes_allocated = allocated;
	return 0;
}

int observe_take(struct decoder *d, struct observation *observation, struct note note,
		 size_t *ret_index)
{
	size_t index = d->facts.observations.cnt;
	int r;

	if (index >= OBSERVATIONS_MAX) {
		trace_fail(d, "more than %d observations: the rest are not listed",
			   OBSERVATIONS_MAX);
		observation_clear(observation);
		return -E2BIG;
	}
	if (notes_reserve(d) < 0) {
		observation_clear(observation);
		return -ENOMEM;
	}
	r = observations_add_take(&d->facts.observations, observation);
	if (r < 0)
		return r;
	d->notes[index] = note;
	if (ret_index)
		*ret_index = index;
	return 0;
}

enum observation_outcome call_outcome(const struct kernel_event *event)
{
	if (event->head.type == QP_EVENT_ENTER || event->call.flags & QP_CALL_KILLED)
		return OUTCOME_UNDETERMINED;
	return event->call.ret < 0 ? OUTCOME_ATTEMPTED : OUTCOME_EFFECTED;
}

int observation_set_call(struct observation *observation, const struct step *step)
{
	int64_t ret = step->event->call.ret;
	const char *name;
	int r = observation_set(observation, "call", json_string(step->info->name));

	if (r == 0 && step->event->call.flags & QP_CALL_IO_URING)
		r = observation_set(observation, "ioUring", json_true());
	if (r < 0 || step->event->head.type == QP_EVENT_ENTER || ret >= 0 || ret < -4095)
		return r;
	name = errno_name((int)-ret);
	return observation_set(observation, "errno", name ? json_string(name) : json_integer(-ret));
}
