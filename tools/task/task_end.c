// SPDX-License-Identifier: Apache-2.0
/* The end of a task: teardown, the log's last records, the receipt. */
#include "tools/task/task.h"

#include "base/cleanup.h"
#include "base/decoys.h"
#include "base/io.h"
#include "tools/derive.h"
#include "tools/task/folder.h"
#include "tools/task/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static json_t *teardown_object(void)
{
	return json_pack("{s:{s:[], s:[], s:[]}, s:[], s:[]}", "removed", "containers", "networks",
			 "volumes", "leftoversForTask", "hostTempDirs");
}

/* What the task made on the host, save the receipt's folder. */
static void task_teardown(struct task *task, json_t *teardown)
{
	sandbox_destroy(task->sandbox, teardown);
	task->sandbox = NULL;
	sinkhole_free(task->sinkhole);
	task->sinkhole = NULL;
	if (task->netns_fd >= 0) {
		close(task->netns_fd);
		task->netns_fd = -1;
		json_array_append_new(
			json_object_get(json_object_get(teardown, "removed"), "networks"),
			json_sprintf("qp-net-%s", task->id));
	}
	if (task->temp && temporary_remove(task->temp))
		json_array_append_new(json_object_get(teardown, "hostTempDirs"),
				      json_string(task->temp));
	sandbox_sweep(task->id, teardown);
}

static int log_end(struct task *task, struct qp_error *err)
{
	_cleanup_json_ json_t *teardown = teardown_object(), *trailer = NULL;
	char sha256[SHA256_HEX_SIZE];
	uint64_t bytes;
	int r;

	task_teardown(task, teardown);
	r = log_writer_append_json(task->log, LOG_RECORD_TEARDOWN, teardown);
	if (!r)
		r = collector_stop(task->collector, task->log);
	if (!r)
		r = collector_counters(task->collector, &trailer);
	if (!r) {
		json_object_set_new(trailer, "complete", json_true());
		r = log_writer_append_json(task->log, LOG_RECORD_TRAILER, trailer);
	}
	if (r)
		log_writer_abandon(task->log);
	else
		r = log_writer_close_take(task->log, sha256, &bytes);
	task->log = NULL;
	if (r)
		return qp_error_set(err, r, "cannot write the evidence log %s: %s%s",
				    task->log_path, strerror(-r),
				    r == -ENOSPC ? " (free some space, or name another folder with "
						   "--out)"
						 : "");
	return 0;
}

int task_finish(struct task *task, struct qp_error *err)
{
	int r;

	progress_begin(&task->progress, "receipt");
	r = log_end(task, err);
	if (!r)
		r = derive(task->log_path, NULL, &task->derivation, err);
	progress_end(&task->progress, "%s", r ? "failed" : "");
	return r;
}

void task_close(struct task *task, bool keep)
{
	task_teardown(task, NULL);
	log_writer_abandon(task->log);
	loader_free(task->loader);
	collector_free(task->collector);
	if (!keep)
		folder_undo(task);
	janitor_dismiss(task->janitor);
	download_clear(&task->download);
	if (task->signal_fd >= 0)
		close(task->signal_fd);
	if (task->control_fd >= 0)
		close(task->control_fd);
	decoys_free(task->decoys);
	json_decref(task->limits_hit);
	json_decref(task->env_libraries);
	json_decref(task->tls);
	authority_free(task->authority);
	free(task->folder);
	free(task->temp);
	free(task->log_path);
	free(task->rules_text);
	key_free(task->key);
	free(task->bundle_path);
	derivation_clear(&task->derivation);
	free(task->runtime);
}
