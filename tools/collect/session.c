// SPDX-License-Identifier: Apache-2.0
/* The groups that are recorded. Finding those that are there already is scan.c's business. */
#include "tools/collect/session_internal.h"

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int open_log(struct session *session, struct group *group)
{
	struct qp_error err = {0};
	int rc = group_open_log(group, session->collector, session->out, &err);

	if (rc) {
		qp_error_set(&err, rc, "%s is not recorded: %s", group->path, strerror(-rc));
		log_qp_error(&err);
		session->failed = true;
		session->counts.logs_failed++;
	} else {
		log_info("recording %s into %s%s", group->path, group->log_path,
			 group->joined_late ? " (processes were in it before)" : "");
	}
	return rc;
}

static struct group *add(struct session *session, uint64_t id, const char *path, uint32_t slot)
{
	struct group *group;

	if (group_new(id, path, slot, &group)) {
		session->failed = true;
		log_error("%s is not recorded: out of memory", path);
		return NULL;
	}
	session->groups[slot] = group;
	session->groups_cnt++;
	return group;
}

static void drop(struct session *session, uint64_t id, uint32_t slot)
{
	groups_untrack(session->collector, id);
	session->dropped[session->dropped_cnt++] = slot;
}

void session_begin(struct session *session, uint64_t id, const char *path, uint32_t slot,
		   bool joined_late)
{
	struct group *group = add(session, id, path, slot);

	if (!group) {
		drop(session, id, slot);
		return;
	}
	group->joined_late = group->was_populated = group->populated = joined_late;
	group->used_before = !joined_late && session_was_used(session, path);
	session->counts.groups++;
	/* What it did before is over: its log begins with its next process. */
	if (!group->used_before)
		open_log(session, group);
}

static void on_made(struct session *session, const struct qp_notice *notice)
{
	const char *path = notice->path[0] == '/' ? notice->path + 1 : notice->path;
	bool wanted = session_wants(session, path);
	bool room = notice->slot && session->groups_cnt < SESSION_GROUPS_MAX;

	if (wanted && room) {
		session_begin(session, notice->cgroup_id, path, notice->slot, false);
		return;
	}
	if (wanted) {
		session->counts.refused++;
		session->failed = true;
		log_error("%s is not recorded: %d groups are recorded already", path,
			  SESSION_GROUPS_MAX);
	}
	if (notice->slot)
		drop(session, notice->cgroup_id, notice->slot);
}

void session_on_notice(void *context, const struct qp_notice *notice)
{
	struct session *session = context;
	struct group *group = session->groups[notice->slot];

	if (notice->kind == QP_NOTICE_MADE) {
		on_made(session, notice);
		return;
	}
	if (!group || group->id != notice->cgroup_id)
		return;
	if (notice->kind == QP_NOTICE_GONE) {
		group->gone = true;
	} else {
		group->populated = notice->kind == QP_NOTICE_FILLED;
		/* Who left was in it when its recording began, and gone when we looked. */
		if (!group->populated && !group->was_populated)
			group_join_late(group);
		group->was_populated |= group->populated;
		group->empty_since_ns = clock_boot_ns();
	}
}

void session_on_first(void *context, uint32_t slot)
{
	struct session *session = context;
	struct group *group = session->groups[slot];

	if (group && !group->log && !group->failed)
		open_log(session, group);
}

/* A fresh group in place of one whose log ends while the folder stays. */
static int succeed(struct session *session, const struct group *old)
{
	struct group *group;
	uint32_t slot;
	int rc = groups_renew(session->collector, old->id, &slot);

	if (rc == -ENOENT)
		return 0; /* gone: its notice is on the way */
	if (rc)
		return rc;
	group = add(session, old->id, old->path, slot);
	if (!group)
		return -ENOMEM;
	group->populated = session_is_populated(session, old->path);
	group->was_populated = group->populated;
	group->joined_late = group->populated;
	return 0;
}

static void finish(struct session *session, struct group *group)
{
	struct session_counts *counts = &session->counts;
	struct groups_totals totals = {0};
	struct qp_error err = {0};
	bool had_log, was_failed = group->failed;

	/* All that ever ran in it ran before: a log that would be empty must not look complete. */
	if (group->used_before && !group->log && !group->failed && !group->was_populated) {
		group_join_late(group);
		open_log(session, group);
	}
	had_log = group->log != NULL;
	if (!groups_totals(session->collector, group->slot, &totals)) {
		counts->syscalls += totals.syscalls;
		counts->produced += totals.produced;
		counts->limited += totals.limited;
		counts->delivered += groups_logged(session->collector, group->slot);
	}
	if (group_finish(group, session->collector, &err))
		log_qp_error(&err);
	if (group->failed && !was_failed)
		counts->logs_failed++;
	session->failed |= group->failed;
	if (had_log) {
		if (!group->failed) {
			counts->logs++;
			log_info("%s is complete", group->log_path);
		}
		receipts_ask(&session->receipts, group->log_path);
	}
	session->groups[group->slot] = NULL;
	session->groups_cnt--;
	if (groups_release(session->collector, group->slot))
		session->failed = true;
	group_free(group);
}

/* What was written in @ending goes into their logs; that of dropped slots is forgotten. */
static void sum_up(struct session *session, struct group **ending, size_t cnt)
{
	uint32_t slots[QP_SLOTS_MAX + QP_SLOTS_MAX];
	size_t slots_cnt = 0;
	int rc;

	for (size_t i = 0; i < cnt; i++)
		slots[slots_cnt++] = ending[i]->slot;
	for (size_t i = 0; i < session->dropped_cnt; i++)
		slots[slots_cnt++] = session->dropped[i];
	rc = groups_sum_up(session->collector, slots, slots_cnt);
	if (rc) {
		session->failed = true;
		log_error("cannot tell how much was written to files: %s", strerror(-rc));
	}
}

/* Settles once, then finishes the groups of @ending and gives dropped slots back. */
static int finish_all(struct session *session, struct group **ending, size_t cnt)
{
	size_t dropped = session->dropped_cnt;
	int rc = 0;

	if (!cnt && !dropped)
		return 0;
	rc = groups_settle(session->collector);
	if (rc)
		log_warning("cannot wait for running programs: %s", strerror(-rc));
	sum_up(session, ending, cnt);
	for (size_t i = 0; i < cnt; i++) {
		group_check(ending[i], session->collector);
		finish(session, ending[i]);
	}
	for (size_t i = 0; i < dropped; i++)
		if (groups_release(session->collector, session->dropped[i]))
			session->failed = true;
	session->dropped_cnt -= dropped;
	memmove(session->dropped, session->dropped + dropped,
		session->dropped_cnt * sizeof(session->dropped[0]));
	return 0;
}

static bool has_ended(const struct session *session, const struct group *group, uint64_t now_ns)
{
	if (group->gone)
		return true;
	if (group->populated || !group->was_populated)
		return false;
	return session->exit_when_empty || now_ns - group->empty_since_ns >= SESSION_LINGER_NS;
}

int session_step(struct session *session, struct qp_error *err)
{
	struct group *ending[QP_SLOTS_MAX];
	uint64_t now_ns = clock_boot_ns();
	size_t cnt = 0;
	int rc = collector_drain(session->collector, NULL);

	if (!rc && groups_notices_lost(session->collector) != session->notices_lost)
		rc = session_scan(session, err);
	for (uint32_t slot = 1; !rc && slot <= QP_SLOTS_MAX; slot++) {
		struct group *group = session->groups[slot];

		if (!group)
			continue;
		if (group_check(group, session->collector)) {
			session->failed = true;
			session->counts.logs_failed++;
		}
		if (!has_ended(session, group, now_ns))
			continue;
		ending[cnt++] = group;
		if (group->gone || session->exit_when_empty)
			groups_untrack(session->collector, group->id);
		else
			rc = succeed(session, group);
	}
	if (!rc)
		rc = finish_all(session, ending, cnt);
	receipts_push(&session->receipts);
	return rc ? qp_error_set(err, rc, "cannot go on: %s", strerror(-rc)) : 0;
}

void session_flush(struct session *session)
{
	for (uint32_t slot = 1; slot <= QP_SLOTS_MAX; slot++)
		if (session->groups[slot])
			group_flush(session->groups[slot], session->collector);
}

/* An empty group of which nothing was recorded yet keeps the log that it has. */
static bool has_begun(const struct session *session, const struct group *group)
{
	return group->log && (group->populated || groups_logged(session->collector, group->slot));
}

int session_rotate(struct session *session, bool stop, struct qp_error *err)
{
	struct group *ending[QP_SLOTS_MAX];
	size_t cnt = 0;
	int rc = collector_drain(session->collector, NULL);

	for (uint32_t slot = 1; slot <= QP_SLOTS_MAX; slot++)
		if (session->groups[slot] && (stop || has_begun(session, session->groups[slot])))
			ending[cnt++] = session->groups[slot];
	for (size_t i = 0; !rc && i < cnt; i++) {
		if (stop || ending[i]->gone)
			groups_untrack(session->collector, ending[i]->id);
		else
			rc = succeed(session, ending[i]);
	}
	if (!rc)
		rc = finish_all(session, ending, cnt);
	return rc ? qp_error_set(err, rc, "cannot finish the logs: %s", strerror(-rc)) : 0;
}

static int patterns_parse(struct session *session, struct qp_error *err)
{
	for (size_t i = 0; i < session->globs.cnt; i++) {
		int rc = pattern_parse(session->globs.items[i], session->mount_point,
				       &session->patterns[i], err);
		if (rc)
			return rc;
		session->patterns_cnt++;
	}
	return 0;
}

int session_open(struct session *session, struct qp_error *err)
{
	struct collector_options options = {.ring_bytes = (uint32_t)session->ring_bytes,
					    .many_groups = true,
					    .rate_max = session->rate_max,
					    .tier = session->tier};
	struct groups_watcher watcher = {
		.on_notice = session_on_notice, .on_first = session_on_first, .context = session};
	int rc = cgroup2_mount_point(&session->mount_point, err);

	if (!rc)
		rc = patterns_parse(session, err);
	if (rc)
		return rc;
	if (mkdir(session->out, 0755) < 0 && errno != EEXIST)
		return qp_error_set(err, -errno, "cannot make the folder %s: %s", session->out,
				    strerror(errno));
	session->mount_fd = open(session->mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (session->mount_fd < 0)
		return qp_error_set(err, -errno, "cannot open %s: %s", session->mount_point,
				    strerror(errno));
	rc = receipts_start(&session->receipts, session->json, err);
	if (!rc)
		rc = collector_open(&options, &session->collector, err);
	if (!rc)
		rc = groups_watch(session->collector, session->mount_fd, &watcher, err);
	return rc ? rc : session_scan(session, err);
}

void session_close(struct session *session)
{
	if (receipts_finish(&session->receipts))
		session->failed = true;
	for (uint32_t slot = 1; slot <= QP_SLOTS_MAX; slot++)
		group_free(session->groups[slot]);
	collector_free(session->collector);
	for (size_t i = 0; i < session->patterns_cnt; i++)
		pattern_clear(&session->patterns[i]);
	if (session->mount_fd >= 0)
		close(session->mount_fd);
	free(session->mount_point);
}
