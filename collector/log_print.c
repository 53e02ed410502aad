// SPDX-License-Identifier: Apache-2.0
/* Records as JSON lines. A line's members keep their order: what it is comes first. */
#include "collector/log_print.h"

#include "collector/decode_json.h"
#include "collector/log_print_event.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int add_bytes(json_t *line, const struct log_record *record, const char *why)
{
	if (why && json_object_set_new(line, "malformed", json_string(why)) < 0)
		return -ENOMEM;
	return json_object_set_new(line, "bytes", json_escaped(record->payload, record->len)) < 0
		       ? -ENOMEM
		       : 0;
}

static int add_record(json_t *line, const struct log_record *record)
{
	_cleanup_json_ json_t *object = NULL;
	struct kernel_event event;
	json_error_t error;
	const char *why;

	if (!log_record_name(record->type))
		return add_bytes(line, record, NULL);
	if (record->type == LOG_RECORD_EVENT) {
		if (event_parse(record->payload, record->len, &event, &why) < 0)
			return add_bytes(line, record, why);
		return log_print_event(&event, line);
	}
	object = json_loadb((const char *)record->payload, record->len, JSON_REJECT_DUPLICATES,
			    &error);
	if (!object)
		return add_bytes(line, record, "no JSON");
	return json_object_set(line, "record", object) < 0 ? -ENOMEM : 0;
}

int log_print_json(struct log_reader *reader, FILE *out, struct qp_error *err)
{
	struct log_record record;
	uint64_t n = 0;

	while (log_reader_next(reader, &record)) {
		const char *name = log_record_name(record.type);
		_cleanup_json_ json_t *line = json_object();

		json_object_set_new(line, "n", json_integer((json_int_t)++n));
		json_object_set_new(line, "type",
				    name ? json_string(name) : json_integer(record.type));
		if (add_record(line, &record) < 0)
			return qp_error_set(err, -ENOMEM, "out of memory");
		errno = 0;
		if (json_dumpf(line, out, JSON_COMPACT) < 0 || fputc('\n', out) == EOF) {
			int r = errno ? -errno : -EIO;

			return qp_error_set(err, r, "cannot write: %s", strerror(-r));
		}
	}
	return 0;
}
