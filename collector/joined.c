// SPDX-License-Identifier: Apache-2.0
/* Who is in a group already: what the iterators of join.bpf.c answer, as JSON. */
#include "collector/groups.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/io.h"
#include "collector/capture.h"
#include "collector/decode_event.h"
#include "collector/decode_json.h"

#include "capture.skel.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <string.h>

#define ANSWER_BYTES_MAX (4U << 20) /* of one iterator; more are left out */

DEFINE_CLEANUP(link, struct bpf_link *, bpf_link__destroy);

typedef int (*answer_fn)(json_t *processes, const struct kernel_event *event);

/* The text of the place with that role as JSON; NULL when there is none. */
static json_t *place(const struct kernel_event *event, unsigned int role)
{
	const struct event_field *field = event_field_find(event, QP_FIELD_PATH, role);
	_cleanup_free_ char *raw = field ? event_path_text(field) : NULL;
	_cleanup_free_ char *text = raw ? escape_bytes(raw, strlen(raw)) : NULL;

	return text ? json_string(text) : NULL;
}

/* The arguments are in the process's memory; it may be gone by now, or have changed them. */
static json_t *arguments(uint32_t tgid)
{
	_cleanup_free_ char *bytes = NULL;
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", tgid);
	if (read_file_at(AT_FDCWD, path, QP_ARGV_BYTES_MAX, &bytes, &len))
		return json_array();
	return json_argv(bytes, len);
}

static int take_process(json_t *processes, const struct kernel_event *event)
{
	json_t *process = json_pack(
		"{s:i, s:i, s:i, s:I, s:o*, s:o*, s:o, s:[]}", "tgid", (int)event->head.tgid,
		"nsTgid", (int)event->head.ns_tgid, "parentTgid", (int)event->exec.parent_tgid,
		"startNs", (json_int_t)event->head.time_ns, "exe", place(event, QP_ROLE_EXE), "cwd",
		place(event, QP_ROLE_CWD), "argv", arguments(event->head.tgid), "files");

	return json_array_append_new(processes, process) < 0 ? -ENOMEM : 0;
}

static int take_file(json_t *processes, const struct kernel_event *event)
{
	json_t *process;
	size_t i;

	json_array_foreach (processes, i, process) {
		json_t *file;

		if (json_integer_value(json_object_get(process, "tgid")) != event->head.tgid)
			continue;
		file = json_pack("{s:i, s:o*}", "fd", (int)event->exec.old_tid, "path",
				 place(event, QP_ROLE_EXE));
		return json_array_append_new(json_object_get(process, "files"), file) < 0 ? -ENOMEM
											  : 0;
	}
	return 0; /* it came after the processes were looked at */
}

/* Runs the iterator to its end. */
static int iterate(struct bpf_program *program, answer_fn take, json_t *processes, bool *complete)
{
	_cleanup_(link) struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	_cleanup_free_ char *bytes = NULL;
	_cleanup_close_ int fd = -1;
	size_t len, at = 0;
	int rc;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		return fd;
	rc = read_all(fd, ANSWER_BYTES_MAX, &bytes, &len);
	if (rc == -EFBIG)
		*complete = false;
	if (rc)
		return rc == -EFBIG ? 0 : rc;
	while (at + sizeof(struct qp_event) <= len) {
		struct kernel_event event;
		const char *why;
		uint32_t size;

		memcpy(&size, bytes + at, sizeof(size));
		if (size > len - at || event_parse(bytes + at, size, &event, &why))
			return -EBADMSG;
		rc = take(processes, &event);
		if (rc)
			return rc;
		at += size;
	}
	return 0;
}

int groups_joined(struct collector *collector, uint32_t slot, json_t **ret_joined)
{
	_cleanup_json_ json_t *processes = json_array();
	struct capture_bpf *skel = collector->skel;
	bool complete = true;
	int rc;

	__atomic_store_n(&skel->bss->join_missed, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&skel->bss->join_slot, slot, __ATOMIC_SEQ_CST);
	rc = iterate(skel->progs.on_join_task, take_process, processes, &complete);
	if (!rc)
		rc = iterate(skel->progs.on_join_file, take_file, processes, &complete);
	if (rc)
		return rc;
	complete &= __atomic_load_n(&skel->bss->join_missed, __ATOMIC_SEQ_CST) == 0;
	*ret_joined = json_pack("{s:O, s:b}", "processes", processes, "complete", complete);
	return *ret_joined ? 0 : -ENOMEM;
}
