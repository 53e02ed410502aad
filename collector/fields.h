/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the body and the fields of a kernel record, each checked against its length. */
#ifndef QP_COLLECTOR_FIELDS_H
#define QP_COLLECTOR_FIELDS_H

#include "bpf/event.h"

#include <stddef.h>

/* The body of @size bytes, NULL when the record is shorter. It lives as the record. */
static inline const void *event_body(const struct qp_event *event, size_t size)
{
	return event->len >= sizeof(*event) + size ? event + 1 : NULL;
}

/*
 * The first field behind a body of @body_size bytes, or the one behind @after; NULL when
 * there is none, or when what is left is no whole field.
 */
static inline const struct qp_field *event_field(const struct qp_event *event, size_t body_size,
						 const struct qp_field *after)
{
	const char *start = (const char *)event;
	size_t pos = sizeof(*event) + body_size;
	const struct qp_field *field;

	if (after)
		pos = (size_t)((const char *)after - start) + sizeof(*after) +
		      (((size_t)after->len + 7) & ~(size_t)7);
	if (pos + sizeof(*field) > event->len)
		return NULL;
	field = (const struct qp_field *)(start + pos);
	return field->len <= event->len - pos - sizeof(*field) ? field : NULL;
}

/* The first field of that kind and role, or NULL. */
static inline const struct qp_field *event_find(const struct qp_event *event, size_t body_size,
						enum qp_field_kind kind, unsigned int role)
{
	const struct qp_field *field = NULL;

	while ((field = event_field(event, body_size, field)))
		if (field->kind == kind && field->role == role)
			return field;
	return NULL;
}

#endif
