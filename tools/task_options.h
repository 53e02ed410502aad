/* SPDX-License-Identifier: Apache-2.0 */
/* The options that qp run and qp exec share. */
#ifndef QP_TOOLS_TASK_OPTIONS_H
#define QP_TOOLS_TASK_OPTIONS_H

#include "base/options.h"
#include "tools/task/task.h"

#define TASK_OPTIONS_MAX 24

/* Sets @options to the defaults and @rows to the shared rows, ended; returns how many, so
 * that a command can put its own after them (and end the table again). */
size_t task_options_rows(struct task_options *options, struct option rows[static TASK_OPTIONS_MAX]);

#endif
