/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the records of a request of io_uring in what a live test captured. */
#ifndef QP_TESTS_COLLECTOR_CAPTURE_URING_H
#define QP_TESTS_COLLECTOR_CAPTURE_URING_H

#include "bpf/uring.h"
#include "tests/collector/capture_run.h"
#include "tests/collector/uring_ring.h"

#define CALL_SIZE sizeof(struct qp_call)

static inline const struct qp_call *body_of(const struct qp_event *event)
{
	cr_assert_not_null(event);
	return event_body(event, CALL_SIZE);
}

/* The record of a request's result: of the child itself, by the kernel's number. */
static inline const struct qp_event *result_of(const struct capture *c, uint32_t call,
					       uint32_t opcode, int64_t ret)
{
	const struct qp_event *event = capture_event(c, QP_EVENT_CALL, call, 0);
	const struct qp_call *body = body_of(event);

	cr_expect(body->flags & QP_CALL_IO_URING);
	cr_expect_eq(body->nr, opcode);
	cr_expect_eq(body->ret, ret, "%ld", (long)body->ret);
	cr_expect_neq(body->request, 0);
	cr_expect_eq(event->tgid, (uint32_t)c->child);
	return event;
}

/* The record of its submission. */
static inline const struct qp_event *submission_of(const struct capture *c, uint32_t call)
{
	const struct qp_event *event = capture_event(c, QP_EVENT_ENTER, call, 0);
	const struct qp_call *result = body_of(capture_event(c, QP_EVENT_CALL, call, 0));

	cr_expect_eq(body_of(event)->request, result->request);
	cr_expect_eq(event->tgid, (uint32_t)c->child);
	return event;
}

static inline void expect_name(const struct qp_event *event, unsigned int role, const char *name)
{
	const char *text = capture_text(event, CALL_SIZE, QP_FIELD_STRING, role);

	cr_assert_not_null(text);
	cr_expect_str_eq(text, name);
}

static inline json_int_t requests(const struct capture *c, const char *name)
{
	const json_t *uring = json_object_get(c->counters, "uring");

	return json_integer_value(json_object_get(json_object_get(uring, "byOpcode"), name));
}

static inline json_int_t unfinished(const struct capture *c)
{
	return json_integer_value(
		json_object_get(json_object_get(c->counters, "uring"), "unfinished"));
}

static inline void ring_need(struct ring *ring, uint32_t flags)
{
	if (ring_open(ring, flags))
		_exit(92);
}

#endif
