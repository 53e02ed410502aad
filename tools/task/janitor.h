/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleans up after a qp that ends without doing it itself: a process of its own that waits
 * for qp's end of a pipe to close, however qp ended, and then sweeps what the task left.
 */
#ifndef QP_TOOLS_TASK_JANITOR_H
#define QP_TOOLS_TASK_JANITOR_H

#include "base/error.h"

struct janitor;

/* Begins to watch over @task_id and, when it is not NULL, the folder @temp_folder. */
int janitor_start(const char *task_id, const char *temp_folder, struct janitor **ret_janitor,
		  struct qp_error *err);

/* The task has cleaned up: the janitor goes without doing anything. NULL is fine. */
void janitor_dismiss(struct janitor *janitor);

#endif
