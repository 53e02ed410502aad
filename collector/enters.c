// SPDX-License-Identifier: Apache-2.0
/* Entry records by thread, or by the number of a request of io_uring, in a table of fixed size:
 * a call that never returns leaves its entry until another needs the place. */
#include "collector/enters.h"

#include "collector/fields.h"

#include <stdlib.h>
#include <string.h>

#define ENTERS_SLOTS 4096 /* a power of two */

struct enters {
	struct qp_event *slots[ENTERS_SLOTS];
	struct {
		uint32_t tid;
		uint64_t entered_ns; /* 0: none */
	} objects[ENTERS_SLOTS];     /* calls of which the kernel told the object */
};

struct enters *enters_new(void)
{
	return calloc(1, sizeof(struct enters));
}

static uint32_t request_of(const struct qp_event *event)
{
	const struct qp_call *call = event_body(event, sizeof(*call));

	return call ? call->request : 0;
}

static struct qp_event **slot_of(struct enters *enters, const struct qp_event *event)
{
	uint32_t request = request_of(event);

	return &enters->slots[(request ? request : event->tid) & (ENTERS_SLOTS - 1)];
}

void enters_put(struct enters *enters, const struct qp_event *event)
{
	struct qp_event **slot = slot_of(enters, event);

	free(*slot);
	*slot = malloc(event->len);
	if (*slot)
		memcpy(*slot, event, event->len);
}

struct qp_event *enters_take(struct enters *enters, const struct qp_event *event)
{
	struct qp_event **slot = slot_of(enters, event);
	struct qp_event *enter = *slot;

	if (!enter || enter->tid != event->tid || request_of(enter) != request_of(event))
		return NULL;
	*slot = NULL;
	return enter;
}

void enters_note_object(struct enters *enters, uint32_t tid, uint64_t entered_ns)
{
	enters->objects[tid & (ENTERS_SLOTS - 1)].tid = tid;
	enters->objects[tid & (ENTERS_SLOTS - 1)].entered_ns = entered_ns;
}

bool enters_has_object(const struct enters *enters, uint32_t tid, uint64_t entered_ns)
{
	return entered_ns && enters->objects[tid & (ENTERS_SLOTS - 1)].tid == tid &&
	       enters->objects[tid & (ENTERS_SLOTS - 1)].entered_ns == entered_ns;
}

void enters_free(struct enters *enters)
{
	if (!enters)
		return;
	for (size_t i = 0; i < ENTERS_SLOTS; i++)
		free(enters->slots[i]);
	free(enters);
}
