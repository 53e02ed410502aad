// SPDX-License-Identifier: Apache-2.0
/* replay: a receipt from a log of very many events. */
#include "tools/bench/bench.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/bench/probe.h"
#include "tools/bench/watcher.h"
#include "tools/derive.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Slow enough that a loaded machine records all. */
#define RECORDED_PER_SECOND 50000

static void log_path(const struct bench_run *run, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/run.qplog", run->folder);
}

/* Records the log that the rounds read. */
static int replay_begin(struct bench_run *run, struct qp_error *err)
{
	const struct probe probe = {.kind = PROBE_OPEN_CLOSE,
				    .iterations = run->options->events,
				    .per_second = RECORDED_PER_SECOND,
				    .group_fd = run->group_fd,
				    .cpu = PROBE_ANY_CPU};
	struct watcher_report report;
	struct watcher *watcher;
	char log[PATH_MAX];
	struct probe_took took;
	int r, stopped;

	log_path(run, log);
	r = watcher_start(run->group_fd, log, &watcher, err);
	if (r)
		return r;
	r = probe_run(&probe, &took, err);
	stopped = watcher_stop_take(watcher, &report, err);
	if (r || stopped)
		return r ? r : stopped;
	r = bench_add(run, "events in the log", "events", NULL, (double)report.delivered);
	return r ? r : bench_add(run, "lost on recording", "events", NULL, (double)report.lost);
}

static void __attribute__((noreturn)) derive_child(const char *log)
{
	_cleanup_free_ char *text = NULL;
	struct derivation derivation;
	struct qp_error err = {0};
	size_t len;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(derive(log, NULL, &derivation, &err) ||
			      derive_receipt_text(derivation.receipt, &text, &len, &err)
		      ? 1
		      : 0);
}

static int replay_round(struct bench_run *run, struct qp_error *err)
{
	uint64_t begun_ns = bench_now_ns(), took_ns;
	struct rusage usage;
	char log[PATH_MAX];
	int status, r;
	pid_t pid;

	log_path(run, log);
	pid = fork();
	if (pid < 0)
		return qp_error_set(err, -errno, "fork: %s", strerror(errno));
	if (!pid)
		derive_child(log);
	if (wait4(pid, &status, 0, &usage) < 0 || status)
		return qp_error_set(err, -EIO, "the log gave no receipt");
	took_ns = bench_now_ns() - begun_ns;
	r = bench_add(run, "derive", "s", NULL, (double)took_ns / 1e9);
	if (!r)
		r = bench_add(run, "derive, CPU time", "s", NULL,
			      (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) /
					      1e6);
	return r ? r
		 : bench_add(run, "peak resident memory", "MiB", NULL,
			     (double)usage.ru_maxrss / 1024);
}

const struct bench bench_replay = {
	.name = "replay",
	.summary = "time and peak memory of a receipt from a log of --events events",
	.rounds = 5,
	.begin = replay_begin,
	.round = replay_round,
};
