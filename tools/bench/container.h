/* SPDX-License-Identifier: Apache-2.0 */
/* One script in the sandbox that packages are run in: timed, watched or not. */
#ifndef QP_TOOLS_BENCH_CONTAINER_H
#define QP_TOOLS_BENCH_CONTAINER_H

#include "tools/bench/bench.h"

enum container_watch {
	WATCH_NONE,
	WATCH_COLLECTOR,
	WATCH_STRACE, /* strace -f, from outside */
};

struct container_job {
	const char *script; /* of sh, in the folder / */
	const char *in;	    /* the host's folder at /in, read-only */
	const struct persona *persona;
	enum container_watch watch;
};

/* *ret_seconds from the start of the first program to its end; the making of the container
 * is not in it. -EIO when the script failed, with the end of what it printed. */
int container_time(struct bench_run *run, const struct container_job *job, double *ret_seconds,
		   struct qp_error *err);

#endif
