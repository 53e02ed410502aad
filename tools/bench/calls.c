// SPDX-License-Identifier: Apache-2.0
/* getppid, open-close, fork-exec, outside: what one call costs, watched in every way. */
#include "tools/bench/bench.h"
#include "tools/bench/probe.h"
#include "tools/bench/watcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define UNTRACED   "untraced"
#define CPU	   ", CPU time"
#define PINNED_CPU 0

struct call {
	enum probe_kind kind;
	uint64_t iterations; /* odd, so that a loss shows */
	uint64_t straced;    /* iterations under strace, which is slow */
	uint64_t events;     /* recorded of one iteration, at least */
};

static const struct call getppid_call = {PROBE_GETPPID, 1000003, 20011, 0};
static const struct call open_close_call = {PROBE_OPEN_CLOSE, 200003, 5003, 1};
static const struct call fork_exec_call = {PROBE_FORK_EXEC, 301, 101, 3};

static int measure(struct bench_run *run, const struct probe *probe, const char *series,
		   struct qp_error *err)
{
	struct probe_took took;
	char cpu_series[BENCH_NAME_SIZE];
	int r = probe_run(probe, &took, err);

	if (!r)
		r = bench_add(run, series, "ns", UNTRACED,
			      (double)took.wall_ns / (double)probe->iterations);
	/* What strace spends is not in the traced process's CPU time, nor what children do. */
	if (r || probe->trace_file || probe->kind == PROBE_FORK_EXEC)
		return r;
	snprintf(cpu_series, sizeof(cpu_series), "%s" CPU, series);
	return bench_add(run, cpu_series, "ns CPU", UNTRACED CPU,
			 (double)took.cpu_ns / (double)probe->iterations);
}

static void path_make(const struct bench_run *run, const char *name, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", run->folder, name);
	unlink(path);
}

/* With a collector attached: a probe in the group it tracks, or beside it. */
static int measure_observed(struct bench_run *run, const struct call *call, bool inside,
			    struct qp_error *err)
{
	struct probe probe = {.kind = call->kind,
			      .iterations = call->iterations,
			      .group_fd = inside ? run->group_fd : PROBE_NO_GROUP,
			      .cpu = PROBE_ANY_CPU};
	struct watcher_report report;
	struct watcher *watcher;
	char log[PATH_MAX];
	int r, stopped;

	path_make(run, "run.qplog", log);
	r = watcher_start(run->group_fd, log, &watcher, err);
	if (r)
		return r;
	r = measure(run, &probe, inside ? "observed" : "outside, attached", err);
	stopped = watcher_stop_take(watcher, &report, err);
	if (r || stopped)
		return r ? r : stopped;
	if (inside && report.produced < call->events * call->iterations)
		return qp_error_set(err, -EIO, "only %llu events were recorded of %llu calls",
				    (unsigned long long)report.produced,
				    (unsigned long long)call->iterations);
	return inside ? bench_add(run, "observed, lost", "events", NULL, (double)report.lost) : 0;
}

static int measure_straced(struct bench_run *run, const struct call *call, int cpu,
			   struct qp_error *err)
{
	char path[PATH_MAX];
	struct probe probe = {.kind = call->kind,
			      .iterations = call->straced,
			      .group_fd = PROBE_NO_GROUP,
			      .cpu = cpu,
			      .trace_file = path};

	path_make(run, "strace.out", path);
	return measure(run, &probe, cpu == PROBE_ANY_CPU ? "strace -f" : "strace -f, one CPU", err);
}

static int call_round(struct bench_run *run, const struct call *call, struct qp_error *err)
{
	const struct probe untraced = {.kind = call->kind,
				       .iterations = call->iterations,
				       .group_fd = PROBE_NO_GROUP,
				       .cpu = PROBE_ANY_CPU};
	int r = measure(run, &untraced, UNTRACED, err);

	if (!r)
		r = measure_observed(run, call, true, err);
	if (!r)
		r = measure_observed(run, call, false, err);
	if (!r)
		r = measure_straced(run, call, PROBE_ANY_CPU, err);
	return r ? r : measure_straced(run, call, PINNED_CPU, err);
}

static int getppid_round(struct bench_run *run, struct qp_error *err)
{
	return call_round(run, &getppid_call, err);
}

static int open_close_round(struct bench_run *run, struct qp_error *err)
{
	return call_round(run, &open_close_call, err);
}

static int fork_exec_round(struct bench_run *run, struct qp_error *err)
{
	return call_round(run, &fork_exec_call, err);
}

/* Only what a process pays that nobody asked to watch, for which more rounds are needed. */
static int outside_round(struct bench_run *run, struct qp_error *err)
{
	const struct probe untraced = {.kind = PROBE_GETPPID,
				       .iterations = getppid_call.iterations,
				       .group_fd = PROBE_NO_GROUP,
				       .cpu = PROBE_ANY_CPU};
	int r = measure(run, &untraced, UNTRACED, err);

	return r ? r : measure_observed(run, &getppid_call, false, err);
}

const struct bench bench_getppid = {
	.name = "getppid",
	.summary = "a call that is only counted: untraced, observed, outside, strace -f",
	.rounds = 11,
	.round = getppid_round,
};

const struct bench bench_open_close = {
	.name = "open-close",
	.summary = "open and close with the resolved path recorded, the same five ways",
	.rounds = 11,
	.round = open_close_round,
};

const struct bench bench_fork_exec = {
	.name = "fork-exec",
	.summary = "fork, execute true, wait, the same five ways",
	.rounds = 11,
	.round = fork_exec_round,
};

const struct bench bench_outside = {
	.name = "outside",
	.summary = "a call of a process that is not watched while another is",
	.rounds = 21,
	.round = outside_round,
};
