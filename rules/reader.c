// SPDX-License-Identifier: Apache-2.0
/* Steps through a rule file and errors with line and column. */
#include "rules/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void enter(struct reader *reader, struct place_step step)
{
	if (reader->depth < READER_STEPS_MAX)
		reader->steps[reader->depth] = step;
	reader->depth++;
}

void reader_enter_key(struct reader *reader, const char *key)
{
	enter(reader, (struct place_step){.key = key});
}

void reader_enter_index(struct reader *reader, size_t index)
{
	enter(reader, (struct place_step){.index = index});
}

void reader_leave(struct reader *reader)
{
	reader->depth--;
}

int reader_fail(struct reader *reader, enum reader_where where, const char *fmt, ...)
{
	size_t depth = reader->depth < READER_STEPS_MAX ? reader->depth : READER_STEPS_MAX;
	struct place place =
		place_find(reader->text, reader->len, reader->steps, depth, where == READER_AT_KEY);
	char text[QP_ERROR_TEXT_SIZE];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return qp_error_at(reader->err, -EINVAL, reader->file, place.line, place.column, "%s",
			   text);
}

int reader_string(struct reader *reader, const json_t *object, const char *key,
		  const char **ret_text)
{
	const json_t *value = json_object_get(object, key);
	int r = 0;

	if (!value)
		return reader_fail(reader, READER_AT_VALUE, "\"%s\" is missing", key);
	reader_enter_key(reader, key);
	if (!json_is_string(value) || !json_string_length(value))
		r = reader_fail(reader, READER_AT_VALUE, "\"%s\" must be a string, not empty", key);
	else
		*ret_text = json_string_value(value);
	reader_leave(reader);
	return r;
}
