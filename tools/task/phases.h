/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of one sandbox, in order: what each runs, what its process reported, and when
 * the next one begins. Speaks with PID 1 over the control channel and writes the phase,
 * scan and load records.
 */
#ifndef QP_TOOLS_TASK_PHASES_H
#define QP_TOOLS_TASK_PHASES_H

#include "base/error.h"
#include "collector/log.h"
#include "tools/sandbox/sandbox.h"

#include <stdbool.h>

struct phases;

struct phases_plan {
	const char *nonce;
	const struct sandbox *sandbox;
	/* Of a package: its name and the paths, relative to /work, of the packages with
	 * scripts, in the order in which they are to run. */
	const char *package;
	const json_t *packages;
	/* Of `qp exec`, NULL-terminated; then @package is NULL. */
	char *const *command;
};

/* What is going on, for who shows progress. */
typedef void (*phases_notify_func)(void *context, const char *phase, bool begun, int rc);

/* Sends the first messages. The plan's members must outlive the phases. */
int phases_start(int control_fd, const struct phases_plan *plan, struct log_writer *log,
		 phases_notify_func notify, void *context, struct phases **ret_phases,
		 struct qp_error *err);

/*
 * Takes what PID 1 says. 0; 1 once the last phase ended and PID 1 was told to finish;
 * -EPROTO with @err for what no PID 1 of ours says, or the log's error.
 */
int phases_drain(struct phases *phases, struct qp_error *err);

/* The phase that is under way, or "". */
const char *phases_current(const struct phases *phases);

void phases_free(struct phases *phases);

#endif
