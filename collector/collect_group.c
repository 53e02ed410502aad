// SPDX-License-Identifier: Apache-2.0
/* One recorded group, from its first look to its trailer. */
#include "collector/collect_group.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/io.h"
#include "collector/preamble.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_FILE_BYTES_MAX (1U << 20)
#define LOG_NAMES_MAX	      1000 /* logs of groups that came and went under one name */

DEFINE_CLEANUP(json, json_t *, json_decref);

/* 1 when a process is in the group or below it, 0 when none is, -errno when it is gone. */
static int is_populated(int events_fd)
{
	char text[256];
	ssize_t len = pread(events_fd, text, sizeof(text) - 1, 0);

	if (len < 0)
		return -errno;
	text[len] = '\0';
	return strstr(text, "populated 1") != NULL;
}

/* A new file "NAME.qplog", or "NAME.2.qplog" and so on. */
static int open_log(struct collect_group *group, const char *out, struct qp_error *err)
{
	_cleanup_free_ char *flat = strdup(group->name);
	int rc = -ENOMEM;

	if (!flat)
		return rc;
	for (char *p = flat; *p; p++)
		if (*p == '/')
			*p = '_';
	for (int i = 1; i <= LOG_NAMES_MAX; i++) {
		char number[16] = "";
		struct qp_error why = {0};

		if (i > 1)
			snprintf(number, sizeof(number), ".%d", i);
		free(steal_ptr(group->log_path));
		if (asprintf(&group->log_path, "%s/%s%s.qplog", out, flat, number) < 0) {
			group->log_path = NULL;
			return -ENOMEM;
		}
		rc = log_writer_open(group->log_path, &group->log, &why);
		if (rc != -EEXIST)
			return rc ? qp_error_set(err, rc, "%s", why.text) : 0;
	}
	return qp_error_set(err, rc, "%s and %d more are there already", group->log_path,
			    LOG_NAMES_MAX);
}

static int write_preamble(struct collect_group *group, uint64_t id, bool joined_late)
{
	_cleanup_free_ char *path = escape_bytes(group->name, strlen(group->name));
	_cleanup_(json) json_t *preamble = preamble_collect(collector_tier(group->collector));
	int rc;

	if (!path || !preamble)
		return -ENOMEM;
	rc = json_object_set_new(preamble, "joinedLate", json_boolean(joined_late));
	if (rc ||
	    json_object_set_new(preamble, "cgroups",
				json_pack("[{s:I, s:s}]", "id", (json_int_t)id, "path", path)))
		return -ENOMEM;
	return log_writer_append_json(group->log, LOG_RECORD_PREAMBLE, preamble);
}

int collect_group_begin(struct collect_group *group, int mount_fd, const char *name,
			struct collector *collector, const char *out, struct qp_error *err)
{
	_cleanup_close_ int fd = openat(mount_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t id;
	int rc;

	*group = (struct collect_group){.collector = collector, .events_fd = -1};
	if (fd < 0)
		return qp_error_set(err, -errno, "cannot open the cgroup %s: %s", name,
				    strerror(errno));
	group->name = strdup(name);
	group->events_fd = openat(fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (!group->name || group->events_fd < 0)
		return qp_error_set(err, -errno, "%s is no cgroup that can be watched", name);
	rc = collector_track(collector, fd, &id, err);
	if (rc)
		return rc;
	/* Looked at after the tracking began: who is in it now may have done things before. */
	rc = is_populated(group->events_fd);
	if (rc < 0)
		return qp_error_set(err, rc, "the cgroup %s went away", name);
	group->was_populated = rc;
	rc = open_log(group, out, err);
	if (!rc)
		rc = write_preamble(group, id, group->was_populated);
	return rc ? qp_error_set(err, rc, "cannot write %s: %s", group->log_path, strerror(-rc))
		  : 0;
}

int collect_group_step(struct collect_group *group)
{
	struct pollfd changed = {.fd = group->events_fd, .events = POLLPRI};
	int populated;

	/* A process that came and went between two looks leaves a change behind. */
	if (poll(&changed, 1, 0) > 0 && changed.revents & POLLPRI)
		group->was_populated = true;
	populated = is_populated(group->events_fd);
	if (populated < 0 || (!populated && group->was_populated))
		group->ended = true;
	if (populated > 0) {
		group->was_populated = true;
		group->ended = false;
	}
	return collector_drain(group->collector, group->log);
}

int collect_group_end(struct collect_group *group)
{
	_cleanup_(json) json_t *trailer = NULL;
	char sha256[SHA256_HEX_SIZE];
	uint64_t bytes;
	int rc = collector_drain(group->collector, group->log);

	if (rc)
		return rc;
	rc = collector_counters(group->collector, &trailer);
	if (rc)
		return rc;
	if (json_object_set_new(trailer, "complete", json_true()) < 0)
		return -ENOMEM;
	rc = log_writer_append_json(group->log, LOG_RECORD_TRAILER, trailer);
	if (rc)
		return rc;
	return log_writer_close_take(steal_ptr(group->log), sha256, &bytes);
}

void collect_group_clear(struct collect_group *group)
{
	log_writer_abandon(steal_ptr(group->log));
	collector_free(steal_ptr(group->collector));
	if (group->events_fd >= 0)
		close(steal_fd(&group->events_fd));
	free(steal_ptr(group->name));
	free(steal_ptr(group->log_path));
}
