// SPDX-License-Identifier: Apache-2.0
/* Entry records by thread, in a table of fixed size: a call that never returns leaves its
 * entry until another thread needs the place. */
#include "collector/enters.h"

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

static struct qp_event **slot_of(struct enters *enters, uint32_t tid)
{
	return &enters->slots[tid & (ENTERS_SLOTS - 1)];
}

void enters_put(struct enters *enters, const struct qp_event *event)
{
	struct qp_event **slot = slot_of(enters, event->tid);

	free(*slot);
	*slot = malloc(event->len);
	if (*slot)
		memcpy(*slot, event, event->len);
}

struct qp_event *enters_take(struct enters *enters, uint32_t tid)
{
	struct qp_event **slot = slot_of(enters, tid);
	struct qp_event *event = *slot;

	if (!event || event->tid != tid)
		return NULL;
	*slot = NULL;
	return event;
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
