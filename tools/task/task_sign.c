// SPDX-License-Identifier: Apache-2.0
/* A task's signature: the key before anything is run, the signed files at the end. */
#include "tools/task/task.h"

#include "base/cleanup.h"
#include "rules/bundle.h"
#include "tools/sign.h"
#include "tools/task/folder.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define BUNDLE_NAME "bundle.jsonl"

/* Beside the receipt's folder, wherever the kernel says that this is. */
static int bundle_place(struct task *task, struct qp_error *err)
{
	_cleanup_free_ char *folder = NULL, *parent = NULL;

	if (task->options->bundle) {
		task->bundle_path = strdup(task->options->bundle);
		return task->bundle_path ? 0 : -ENOMEM;
	}
	if (asprintf(&parent, "%s/..", task->folder) < 0) {
		parent = NULL;
		return -ENOMEM;
	}
	folder = realpath(parent, NULL);
	if (!folder)
		return qp_error_set(err, -errno, "cannot find the folder beside %s: %s",
				    task->folder, strerror(errno));
	if (asprintf(&task->bundle_path, "%s/" BUNDLE_NAME, strcmp(folder, "/") ? folder : "") <
	    0) {
		task->bundle_path = NULL;
		return -ENOMEM;
	}
	return 0;
}

int task_sign_prepare(struct task *task, struct qp_error *err)
{
	const struct task_options *options = task->options;
	int r;

	if (!options->key && (options->key_passphrase_file || options->bundle))
		return qp_error_set(err, -EINVAL, "--%s means nothing without --key",
				    options->bundle ? "bundle" : "key-passphrase-file");
	if (!options->key)
		return 0;
	r = key_private_read(options->key, options->key_passphrase_file, &task->key, err);
	if (!r)
		r = bundle_place(task, err);
	return r ? r : bundle_check(task->bundle_path, task->key, err);
}

int task_sign(struct task *task, uint64_t *ret_line, struct qp_error *err)
{
	_cleanup_free_ char *envelope = NULL;
	size_t len;
	int r;

	*ret_line = 0;
	if (!task->key)
		return 0;
	r = sign_derivation(&task->derivation, task->key, task->bundle_path, &envelope, &len,
			    ret_line, err);
	return r ? r : folder_write(task, "receipt.dsse.json", envelope, len, err);
}
