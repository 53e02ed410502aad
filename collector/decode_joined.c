// SPDX-License-Identifier: Apache-2.0
/* Processes that were there before the recording began: what they run is known, how they
 * came to it is not. */
#include "collector/decode_joined.h"

#include "base/cleanup.h"
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

/* Each argument with its NUL, as an exec has them. */
static int take_arguments(struct process *process, const json_t *argv)
{
	const json_t *item;
	size_t i;

	json_array_foreach ((json_t *)argv, i, item) {
		const char *text = json_string_value(item);
		_cleanup_free_ char *raw = NULL;
		size_t len;
		char *grown;

		if (!text)
			continue;
		raw = unescape_text(text, &len);
		if (!raw || process->argv_len + len + 1 > QP_ARGV_BYTES_MAX) {
			process->argv_cut = true;
			return 0;
		}
		grown = realloc(process->argv, process->argv_len + len + 1);
		if (!grown)
			return -ENOMEM;
		process->argv = grown;
		memcpy(grown + process->argv_len, raw, len + 1);
		process->argv_len += len + 1;
	}
	return 0;
}

static int take_process(struct decoder *d, const json_t *object)
{
	json_int_t tgid = json_member_int(object, "tgid", 0);
	json_int_t ns_tgid = json_member_int(object, "nsTgid", 0);
	struct qp_event head = {.time_ns = (uint64_t)json_member_int(object, "startNs", 0),
				.tgid = (uint32_t)tgid,
				.tid = (uint32_t)tgid,
				.ns_tgid = (uint32_t)ns_tgid,
				.ns_tid = (uint32_t)ns_tgid};
	struct process *process;
	int r;

	if (tgid < 1 || tgid > INT32_MAX || ns_tgid < 0 || ns_tgid > INT32_MAX ||
	    proctree_get(&d->tree, head.tgid))
		return 0;
	r = proctree_add(&d->tree, &head, &process);
	if (r == -E2BIG)
		return 0;
	if (r)
		return r;
	actor_of_unknown(d, process);
	process->exe = json_member_raw(object, "exe");
	process->cwd = json_member_raw(object, "cwd");
	return take_arguments(process, json_object_get(object, "argv"));
}

int joined_put(struct decoder *d, const json_t *object)
{
	const json_t *process;
	size_t i;

	if (d->mode != MODE_COLLECT)
		return 0;
	d->joined_late = true;
	json_array_foreach (json_object_get(object, "processes"), i, process) {
		int r = take_process(d, process);

		if (r)
			return r;
	}
	return 0;
}
