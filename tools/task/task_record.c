// SPDX-License-Identifier: Apache-2.0
/* The records that qp itself puts into the evidence log. */
#include "tools/task/task.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/io.h"
#include "tools/derive.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <string.h>
#include <sys/utsname.h>

/* Of what the sandboxed code prints; the rest is counted, not kept. */
#define OUTPUT_BYTES_MAX (1U << 20)

/* Appends @object and lets go of it; -ENOMEM when it could not be made. */
static int append_take(struct task *task, enum log_record_type type, json_t *object)
{
	int r = object ? log_writer_append_json(task->log, type, object) : -ENOMEM;

	json_decref(object);
	return r;
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *boot_id(void)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, &text, &len))
		return json_null();
	text[strcspn(text, "\n")] = '\0';
	return json_string(text);
}

static json_t *command_json(const struct task *task)
{
	json_t *list = json_array();

	for (char *const *word = task->options->command; word && *word; word++) {
		_cleanup_free_ char *escaped = escape_bytes(*word, strlen(*word));

		json_array_append_new(list, json_string(escaped ? escaped : ""));
	}
	return list;
}

/* What was asked for: a spec, or, for a command, its first word. */
static json_t *package_json(const struct task *task)
{
	const struct spec *spec = task->options->spec;
	const char *requested = spec ? spec->requested : task->options->command[0];
	_cleanup_free_ char *escaped = escape_bytes(requested, strlen(requested));

	return json_pack("{s:s, s:s}", "requested", escaped ? escaped : "", "source",
			 spec ? spec_source_name(spec->source) : "command");
}

static json_t *areas_json(const struct task *task)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "work", "/work", "tmp", "/tmp", "home",
			 task->persona.home, "shm", "/dev/shm");
}

int task_record_preamble(struct task *task)
{
	bool run = task->options->spec;
	struct utsname uts;
	json_t *object;
	int r;

	uname(&uts);
	object = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:{s:s, s:s, s:s}, s:o, s:s, s:o, s:o, s:o, "
		"s:o, s:s, s:{s:s, s:i, s:i}, s:{s:s}, s:{s:s, s:s, s:s}}",
		"schema", "qp-log/1", "taskId", task->id, "runPrefix", "qp", "nonce", task->nonce,
		"mode", run ? "run" : "exec", "startedAt", task->started_at, "started_ns",
		(json_int_t)task->started_ns, "kernel", "release", uts.release, "version",
		uts.version, "machine", uts.machine, "bootId", boot_id(), "tier",
		collector_tier(task->collector), "package", package_json(task), "command",
		command_json(task), "limits", limits_json(&task->options->limits), "areas",
		areas_json(task), "tls", task->options->tls, "user", "name", task->persona.user,
		"uid", (int)task->persona.uid, "gid", (int)task->persona.gid, "host", "name",
		task->persona.host, "versions", "qp", QP_VERSION, "libc", gnu_get_libc_version(),
		"kernel", uts.release);
	r = append_take(task, LOG_RECORD_PREAMBLE, object);
	if (r)
		return r;
	return append_take(task, LOG_RECORD_RULES,
			   json_pack("{s:o, s:s}", "name", text_or_null(task->options->rules),
				     "text", task->rules_text));
}

int task_record_download(struct task *task)
{
	int r = log_writer_append_json(task->log, LOG_RECORD_DOWNLOAD, task->download.report);

	if (!r && task->download.packages)
		r = log_writer_append_json(task->log, LOG_RECORD_PACKAGES, task->download.packages);
	return r;
}

int task_record_output(struct task *task, const char *bytes, size_t len)
{
	_cleanup_free_ char *escaped = NULL;
	size_t room =
		task->output_bytes < OUTPUT_BYTES_MAX ? OUTPUT_BYTES_MAX - task->output_bytes : 0;

	task->output_bytes += len;
	if (len > room)
		len = room;
	if (!len)
		return 0;
	escaped = escape_lines(bytes, len);
	if (!escaped)
		return -ENOMEM;
	return append_take(task, LOG_RECORD_OUTPUT, json_pack("{s:s}", "text", escaped));
}

int task_record_error(struct task *task, const char *part, const struct qp_error *err)
{
	char text[QP_ERROR_TEXT_SIZE + 512];
	_cleanup_free_ char *escaped = NULL;

	qp_error_format(err, text, sizeof(text));
	escaped = escape_bytes(text, strlen(text));
	return append_take(task, LOG_RECORD_ERROR,
			   json_pack("{s:s, s:s}", "part", part, "text", escaped ? escaped : ""));
}

int task_record_refusal(struct task *task)
{
	char finished[RFC3339_SIZE];

	clock_rfc3339(finished);
	return append_take(task, LOG_RECORD_END, json_pack("{s:s}", "finishedAt", finished));
}

int task_record_end(struct task *task, const json_t *status, uint64_t sandbox_ns)
{
	char finished[RFC3339_SIZE];
	json_t *object = json_deep_copy(status);

	clock_rfc3339(finished);
	if (!object)
		object = json_object();
	json_object_set_new(object, "endedBy", json_string(task->ended_by));
	json_object_set(object, "limitsHit", task->limits_hit);
	json_object_set_new(object, "milliseconds",
			    json_integer((json_int_t)(sandbox_ns / 1000000)));
	json_object_set_new(object, "finishedAt", json_string(finished));
	json_object_set_new(object, "outputBytes", json_integer((json_int_t)task->output_bytes));
	return append_take(task, LOG_RECORD_END, object);
}
