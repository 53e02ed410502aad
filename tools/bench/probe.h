/* SPDX-License-Identifier: Apache-2.0 */
/* Small loops of system calls in a child, in or outside a cgroup, traced by strace or not. */
#ifndef QP_TOOLS_BENCH_PROBE_H
#define QP_TOOLS_BENCH_PROBE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum probe_kind {
	PROBE_GETPPID,	  /* one call that nothing is recorded of */
	PROBE_OPEN_CLOSE, /* opens a file, which is recorded, and closes it */
	PROBE_FORK_EXEC,  /* forks, executes true, waits */
};

#define PROBE_ANY_CPU  (-1)
#define PROBE_NO_GROUP (-1)

struct probe {
	enum probe_kind kind;
	uint64_t iterations;
	uint64_t per_second;	/* at most so many; 0: as many as go */
	int group_fd;		/* joined first; PROBE_NO_GROUP: stays where it is */
	int cpu;		/* bound to it, and strace too; PROBE_ANY_CPU */
	const char *trace_file; /* strace -f writes here; NULL: untraced */
};

/* Of the whole loop. CPU time is the process's own: what its children or a tracer spend is
 * not in it, nor how long others had the processor. */
struct probe_took {
	uint64_t wall_ns, cpu_ns;
};

struct probe_child;

/* Starts the child, which waits; traced already if it is to be. */
int probe_prepare(const struct probe *probe, struct probe_child **ret_child, struct qp_error *err);

/* Lets it run. */
int probe_go(struct probe_child *child);

/* Waits for its end and frees it. */
int probe_finish_take(struct probe_child *child, struct probe_took *ret_took, struct qp_error *err);

/* All three. */
int probe_run(const struct probe *probe, struct probe_took *ret_took, struct qp_error *err);

/* Attaches strace -f to the living process @pid, writing to @path, bound to @cpu unless it
 * is PROBE_ANY_CPU. Returns when it is traced; strace, child *ret_strace, ends after it. */
int strace_attach(pid_t pid, const char *path, int cpu, pid_t *ret_strace, struct qp_error *err);

#endif
