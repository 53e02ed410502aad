// SPDX-License-Identifier: Apache-2.0
/* Only the recording side knows the values, so it is here that they are recognised. */
#include "tools/task/decoy_watch.h"

#include "base/decoy_scan.h"
#include "collector/decode_event.h"
#include "tools/derive.h"

#include <errno.h>

static int use_append(const struct qp_event *head, const struct decoys *decoys,
		      const struct decoy_hits *hits, bool searched, struct log_writer *log)
{
	_cleanup_json_ json_t *record = json_pack(
		"{s:I, s:I, s:o, s:o}", "cpu", (json_int_t)head->cpu, "seq", (json_int_t)head->seq,
		"decoys", decoys_labels(decoys, hits), "decoyEncodings", decoys_ways(hits));

	if (!record || (!searched && json_object_set_new(record, "unsearched", json_true())))
		return -ENOMEM;
	return log_writer_append_json(log, LOG_RECORD_DECOY_USE, record);
}

static int look(void *context, const void *bytes, size_t len, struct log_writer *log)
{
	const struct decoys *decoys = context;
	const struct event_field *argv;
	const struct qp_event *head = bytes;
	struct decoy_hits hits = {0};
	struct kernel_event event;
	const char *why;
	bool searched;

	/* Decoding says what is wrong with a record that cannot be read. */
	if (head->type != QP_EVENT_EXEC || event_parse(bytes, len, &event, &why) < 0)
		return 0;
	argv = event_field_find(&event, QP_FIELD_ARGV, 0);
	if (!argv)
		return 0;
	searched = decoys_search(decoys, argv->data, argv->len, &hits);
	return hits.labels || !searched ? use_append(head, decoys, &hits, searched, log) : 0;
}

int decoy_watch_begin(struct task *task, struct qp_error *err)
{
	const json_t *values = sandbox_decoy_values(task->sandbox);
	int r;

	if (!values)
		return 0;
	r = decoys_new(values, &task->decoys, err);
	if (!r)
		collector_set_watch(task->collector, look, task->decoys);
	return r;
}
