/* SPDX-License-Identifier: Apache-2.0 */
/* Values of decoys in the arguments of programs that are started. */
#ifndef QP_TOOLS_TASK_DECOY_WATCH_H
#define QP_TOOLS_TASK_DECOY_WATCH_H

#include "tools/task/task.h"

/* Has the collector look at what it records: what it finds goes into the log as `decoy-use`,
 * by label, since no log has the values. Nothing without decoys. 0 or a negative errno. */
int decoy_watch_begin(struct task *task, struct qp_error *err);

#endif
