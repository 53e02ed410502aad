/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a rule file strictly: where the reader stands, and errors that name that place. */
#ifndef QP_RULES_READER_H
#define QP_RULES_READER_H

#include "base/error.h"
#include "rules/place.h"

#include <jansson.h>

#define READER_STEPS_MAX 64

struct reader {
	const char *text;
	size_t len;
	const char *file;
	struct qp_error *err;
	struct place_step steps[READER_STEPS_MAX];
	size_t depth;
};

enum reader_where { READER_AT_VALUE, READER_AT_KEY };

/* Steps into a member or an element; each is undone with reader_leave. A place deeper
 * than READER_STEPS_MAX is named by what holds it. */
void reader_enter_key(struct reader *reader, const char *key);
void reader_enter_index(struct reader *reader, size_t index);
void reader_leave(struct reader *reader);

/* Fills the error with the place of what the reader stands on; returns -EINVAL. */
int reader_fail(struct reader *reader, enum reader_where where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The member @key, a string that is not empty, of the object the reader stands on. */
int reader_string(struct reader *reader, const json_t *object, const char *key,
		  const char **ret_text);

#endif
