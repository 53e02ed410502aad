/* SPDX-License-Identifier: Apache-2.0 */
/* One group that qp-collect records: its collector, its log, whether anyone is in it. */
#ifndef QP_COLLECTOR_COLLECT_GROUP_H
#define QP_COLLECTOR_COLLECT_GROUP_H

#include "base/error.h"
#include "collector/collector.h"

#include <stdbool.h>

struct collect_group {
	char *name; /* beneath the mount point of cgroup v2 */
	char *log_path;
	struct collector *collector;
	struct log_writer *log;
	int events_fd; /* cgroup.events, to see it filled and emptied */
	bool was_populated;
	bool ended; /* empty after it had been filled, or removed */
};

/*
 * Begins to record the group @name beneath @mount_fd with @collector, which is the
 * group's from here on, also on failure. The log is a new file in @out.
 */
int collect_group_begin(struct collect_group *group, int mount_fd, const char *name,
			struct collector *collector, const char *out, struct qp_error *err);

/* Drains, and looks whether the group has ended. 0 or the log's error. */
int collect_group_step(struct collect_group *group);

/* Writes the trailer and closes the log. 0 or the first error. */
int collect_group_end(struct collect_group *group);

/* Frees what a group holds; a log that was not ended stays without its trailer. */
void collect_group_clear(struct collect_group *group);

#endif
