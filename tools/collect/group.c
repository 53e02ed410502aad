// SPDX-License-Identifier: Apache-2.0
/* One recorded group's log. Which groups there are is session.c's business. */
#include "tools/collect/group.h"

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/log.h"
#include "collector/preamble.h"
#include "tools/collect/name.h"
#include "tools/derive.h"

#include <string.h>

#define LOG_NAMES_MAX 1000 /* logs of one name begun in the same millisecond */

int group_new(uint64_t id, const char *path, uint32_t slot, struct group **ret_group)
{
	struct group *group = calloc(1, sizeof(*group));

	if (!group)
		return -ENOMEM;
	group->id = id;
	group->slot = slot;
	group->path = strdup(path);
	if (!group->path) {
		free(group);
		return -ENOMEM;
	}
	*ret_group = group;
	return 0;
}

/* "20261104T172645.868Z": no character that a file name should not have. */
static void format_now(char out[static RFC3339_SIZE])
{
	char text[RFC3339_SIZE];
	size_t at = 0;

	clock_rfc3339(text);
	for (const char *p = text; *p; p++)
		if (*p != '-' && *p != ':')
			out[at++] = *p;
	out[at] = '\0';
}

static int open_file(struct group *group, const char *out, struct qp_error *err)
{
	_cleanup_free_ char *flat = name_flatten(group->path);
	char now[RFC3339_SIZE];
	int rc = -ENOMEM;

	if (!flat)
		return rc;
	format_now(now);
	for (int i = 1; i <= LOG_NAMES_MAX; i++) {
		char number[16] = "";
		struct qp_error why = {0};

		if (i > 1)
			snprintf(number, sizeof(number), ".%d", i);
		free(steal_ptr(group->log_path));
		if (asprintf(&group->log_path, "%s/%s-%s%s.qplog", out, flat, now, number) < 0) {
			group->log_path = NULL;
			return -ENOMEM;
		}
		rc = log_writer_open_small(group->log_path, &group->log, &why);
		if (rc != -EEXIST)
			return rc ? qp_error_set(err, rc, "%s", why.text) : 0;
	}
	return qp_error_set(err, rc, "%s and %d more are there already", group->log_path,
			    LOG_NAMES_MAX);
}

static int write_preamble(struct group *group, const char *tier)
{
	_cleanup_free_ char *path = escape_bytes(group->path, strlen(group->path));
	_cleanup_json_ json_t *preamble = preamble_collect(tier);

	if (!path || !preamble)
		return -ENOMEM;
	if (json_object_set_new(preamble, "joinedLate", json_boolean(group->joined_late)) ||
	    json_object_set_new(
		    preamble, "cgroups",
		    json_pack("[{s:I, s:s}]", "id", (json_int_t)group->id, "path", path)))
		return -ENOMEM;
	return log_writer_append_json(group->log, LOG_RECORD_PREAMBLE, preamble);
}

/* Who is in it already, as far as that can be told; the receipt is incomplete anyway. */
static int write_joined(struct group *group, struct collector *collector)
{
	_cleanup_json_ json_t *joined = NULL;
	int rc = groups_joined(collector, group->slot, &joined);

	if (rc) {
		log_warning("%s: cannot tell who is in it already: %s", group->path, strerror(-rc));
		return 0;
	}
	return log_writer_append_json(group->log, LOG_RECORD_JOINED, joined);
}

void group_join_late(struct group *group)
{
	_cleanup_json_ json_t *joined = NULL;

	if (group->joined_late)
		return;
	group->joined_late = true;
	log_warning("%s: processes ran in it before it was recorded", group->path);
	joined = json_pack("{s:[], s:b}", "processes", "complete", 0);
	/* A log that takes no more is noticed by its next event or its end. */
	if (group->log && !group->failed)
		log_writer_append_json(group->log, LOG_RECORD_JOINED, joined);
}

int group_open_log(struct group *group, struct collector *collector, const char *out,
		   struct qp_error *err)
{
	int rc = open_file(group, out, err);

	if (!rc) {
		rc = write_preamble(group, collector_tier(collector));
		if (!rc && group->joined_late)
			rc = write_joined(group, collector);
		qp_error_set(err, rc, "cannot write %s: %s", group->log_path, strerror(-rc));
	}
	if (rc)
		log_writer_abandon(steal_ptr(group->log));
	group->failed = rc != 0;
	/* Also without a log: its events are dropped, and counted as lost. */
	return groups_log(collector, group->slot, group->log) ? -ENOMEM : rc;
}

bool group_check(struct group *group, const struct collector *collector)
{
	int rc = groups_log_error(collector, group->slot);

	if (!rc || group->failed)
		return false;
	group->failed = true;
	log_error("%s is cut: %s; what %s does from here on is not recorded", group->log_path,
		  strerror(-rc), group->path);
	return true;
}

void group_flush(struct group *group, const struct collector *collector)
{
	uint64_t events = groups_logged(collector, group->slot);

	if (!group->log || group->failed || events == group->flushed_events)
		return;
	group->flushed_events = events;
	log_writer_flush(group->log);
}

int group_finish(struct group *group, struct collector *collector, struct qp_error *err)
{
	_cleanup_json_ json_t *trailer = NULL;
	char sha256[SHA256_HEX_SIZE];
	uint64_t bytes;
	int rc;

	if (!group->log)
		return 0;
	if (group->failed) {
		log_writer_abandon(steal_ptr(group->log));
		return 0;
	}
	rc = groups_counters(collector, group->slot, &trailer);
	if (!rc && json_object_set_new(trailer, "complete", json_true()) < 0)
		rc = -ENOMEM;
	if (!rc)
		rc = log_writer_append_json(group->log, LOG_RECORD_TRAILER, trailer);
	if (rc)
		log_writer_abandon(steal_ptr(group->log));
	else
		rc = log_writer_close_take(steal_ptr(group->log), sha256, &bytes);
	group->failed = rc != 0;
	return rc ? qp_error_set(err, rc, "%s is cut: %s", group->log_path, strerror(-rc)) : 0;
}

void group_free(struct group *group)
{
	if (!group)
		return;
	log_writer_abandon(group->log);
	free(group->path);
	free(group->log_path);
	free(group);
}
