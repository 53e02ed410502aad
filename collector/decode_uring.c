// SPDX-License-Identifier: Apache-2.0
/* io_uring: a request's two records as one, and what of its requests remains unknown. */
#include "collector/decode_state.h"

#include <string.h>

#define UNKNOWN_PREFIX "opcode_" /* of the trailer's names for opcodes that have none */

/* What was only known when the request was submitted, into the record of its result. */
void uring_join(struct kernel_event *result, const struct kernel_event *submission)
{
	for (size_t i = 0; i < submission->fields_cnt; i++) {
		const struct event_field *field = &submission->fields[i];

		if (result->fields_cnt == EVENT_FIELDS_MAX)
			return;
		if (!event_field_find(result, field->kind, field->role))
			result->fields[result->fields_cnt++] = *field;
	}
}

/*
 * A command to a driver can do anything. To a socket it reads and sets options; what it
 * does to anything else is not known here.
 */
int decode_uring_command(struct decoder *d, const struct step *step)
{
	_cleanup_(place) struct place place = {0};
	int r;

	if (!(step->event->call.flags & QP_CALL_IO_URING) || step->event->call.ret < 0 ||
	    step->process->actor != ACTOR_PACKAGE ||
	    event_field_find(step->event, QP_FIELD_SOCK, 0))
		return 0;
	r = place_of_field(step->event, 0, &place);
	if (r == 0)
		trace_fail(d, "process %u gave %s a command by io_uring, whose effect is not known",
			   step->process->ns_pid, place.text ? "a device" : "something unknown");
	return r;
}

void uring_check(struct decoder *d)
{
	const json_t *counters = json_object_get(d->facts.trailer, "counters");
	const json_t *uring = json_object_get(counters, "uring");
	json_int_t unfinished = json_member_int(uring, "unfinished", 0);
	const char *name;
	json_t *count;

	if (!uring && d->uring_pid)
		trace_fail(d, "process %u set up an io_uring, whose requests are not recorded",
			   d->uring_pid);
	if (unfinished)
		trace_fail(d, "%" JSON_INTEGER_FORMAT " requests of io_uring have no known result",
			   unfinished);
	json_object_foreach (json_object_get(uring, "byOpcode"), name, count) {
		if (!strncmp(name, UNKNOWN_PREFIX, strlen(UNKNOWN_PREFIX)))
			trace_fail(d,
				   "%" JSON_INTEGER_FORMAT " requests of io_uring have the opcode "
				   "%.8s, which is not known here",
				   json_integer_value(count), name + strlen(UNKNOWN_PREFIX));
	}
}
