/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop of one observed sandbox, from its start to the end of its PID 1. */
#ifndef QP_TOOLS_TASK_LOOP_H
#define QP_TOOLS_TASK_LOOP_H

#include "tools/task/task.h"

/*
 * Starts the sandbox, drives its phases, records what comes, and returns when PID 1 has
 * ended. Parts that fail are recorded and end the sandbox; only a log that cannot be
 * written, a signal to qp (-ECANCELED) or a sandbox that cannot start is an error.
 */
int loop_run(struct task *task, uint64_t cgroup_id, struct qp_error *err);

/* Adds to @limits, an array of names, what @more names besides. */
void limits_merge(json_t *limits, const json_t *more);

#endif
