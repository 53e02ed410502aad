// SPDX-License-Identifier: Apache-2.0
/* Takes records out of the ring into the log, counts them, and has paths looked up. */
#include "collector/capture.h"

#include "base/cleanup.h"
#include "collector/fields.h"
#include "collector/resolve.h"

#include "capture.skel.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Records of one drain, so that a flood leaves the caller time for its other work. */
#define DRAIN_RECORDS_MAX 262144

/* Not an error of the log: the drain has had its share. */
#define DRAIN_ENOUGH (-ECANCELED)

static bool is_whole(const struct collector *collector, const struct qp_event *event, size_t len)
{
	return len >= sizeof(*event) && event->len == len && event->version == QP_EVENT_VERSION &&
	       event->type && event->type < QP_TYPES_MAX && event->cpu < collector->cpu_cnt &&
	       event->seq;
}

static void resolve_call(struct collector *collector, const struct qp_event *event)
{
	_cleanup_free_ struct qp_event *enter = enters_take(collector->enters, event->tid);
	const struct qp_call *call = event_body(event, sizeof(*call));

	if (!call)
		return;
	if (enter) {
		const struct qp_call *entered = event_body(enter, sizeof(*entered));

		if (!entered || entered->call != call->call ||
		    entered->entered_ns != call->entered_ns)
			free(steal_ptr(enter));
	}
	resolve_event(event, enter, &collector->roots, collector->log);
}

int drain_sample(void *context, void *data, size_t len)
{
	struct collector *collector = context;
	const struct qp_event *event = data;
	int rc;

	if (!is_whole(collector, event, len)) {
		collector->delivery.malformed++;
		return 0;
	}
	rc = log_writer_append(collector->log, LOG_RECORD_EVENT, data, len);
	if (rc) {
		if (!collector->log_error)
			collector->log_error = rc;
		collector->delivery.unlogged++;
		return 0;
	}
	collector->delivery.by_cpu[event->cpu]++;
	collector->delivery.by_type[event->type]++;
	if (event->seq > collector->delivery.last_seq[event->cpu])
		collector->delivery.last_seq[event->cpu] = event->seq;
	if (event->type == QP_EVENT_ENTER)
		enters_put(collector->enters, event);
	else if (event->type == QP_EVENT_CALL)
		resolve_call(collector, event);
	else
		roots_note(&collector->roots, event);
	return ++collector->drained < DRAIN_RECORDS_MAX ? 0 : DRAIN_ENOUGH;
}

int collector_drain(struct collector *collector, struct log_writer *log)
{
	struct epoll_event ignored[4];
	uint64_t expirations;
	int rc;

	/* Take the wake-ups back before looking, so that none is missed. */
	while (epoll_wait(collector->epoll_fd, ignored, 4, 0) < 0 && errno == EINTR)
		;
	if (read(collector->timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return -errno;
	__atomic_store_n(&collector->skel->bss->wake_pending, 0, __ATOMIC_SEQ_CST);
	collector->log = log;
	collector->log_error = 0;
	collector->drained = 0;
	rc = ring_buffer__consume(collector->ring);
	collector->log = NULL;
	if (collector->log_error)
		return collector->log_error;
	return rc < 0 && rc != DRAIN_ENOUGH ? rc : 0;
}
