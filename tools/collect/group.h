/* SPDX-License-Identifier: Apache-2.0 */
/* One recorded group's log, from its preamble to its trailer. */
#ifndef QP_TOOLS_COLLECT_GROUP_H
#define QP_TOOLS_COLLECT_GROUP_H

#include "base/error.h"
#include "collector/groups.h"

#include <stdbool.h>
#include <stdint.h>

struct group {
	uint64_t id; /* of the cgroup */
	char *path;  /* below the mount point, as it is */
	uint32_t slot;
	struct log_writer *log; /* NULL before the first event of one that goes on, and after
				   a failure */
	char *log_path;
	bool joined_late;
	bool used_before;   /* processes ran in it before, and none was there when it was found */
	bool failed;	    /* its log could not be written; said already */
	bool was_populated; /* at any time */
	bool populated;
	bool gone;		 /* the folder was removed */
	uint64_t empty_since_ns; /* CLOCK_BOOTTIME */
	uint64_t flushed_events;
};

/* *ret_group is the caller's; it takes @slot when that succeeds. */
int group_new(uint64_t id, const char *path, uint32_t slot, struct group **ret_group);

/* Opens a new log in @out and writes the preamble; events go there from now on. An error
 * makes the group failed: its events are dropped. */
int group_open_log(struct group *group, struct collector *collector, const char *out,
		   struct qp_error *err);

/* Processes turned out to have been in it before it was recorded: its log is to say so. */
void group_join_late(struct group *group);

/* Whether the log failed since the last look; says so once. */
bool group_check(struct group *group, const struct collector *collector);

/* Pushes what came since the last flush to the file. */
void group_flush(struct group *group, const struct collector *collector);

/* After groups_settle(): writes the trailer and closes. 0 or the first error; a log that
 * failed stays cut, without a trailer. */
int group_finish(struct group *group, struct collector *collector, struct qp_error *err);

/* Frees what it holds, not its slot. */
void group_free(struct group *group);

#endif
