// SPDX-License-Identifier: Apache-2.0
/* flood: opens from two processes at once, paced and as fast as they go. */
#include "tools/bench/bench.h"
#include "tools/bench/probe.h"
#include "tools/bench/watcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define PROCESSES 2
#define OPENS	  300007 /* of each process */

/* Runs the processes side by side; *ret_ns until the last one ended. */
static int processes_run(const struct probe *probe, uint64_t *ret_ns, struct qp_error *err)
{
	struct probe_child *children[PROCESSES];
	struct probe_took took;
	uint64_t begun_ns;
	size_t cnt = 0;
	int r = 0, ended;

	while (!r && cnt < PROCESSES) {
		r = probe_prepare(probe, &children[cnt], err);
		cnt += !r;
	}
	begun_ns = bench_now_ns();
	for (size_t i = 0; !r && i < cnt; i++)
		r = probe_go(children[i]);
	for (size_t i = 0; i < cnt; i++) {
		ended = probe_finish_take(children[i], &took, err);
		r = r ? r : ended;
	}
	*ret_ns = bench_now_ns() - begun_ns;
	return r;
}

/* @per_second events of all processes together; 0: unlimited. */
static int flood(struct bench_run *run, const char *name, uint64_t per_second, struct qp_error *err)
{
	const struct probe probe = {.kind = PROBE_OPEN_CLOSE,
				    .iterations = OPENS,
				    .per_second = per_second / PROCESSES,
				    .group_fd = run->group_fd,
				    .cpu = PROBE_ANY_CPU};
	char log[PATH_MAX], series[BENCH_NAME_SIZE];
	struct watcher_report report;
	struct watcher *watcher;
	uint64_t took_ns;
	int r, stopped;

	snprintf(log, sizeof(log), "%s/run.qplog", run->folder);
	unlink(log);
	r = watcher_start(run->group_fd, log, &watcher, err);
	if (r)
		return r;
	r = processes_run(&probe, &took_ns, err);
	stopped = watcher_stop_take(watcher, &report, err);
	if (r || stopped)
		return r ? r : stopped;
	if (report.produced != report.delivered + report.lost ||
	    report.produced < (uint64_t)PROCESSES * OPENS)
		return qp_error_set(err, -EIO,
				    "the counters do not balance: %llu produced, %llu delivered, "
				    "%llu lost",
				    (unsigned long long)report.produced,
				    (unsigned long long)report.delivered,
				    (unsigned long long)report.lost);
	snprintf(series, sizeof(series), "%s, recorded", name);
	r = bench_add(run, series, "events/s", NULL,
		      (double)report.produced * 1e9 / (double)took_ns);
	snprintf(series, sizeof(series), "%s, lost", name);
	return r ? r : bench_add(run, series, "events", NULL, (double)report.lost);
}

static int flood_round(struct bench_run *run, struct qp_error *err)
{
	int r = flood(run, "100,000/s", 100000, err);

	if (!r)
		r = flood(run, "200,000/s", 200000, err);
	if (!r)
		r = flood(run, "300,000/s", 300000, err);
	return r ? r : flood(run, "as fast as it goes", 0, err);
}

const struct bench bench_flood = {
	.name = "flood",
	.summary = "recorded opens of two processes: events a second, and how many were lost",
	.rounds = 7,
	.round = flood_round,
};
