/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel record of the evidence log, checked: every length, count and name is within
 * its bounds before anyone looks at it. What it means is not decided here.
 */
#ifndef QP_COLLECTOR_DECODE_EVENT_H
#define QP_COLLECTOR_DECODE_EVENT_H

#include "bpf/event.h"

#include <stdbool.h>
#include <stddef.h>

#define EVENT_FIELDS_MAX 24

struct event_field {
	uint8_t kind, role, flags;
	uint32_t len;
	const unsigned char *data; /* within the record's bytes */
};

struct kernel_event {
	struct qp_event head;
	union {
		struct qp_fork fork;
		struct qp_exec exec;
		struct qp_exit exit;
		struct qp_move move;
		struct qp_call call;
		struct qp_sockaddr sockaddr;
		struct qp_object object;
	};
	struct event_field fields[EVENT_FIELDS_MAX];
	size_t fields_cnt;
};

/*
 * Parses the @len bytes of one record, which must outlive *ret_event. 0; -EBADMSG with
 * *ret_why, a constant, when it is malformed; -ENOTSUP for a type of a later version.
 */
int event_parse(const void *bytes, size_t len, struct kernel_event *ret_event,
		const char **ret_why);

/* "fork", "exec", ...; NULL for a type without a name. */
const char *event_type_name(uint16_t type);

/* The first field of that kind and role, or NULL. */
const struct event_field *event_field_find(const struct kernel_event *event,
					   enum qp_field_kind kind, unsigned int role);

struct qp_path event_path(const struct event_field *field);
struct qp_sock event_sock(const struct event_field *field);
uint32_t event_pid(const struct event_field *field);

/* The place's absolute text; for what is in no file system its one name. A new string of
 * the caller's, raw bytes without a NUL inside; NULL when out of memory. */
char *event_path_text(const struct event_field *field);

/* A string field's bytes as a new string; bytes behind a NUL, which no kernel sends, are
 * left out. NULL when out of memory. */
char *event_string_text(const struct event_field *field);

#endif
