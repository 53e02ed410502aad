// SPDX-License-Identifier: Apache-2.0
/* The order of the phases and what is kept of each. */
#include "tools/task/phases.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "tools/derive.h"
#include "tools/sandbox/control.h"

#include <errno.h>
#include <string.h>

/* What a phase's process may report on its descriptor 3; more is cut, and said. */
#define DATA_BYTES_MAX	  (4U << 20)
#define STRAGGLER_SECONDS 2
#define PHASE_ARGS_MAX	  1024
#define STAGE_FOLDER	  "/opt/app/"

struct phase_step {
	const char *name;
	const char *script; /* NULL: PID 1 does it itself, or the plan's command */
	const char *cwd;
};

static const struct phase_step package_steps[] = {
	{"copy", NULL, "/"},
	{"scan", STAGE_FOLDER "scan.js", "/work"},
	{"rebuild", STAGE_FOLDER "rebuild.js", "/work"},
	{"harness", STAGE_FOLDER "harness.js", "/work"},
	{"done", NULL, "/"},
};

static const struct phase_step command_steps[] = {
	{"copy", NULL, "/"},
	{"scan", STAGE_FOLDER "scan.js", "/work"},
	{"run", NULL, "/work"},
	{"done", NULL, "/"},
};

struct phases {
	int fd;
	const struct phases_plan *plan;
	struct log_writer *log;
	phases_notify_func notify;
	void *context;
	const struct phase_step *steps;
	size_t steps_cnt, current;
	bool begun, finished, cut;
	char *data;
	size_t len;
};
