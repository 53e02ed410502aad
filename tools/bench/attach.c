// SPDX-License-Identifier: Apache-2.0
/* attach: how long a collector takes to come and go, and what it holds. */
#include "tools/bench/bench.h"
#include "tools/bench/probe.h"
#include "tools/bench/watcher.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define EVENTS 100003

static int attach_round(struct bench_run *run, struct qp_error *err)
{
	const struct probe probe = {.kind = PROBE_OPEN_CLOSE,
				    .iterations = EVENTS,
				    .group_fd = run->group_fd,
				    .cpu = PROBE_ANY_CPU};
	struct watcher_report report;
	struct watcher *watcher;
	char log[PATH_MAX];
	struct probe_took took;
	int r, stopped;

	snprintf(log, sizeof(log), "%s/run.qplog", run->folder);
	unlink(log);
	r = watcher_start(run->group_fd, log, &watcher, err);
	if (r)
		return r;
	r = probe_run(&probe, &took, err);
	stopped = watcher_stop_take(watcher, &report, err);
	if (r || stopped)
		return r ? r : stopped;
	r = bench_add(run, "load and attach", "ms", NULL, (double)report.load_ns / 1e6);
	if (!r)
		r = bench_add(run, "track a group", "ms", NULL, (double)report.track_ns / 1e6);
	if (!r)
		r = bench_add(run, "detach and unload", "ms", NULL, (double)report.detach_ns / 1e6);
	if (!r)
		r = bench_add(run, "resident, the ring twice", "MiB", NULL,
			      (double)report.rss_bytes / (1 << 20));
	return r ? r
		 : bench_add(run, "memory, the ring once", "MiB", NULL,
			     (double)report.pss_bytes / (1 << 20));
}

const struct bench bench_attach = {
	.name = "attach",
	.summary = "time to load and attach, to track, to detach; resident memory",
	.rounds = 11,
	.round = attach_round,
};
