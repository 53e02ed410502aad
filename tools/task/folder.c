// SPDX-License-Identifier: Apache-2.0
/* Making, filling and undoing the receipt's folder. */
#include "tools/task/folder.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/tree_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_PARENT "qp-receipts"

static const char *const files[] = {"run.qplog", "receipt.json", "receipt.dsse.json"};

static int empty_check(const char *path, struct qp_error *err)
{
	_cleanup_dir_ DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return qp_error_set(err, -errno, "--out %s: %s", path, strerror(errno));
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return qp_error_set(err, -EEXIST,
					    "--out %s holds files already (%s): name a new or an "
					    "empty folder",
					    path, entry->d_name);
	return 0;
}

static int make(struct task *task, const char *path, struct qp_error *err)
{
	if (!mkdir(path, 0755)) {
		task->folder_is_new = true;
		return 0;
	}
	if (errno == EEXIST)
		return empty_check(path, err);
	return qp_error_set(err, -errno,
			    "cannot make the folder %s: %s (name another one with --out)", path,
			    strerror(errno));
}

int folder_name_temporary(struct task *task)
{
	if (asprintf(&task->temp, "/tmp/qp-%s-fetch", task->id) < 0) {
		task->temp = NULL;
		return -ENOMEM;
	}
	return 0;
}

int folder_make(struct task *task, struct qp_error *err)
{
	_cleanup_free_ char *made = NULL;
	const char *path = task->options->out;
	int r;

	if (!path) {
		/* Another run may make it at the same time; a failure shows at the next step. */
		mkdir(DEFAULT_PARENT, 0755);
		if (asprintf(&made, DEFAULT_PARENT "/%s", task->id) < 0) {
			made = NULL;
			return -ENOMEM;
		}
		path = made;
	}
	r = make(task, path, err);
	if (r)
		return r;
	task->folder = strdup(path);
	if (!task->folder || asprintf(&task->log_path, "%s/run.qplog", path) < 0)
		return -ENOMEM;
	/* Found now rather than after a minute of work. */
	if (access(path, W_OK))
		return qp_error_set(
			err, -errno,
			"cannot write to the folder %s: %s (name another one with --out)", path,
			strerror(errno));
	if (mkdir(task->temp, 0700))
		return qp_error_set(err, -errno, "cannot make the folder %s: %s", task->temp,
				    strerror(errno));
	return 0;
}

static void in_error(const char *name, int error)
{
	log_warning("--in: %s is left out: %s", name, strerror(error));
}

int folder_take_in(const struct task *task, struct qp_error *err)
{
	struct tree_copy copy = {
		.bytes_max = task->options->limits.tmpfs_work_bytes,
		.give_away = true,
		.uid = task->persona.uid,
		.gid = task->persona.gid,
		.on_error = in_error,
	};
	const char *in = task->options->in;
	_cleanup_close_ int from_fd = -1, to_fd = -1;
	int r;

	from_fd = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	to_fd = open(task->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from_fd < 0 || to_fd < 0 || fchown(to_fd, copy.uid, copy.gid))
		return qp_error_set(err, -errno, "--in %s: %s", in, strerror(errno));
	r = tree_copy(&copy, from_fd, to_fd);
	if (r == -EFBIG)
		return qp_error_set(err, r, "--in %s does not fit into /work: raise --tmpfs-work",
				    in);
	return r ? qp_error_set(err, r, "--in %s: %s", in, strerror(-r)) : 0;
}

int folder_write(const struct task *task, const char *name, const char *bytes, size_t len,
		 struct qp_error *err)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/%s", task->folder, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = write_new_file_at(AT_FDCWD, path, 0644, bytes, len);
	if (r)
		return qp_error_set(err, r, "cannot write %s: %s%s", path, strerror(-r),
				    r == -ENOSPC ? " (free some space, or name another folder with "
						   "--out)"
						 : "");
	return 0;
}

void folder_undo(const struct task *task)
{
	if (!task->folder)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%s", task->folder, files[i]) < 0) {
			path = NULL;
			continue;
		}
		unlink(path);
	}
	if (task->folder_is_new)
		rmdir(task->folder);
	/* Goes only when no other run has put anything there. */
	if (!task->options->out)
		rmdir(DEFAULT_PARENT);
}
