// SPDX-License-Identifier: Apache-2.0
/* Takes records out of the ring into the log, counts them, and has paths looked up. */
#include "collector/capture.h"

#include "base/cleanup.h"
#include "collector/fields.h"
#include "collector/resolve.h"
#include "collector/written.h"

#include "capture.skel.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Records of one drain, so that a flood leaves the caller time for its other work. */
#define DRAIN_RECORDS_MAX 262144

/* Records between two looks at the sums of bytes, which grow while records wait here. */
#define ROOM_CHECK 256

/* Not an error of the log: the drain has had its share. */
#define DRAIN_ENOUGH (-ECANCELED)

static bool is_whole(const struct collector *collector, const struct qp_event *event, size_t len)
{
	return len >= sizeof(*event) && event->len == len && event->version == QP_EVENT_VERSION &&
	       event->type && event->type < QP_TYPES_MAX && event->cpu < collector->cpu_cnt &&
	       event->seq;
}

/* The kernel told what the call acts on: there is nothing to look up at its exit. */
static void note_object(struct collector *collector, const struct qp_event *event)
{
	const struct qp_object *object = event_body(event, sizeof(*object));

	if (object)
		enters_note_object(collector->enters, event->tid, object->entered_ns);
}

static void resolve_call(struct collector *collector, struct slot *slot,
			 const struct qp_event *event)
{
	_cleanup_free_ struct qp_event *enter = enters_take(collector->enters, event);
	const struct qp_call *call = event_body(event, sizeof(*call));

	if (!call || enters_has_object(collector->enters, event->tid, call->entered_ns))
		return;
	if (enter) {
		const struct qp_call *entered = event_body(enter, sizeof(*entered));

		if (!entered || entered->call != call->call ||
		    entered->entered_ns != call->entered_ns)
			free(steal_ptr(enter));
	}
	resolve_event(event, enter, &slot->roots, slot->log);
}

/* A record that reached its slot: logged, or counted as one that could not be. */
static void take_event(struct collector *collector, struct slot *slot, const struct qp_event *event)
{
	struct delivery *delivery = &slot->delivery;
	int rc = log_writer_append(slot->log, LOG_RECORD_EVENT, event, event->len);

	if (rc) {
		if (!slot->log_error)
			slot->log_error = rc;
		delivery->unlogged++;
		return;
	}
	if (collector->watch) {
		rc = collector->watch(collector->watch_context, event, event->len, slot->log);
		if (rc && !slot->log_error)
			slot->log_error = rc;
	}
	delivery->by_cpu[event->cpu]++;
	delivery->by_type[event->type]++;
	if (event->seq > delivery->last_seq[event->cpu])
		delivery->last_seq[event->cpu] = event->seq;
	if (event->type == QP_EVENT_ENTER)
		enters_put(collector->enters, event);
	else if (event->type == QP_EVENT_OBJECT)
		note_object(collector, event);
	else if (event->type == QP_EVENT_CALL)
		resolve_call(collector, slot, event);
	else
		roots_note(&slot->roots, event);
}

static void take_notice(struct collector *collector, const struct qp_notice *notice, size_t len)
{
	size_t bare = offsetof(struct qp_notice, path);
	bool whole = len == sizeof(*notice) && memchr(notice->path, '\0', sizeof(notice->path));

	if (len >= bare && notice->slot <= collector->slots_cnt && collector->watcher.on_notice &&
	    (notice->kind == QP_NOTICE_MADE ? whole : len == bare))
		collector->watcher.on_notice(collector->watcher.context, notice);
	else
		collector->malformed++;
}

static bool has_log(struct collector *collector, uint32_t number)
{
	struct slot *const *slot = &collector->slots[number];

	if (!*slot && collector->watcher.on_first)
		collector->watcher.on_first(collector->watcher.context, number);
	return *slot && (*slot)->log;
}

int drain_sample(void *context, void *data, size_t len)
{
	struct collector *collector = context;
	const struct qp_event *event = (const void *)((const char *)data + sizeof(uint64_t));
	uint64_t number = len >= sizeof(number) ? *(const uint64_t *)data : 0;

	if (number == QP_SAMPLE_NOTICE)
		take_notice(collector, (const void *)event, len - sizeof(number));
	else if (!number || number > collector->slots_cnt ||
		 !is_whole(collector, event, len - sizeof(number)))
		collector->malformed++;
	else if (has_log(collector, (uint32_t)number))
		take_event(collector, collector->slots[number], event);
	if (++collector->drained % ROOM_CHECK == 0) {
		int rc = written_make_room(collector);

		if (rc)
			return rc;
	}
	return collector->drained < DRAIN_RECORDS_MAX ? 0 : DRAIN_ENOUGH;
}

int collector_drain(struct collector *collector, struct log_writer *log)
{
	struct epoll_event ignored[4];
	struct slot *only = collector->slots_cnt == 1 ? collector->slots[SLOT_ONLY] : NULL;
	uint64_t expirations;
	int rc;

	/* Take the wake-ups back before looking, so that none is missed. */
	while (epoll_wait(collector->epoll_fd, ignored, 4, 0) < 0 && errno == EINTR)
		;
	if (read(collector->timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return -errno;
	__atomic_store_n(&collector->skel->bss->wake_pending, 0, __ATOMIC_SEQ_CST);
	if (only) {
		only->log = log;
		only->log_error = 0;
	}
	collector->drained = 0;
	rc = ring_buffer__consume(collector->ring);
	collector->drained_enough = rc == DRAIN_ENOUGH;
	if (rc >= 0 || rc == DRAIN_ENOUGH)
		rc = written_make_room(collector);
	if (only) {
		only->log = NULL;
		if (only->log_error)
			return only->log_error;
	}
	return rc < 0 ? rc : 0;
}

int collector_stop(struct collector *collector, struct log_writer *log)
{
	static const uint32_t slot = SLOT_ONLY;
	struct slot *only = collector->slots[SLOT_ONLY];
	int rc;

	/* Then the numbers stay in balance. */
	__atomic_store_n(&collector->skel->bss->stopped, 1, __ATOMIC_SEQ_CST);
	rc = programs_wait();
	do
		rc = rc ? rc : collector_drain(collector, log);
	while (!rc && collector->drained_enough);
	if (rc)
		return rc;
	only->log = log;
	rc = written_take(collector, &slot, 1);
	only->log = NULL;
	return rc ? rc : only->log_error;
}
