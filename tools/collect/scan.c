// SPDX-License-Identifier: Apache-2.0
/* Groups that are there already: the hierarchy is walked as far as the patterns reach. */
#include "tools/collect/session_internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

bool session_wants(const struct session *session, const char *path)
{
	for (size_t i = 0; i < session->patterns_cnt; i++)
		if (pattern_match(&session->patterns[i], path))
			return true;
	return false;
}

static uint32_t levels_below(const struct session *session, const char *path)
{
	uint32_t levels = 0;

	for (size_t i = 0; i < session->patterns_cnt; i++)
		levels |= pattern_levels(&session->patterns[i], path);
	return levels;
}

/* Whether the group's file @file has the line @line, from its beginning. */
static bool file_says(const struct session *session, const char *path, const char *file,
		      const char *line)
{
	_cleanup_free_ char *name = NULL, *text = NULL;
	size_t len;

	if (asprintf(&name, "%s/%s", path, file) < 0)
		return false;
	if (read_file_at(session->mount_fd, name, 4096, &text, &len))
		return false;
	return strstr(text, line) != NULL;
}

bool session_is_populated(const struct session *session, const char *path)
{
	return file_says(session, path, "cgroup.events", "populated 1\n");
}

/* Every group has cpu.stat, whatever controllers are on; it counts those below it too. */
bool session_was_used(const struct session *session, const char *path)
{
	return file_says(session, path, "cpu.stat", "usage_usec") &&
	       !file_says(session, path, "cpu.stat", "usage_usec 0\n");
}

static bool has_group(const struct session *session, uint64_t id)
{
	for (size_t i = 1; i <= QP_SLOTS_MAX; i++)
		if (session->groups[i] && session->groups[i]->id == id)
			return true;
	return false;
}

/* Tracks the folder @fd, unless it is already: then its notice comes, or came. */
static int track(struct session *session, const char *path, int fd)
{
	uint64_t id;
	uint32_t slot;
	int rc = groups_id(fd, &id);

	if (rc || has_group(session, id))
		return rc;
	if (session->groups_cnt >= SESSION_GROUPS_MAX)
		rc = -ENOSPC;
	else
		rc = groups_track(session->collector, id, &slot);
	if (rc == -EEXIST)
		return 0;
	if (rc == -ENOSPC) {
		log_error("%s is not recorded: %d groups are recorded already", path,
			  SESSION_GROUPS_MAX);
		session->counts.refused++;
		session->failed = true;
		return 0;
	}
	if (rc)
		return rc;
	/* Looked at after the tracking began: who is in it may have done things before. */
	session_begin(session, id, path, slot, session_is_populated(session, path));
	return 0;
}

static int visit(struct session *session, const char *path, int fd, struct qp_error *err)
{
	uint32_t levels = levels_below(session, path);
	_cleanup_dir_ DIR *dir = NULL;
	const struct dirent *entry;
	int rc = 0;

	if (!levels)
		return 0;
	/* Watched before it is read: what is made in between is told by a notice. */
	rc = groups_watch_parent(session->collector, fd, levels);
	if (rc)
		return qp_error_set(err, rc, "cannot watch the cgroup /%s: %s", path,
				    strerror(-rc));
	/* A group may be gone already. */
	if (open_dir_at(fd, ".", &dir))
		return 0;
	while (!rc && (entry = readdir(dir))) {
		_cleanup_free_ char *below = NULL;
		_cleanup_close_ int child = -1;

		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", entry->d_name) < 0)
			return -ENOMEM;
		child = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (child < 0)
			continue;
		if (session_wants(session, below))
			rc = track(session, below, child);
		if (!rc)
			rc = visit(session, below, child, err);
	}
	return rc;
}

int session_scan(struct session *session, struct qp_error *err)
{
	int rc;

	session->notices_lost = groups_notices_lost(session->collector);
	rc = visit(session, "", session->mount_fd, err);
	return rc ? qp_error_set(err, rc, "cannot look for groups: %s", strerror(-rc)) : 0;
}
