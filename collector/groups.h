/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many groups at once from one collector (collector_options.many_groups). Each has a slot,
 * by which its events reach a log of its own and are counted by themselves.
 */
#ifndef QP_COLLECTOR_GROUPS_H
#define QP_COLLECTOR_GROUPS_H

#include "bpf/counters.h"
#include "collector/collector.h"

/* Called during a drain, in the order of things: before the events of a new group come. */
typedef void (*collector_notice_fn)(void *context, const struct qp_notice *notice);

/* Called for the first event of a slot that has no log: groups_log() gives it one, or its
 * events are dropped. */
typedef void (*collector_first_fn)(void *context, uint32_t slot);

struct groups_watcher {
	collector_notice_fn on_notice;
	collector_first_fn on_first;
	void *context;
};

/* What the kernel counted of a slot so far. */
struct groups_totals {
	uint64_t syscalls;
	uint64_t produced;
	uint64_t lost;
	uint64_t limited; /* of the lost: beyond the rate */
};

/*
 * Attaches what sees groups come and go, and the cgroup hooks to @root_fd, the folder that
 * all groups are in. @watcher is copied, and called from the next drain on.
 */
int groups_watch(struct collector *collector, int root_fd, const struct groups_watcher *watcher,
		 struct qp_error *err);

/*
 * Has every group that is made from now on below the folder @fd tracked, if @levels has the
 * bit of its depth: bit k for those k + 1 levels below. A notice tells of each.
 */
int groups_watch_parent(struct collector *collector, int fd, uint32_t levels);

/* The kernel id of the cgroup folder @fd. 0 or -errno. */
int groups_id(int fd, uint64_t *ret_id);

/* Tracks a group that is there already. -EEXIST when it is tracked, and its notice is still
 * to come or came; -ENOSPC when there is no slot left. */
int groups_track(struct collector *collector, uint64_t cgroup_id, uint32_t *ret_slot);

/* The events of @slot go to @log, which stays the caller's, from now on. 0 or -ENOMEM. */
int groups_log(struct collector *collector, uint32_t slot, struct log_writer *log);

/* The log's first error, 0: none. */
int groups_log_error(const struct collector *collector, uint32_t slot);

/* How many events of the slot were logged. */
uint64_t groups_logged(const struct collector *collector, uint32_t slot);

/* Gives the tracked group a fresh slot in place of the one it has, which gets no more
 * events once groups_settle() has returned. */
int groups_renew(struct collector *collector, uint64_t cgroup_id, uint32_t *ret_slot);

/* The group is not tracked any more; its slot is still the caller's. */
void groups_untrack(struct collector *collector, uint64_t cgroup_id);

/* Waits until no program runs that began before, and drains all of their events. One call
 * does for any number of groups. */
int groups_settle(struct collector *collector);

/* After settling: what processes wrote to files goes into the logs of those @slots, which get
 * no more events. Needed before a slot is given back. 0 or -errno. */
int groups_sum_up(struct collector *collector, const uint32_t *slots, size_t cnt);

/* 0 or -errno. */
int groups_totals(struct collector *collector, uint32_t slot, struct groups_totals *ret_totals);

/* The trailer's object of the slot, "complete" aside, after settling. */
int groups_counters(struct collector *collector, uint32_t slot, json_t **ret_counters);

/* Clears the slot and gives it back. */
int groups_release(struct collector *collector, uint32_t slot);

/*
 * The processes that are in the tracked group now: {"processes": [{"tgid", "nsTgid",
 * "parentTgid", "startNs", "exe", "cwd", "argv", "files": [{"fd", "path"}]}], "complete"}, text
 * escaped. "complete" is false when some had to be left out. 0 or -errno.
 */
int groups_joined(struct collector *collector, uint32_t slot, json_t **ret_joined);

/* How often notices or places for groups were lacking: look for groups when it has changed. */
uint32_t groups_notices_lost(const struct collector *collector);

#endif
