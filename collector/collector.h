/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live side of the kernel programs: load, attach, choose cgroups, drain the ring into
 * an evidence log. It records and judges nothing.
 */
#ifndef QP_COLLECTOR_COLLECTOR_H
#define QP_COLLECTOR_COLLECTOR_H

#include "base/error.h"
#include "collector/log.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct collector;

#define COLLECTOR_TIERS "auto|base|kernel-object"

struct collector_options {
	uint32_t ring_bytes; /* a power of two; 0: the default, 32 MiB */
	bool many_groups;    /* for collector/groups.h in place of collector_track() */
	uint64_t rate_max;   /* events per second of a group, 0: without bound */
	const char *tier;    /* one of COLLECTOR_TIERS; NULL: auto, the best the kernel allows */
	/* io_uring is denied to the groups: what sees its requests is left out, and takes no time
	 * to load. A ring that is made all the same makes the trace incomplete. */
	bool without_uring;
};

/*
 * Loads and attaches every program; until a group is tracked they record nothing.
 * -EPERM (not root), -ENOTSUP (no BTF, a kernel too old, no such tier here) and others, with
 * the mend in @err.
 */
int collector_open(const struct collector_options *options, struct collector **ret_collector,
		   struct qp_error *err);

/*
 * Records every task of the cgroup v2 folder @cgroup_fd (O_PATH or O_RDONLY, the caller's)
 * and of its descendants from now on, and attaches the cgroup hooks to it.
 * *ret_id is the group's kernel id.
 */
int collector_track(struct collector *collector, int cgroup_fd, uint64_t *ret_id,
		    struct qp_error *err);

/* The root folder that paths are resolved beneath when a task's own is gone already:
 * an O_PATH descriptor that the collector duplicates. */
int collector_set_root(struct collector *collector, int root_fd);

/* Looks at an event that was just put into @log, and may append what it makes of it. 0 or
 * the log's error. */
typedef int (*collector_watch_fn)(void *context, const void *event, size_t len,
				  struct log_writer *log);

/* From now on @look is asked about every event. */
void collector_set_watch(struct collector *collector, collector_watch_fn look, void *context);

/*
 * Records from now on which names the tracked tasks ask getenv and secure_getenv for, in
 * every C library (glibc, musl) that is beneath @root_fd where distributions put it.
 * *ret_libraries is the caller's: their paths beneath the root; empty when there is none.
 */
int collector_watch_env(struct collector *collector, int root_fd, json_t **ret_libraries,
			struct qp_error *err);

/* A descriptor to poll for reading; call collector_drain when it is ready. */
int collector_fd(const struct collector *collector);

/*
 * Appends every waiting event, and the `resolved` records that answer them, to @log.
 * 0 or the first error of the log; events that could not be logged count as lost.
 */
int collector_drain(struct collector *collector, struct log_writer *log);

/* Ends the recording: nothing is recorded or counted from here on. What waits and what was
 * summed up go into @log. 0 or the first error, as collector_drain(). */
int collector_stop(struct collector *collector, struct log_writer *log);

/* The trailer's object, "complete" aside: counters as docs/evidence-log.md gives them.
 * Call it after collector_stop(). */
int collector_counters(struct collector *collector, json_t **ret_counters);

/* "base" or "kernel-object". */
const char *collector_tier(const struct collector *collector);

/* In the base tier, why it is that one; "" in the other. Valid as long as the collector. */
const char *collector_tier_why(const struct collector *collector);

/* Detaches and unloads. NULL is fine. */
void collector_free(struct collector *collector);

/* Where cgroup v2 is mounted, from /proc/self/mountinfo: "/sys/fs/cgroup" or elsewhere.
 * *ret_path is the caller's. -ENOENT with the mend when it is not mounted. */
int cgroup2_mount_point(char **ret_path, struct qp_error *err);

#endif
