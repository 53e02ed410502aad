// SPDX-License-Identifier: Apache-2.0
/* The folders of a fetch on the host: what the container gets, and what must go again. */
#include "tools/download/fetch.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/download/failure.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static int folder_give(const struct fetch *fetch, const char *name, struct qp_error *err)
{
	if ((strcmp(name, ".") && mkdirat(fetch->out_fd, name, 0700)) ||
	    fchownat(fetch->out_fd, name, fetch->persona->uid, fetch->persona->gid,
		     AT_SYMLINK_NOFOLLOW))
		return qp_error_set(err, -errno, "cannot prepare the folder %s/%s: %s",
				    fetch->out_dir, name, strerror(errno));
	return 0;
}

/* A tarball may lie in a folder that the container's user cannot read: it gets a copy. */
static int tarball_copy(const struct fetch *fetch, int work_fd, struct qp_error *err)
{
	_cleanup_close_ int from = open(fetch->spec->path, O_RDONLY | O_CLOEXEC), to = -1;
	struct stat st;
	ssize_t n;

	if (from < 0 || fstat(from, &st))
		return qp_error_set(err, -errno, "%s: %s", fetch->spec->path, strerror(errno));
	if ((uint64_t)st.st_size > fetch->limits->download_max_bytes)
		return fetch_failure(fetch->spec, fetch->limits, "EFBIG", "the tarball alone", err);
	to = openat(work_fd, "src.tgz", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0 || fchown(to, fetch->persona->uid, fetch->persona->gid))
		return qp_error_set(err, -errno, "cannot copy %s: %s", fetch->spec->path,
				    strerror(errno));
	for (off_t left = st.st_size; left > 0; left -= n) {
		n = sendfile(to, from, NULL, (size_t)left);
		if (n <= 0)
			return qp_error_set(err, n ? -errno : -EIO, "cannot copy %s: %s",
					    fetch->spec->path, n ? strerror(errno) : "it shrank");
	}
	return 0;
}

bool fetch_is_folder(const struct fetch *fetch)
{
	return fetch->spec->source == SPEC_FOLDER || fetch->spec->source == SPEC_FIXTURE;
}

/* Found before a container is made for nothing. */
static int folder_check(const struct fetch *fetch, struct qp_error *err)
{
	char path[PATH_MAX + 16];

	if (!fetch_is_folder(fetch))
		return 0;
	snprintf(path, sizeof(path), "%s/package.json", fetch->spec->path);
	if (!access(path, F_OK))
		return 0;
	return fetch_failure(fetch->spec, fetch->limits, "ENOMANIFEST",
			     "the folder has no package.json", err);
}

static int job_write(const struct fetch *fetch, int work_fd, struct qp_error *err)
{
	bool tarball = fetch->spec->source == SPEC_TARBALL;
	_cleanup_free_ char *text = NULL;
	json_auto_t *job =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "source",
			  fetch_is_folder(fetch) ? "folder" : spec_source_name(fetch->spec->source),
			  "name", fetch->spec->name, "range", fetch->spec->range, "from",
			  tarball ? INSIDE_WORK "/src.tgz" : INSIDE_SRC, "project", INSIDE_OUT,
			  "cache", INSIDE_WORK "/cache", "report", INSIDE_WORK "/report.json",
			  "maxPackages", (json_int_t)fetch->limits->download_max_packages,
			  "maxBytes", (json_int_t)fetch->limits->download_max_bytes);
	int r;

	text = job ? json_dumps(job, 0) : NULL;
	if (!text)
		return -ENOMEM;
	r = write_new_file_at(work_fd, "job.json", 0644, text, strlen(text));
	if (r)
		return qp_error_set(err, r, "cannot write the download's job: %s", strerror(-r));
	return tarball ? tarball_copy(fetch, work_fd, err) : 0;
}

int workspace_prepare(struct fetch *fetch, struct qp_error *err)
{
	static const char *const folders[] = {".", PRIVATE, PRIVATE_CONF, PRIVATE_WORK};
	_cleanup_close_ int conf_fd = -1, work_fd = -1;
	int r;

	r = folder_check(fetch, err);
	if (r)
		return r;
	fetch->out_fd = open(fetch->out_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fetch->out_fd < 0)
		return qp_error_set(err, -errno, "%s: %s", fetch->out_dir, strerror(errno));
	for (size_t i = 0; !r && i < sizeof(folders) / sizeof(*folders); i++)
		r = folder_give(fetch, folders[i], err);
	if (r)
		return r;
	conf_fd = openat(fetch->out_fd, PRIVATE_CONF, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	work_fd = openat(fetch->out_fd, PRIVATE_WORK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (conf_fd < 0 || work_fd < 0)
		return -errno;
	fetch->settings = (struct npm_settings){
		.dirfd = conf_fd,
		.inside = INSIDE_CONF,
		.uid = fetch->persona->uid,
		.gid = fetch->persona->gid,
	};
	r = npm_settings_gather(&fetch->settings, &fetch->npm, err);
	return r ? r : job_write(fetch, work_fd, err);
}

int workspace_remove(struct fetch *fetch, struct qp_error *err)
{
	int r = fetch->out_fd < 0 ? 0 : remove_tree_at(fetch->out_fd, PRIVATE);

	if (fetch->out_fd >= 0)
		close(steal_fd(&fetch->out_fd));
	return r ? qp_error_set(err, r, "cannot remove %s/" PRIVATE ": %s", fetch->out_dir,
				strerror(-r))
		 : 0;
}
