/* SPDX-License-Identifier: Apache-2.0 */
/* The roots of tasks, and what stands in for that of a task which is gone. */
#ifndef QP_COLLECTOR_ROOTS_H
#define QP_COLLECTOR_ROOTS_H

#include "bpf/event.h"

struct roots {
	int given; /* by the collector's user, or -1 */
	int last;  /* a living task's, of the group cgroup_id, or -1 */
	uint64_t cgroup_id;
};

#define ROOTS_NONE ((struct roots){.given = -1, .last = -1})

/* Has a copy of @fd stand in from now on. 0 or -errno. */
int roots_give(struct roots *roots, int fd);

/* Keeps the root of the event's task if none of its group is known: a task that changes a
 * file and ends is gone before its record is read. */
void roots_note(struct roots *roots, const struct qp_event *event);

/*
 * The root of the event's task while it lives, else the one that was given, else the last
 * that a task of the same group had. The caller closes it; -ESRCH when there is none.
 */
int roots_open(struct roots *roots, const struct qp_event *event);

void roots_close(struct roots *roots);

#endif
