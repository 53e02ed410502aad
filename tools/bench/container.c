// SPDX-License-Identifier: Apache-2.0
/* Making, watching and timing the container of one script. */
#include "tools/bench/container.h"

#include "base/cleanup.h"
#include "tools/bench/probe.h"
#include "tools/bench/watcher.h"
#include "tools/derive.h"

#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#define SCRIPT_SECONDS 600
#define TAIL_BYTES     400

struct watched {
	struct sandbox *sandbox;
	struct watcher *watcher; /* or NULL */
	pid_t strace;		 /* or 0 */
	char tail[TAIL_BYTES + 1];
};

static int container_create(struct bench_run *run, const struct container_job *job,
			    struct sandbox **ret_sandbox, struct qp_error *err)
{
	const char *const argv[] = {"/bin/sh", "-c", job->script, NULL};
	char home[sizeof(job->persona->home) + 8];
	const char *const envp[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", home,
		"LANG=C.UTF-8", NULL};
	const struct sandbox_bind binds[] = {{job->in, "/in", false}};
	struct limits limits;
	_cleanup_close_ int netns = -1;
	struct sandbox_config config = {
		.task_id = run->task_id,
		.role = "sandbox",
		.limits = &limits,
		.persona = job->persona,
		.binds = binds,
		.binds_cnt = 1,
		.argv = argv,
		.envp = envp,
		.control_fd = -1,
	};
	int r = netns_create(&netns, err);

	if (r)
		return r;
	limits_default(&limits);
	snprintf(home, sizeof(home), "HOME=%s", job->persona->home);
	config.netns_fd = netns;
	config.work_bytes = limits.tmpfs_work_bytes;
	config.tmp_bytes = limits.tmpfs_tmp_bytes;
	config.home_bytes = limits.tmpfs_home_bytes;
	return sandbox_create(&config, ret_sandbox, err);
}

static int watch_begin(struct bench_run *run, enum container_watch watch, struct watched *watched,
		       struct qp_error *err)
{
	char path[PATH_MAX];

	if (watch == WATCH_NONE)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", run->folder,
		 watch == WATCH_STRACE ? "strace.out" : "run.qplog");
	unlink(path);
	if (watch == WATCH_STRACE)
		return strace_attach(sandbox_init_pid(watched->sandbox), path, PROBE_ANY_CPU,
				     &watched->strace, err);
	return watcher_start(sandbox_cgroup_fd(watched->sandbox), path, &watched->watcher, err);
}

static void output_take(struct watched *watched)
{
	char bytes[4096];
	ssize_t n;

	while ((n = read(sandbox_output_fd(watched->sandbox), bytes, sizeof(bytes))) > 0) {
		size_t keep = (size_t)n < TAIL_BYTES ? (size_t)n : TAIL_BYTES;

		memcpy(watched->tail, bytes + n - keep, keep);
		watched->tail[keep] = '\0';
	}
}

static int script_wait(struct watched *watched, struct qp_error *err)
{
	uint64_t until_ns = bench_now_ns() + SCRIPT_SECONDS * 1000000000ULL;
	struct pollfd fds[] = {
		{.fd = sandbox_init_pidfd(watched->sandbox), .events = POLLIN},
		{.fd = sandbox_output_fd(watched->sandbox), .events = POLLIN},
	};

	while (!fds[0].revents) {
		uint64_t now_ns = bench_now_ns();

		if (now_ns >= until_ns)
			return qp_error_set(err, -ETIMEDOUT, "the script took longer than %d s",
					    SCRIPT_SECONDS);
		if (poll(fds, 2, (int)((until_ns - now_ns) / 1000000) + 1) < 0)
			return -errno;
		if (fds[1].revents & POLLIN)
			output_take(watched);
		else if (fds[1].revents)
			fds[1].fd = -1;
	}
	output_take(watched);
	return 0;
}

static int script_check(struct watched *watched, struct qp_error *err)
{
	_cleanup_json_ json_t *status = NULL;
	const json_t *code;
	int r;

	/* A tracer has the first word on how its process ended. */
	if (watched->strace)
		waitpid(watched->strace, NULL, 0);
	watched->strace = 0;
	r = sandbox_exit_status(watched->sandbox, &status);
	if (r)
		return r;
	code = json_object_get(status, "exitCode");
	if (json_is_integer(code) && !json_integer_value(code))
		return 0;
	return qp_error_set(err, -EIO, "the script in the sandbox failed: %s", watched->tail);
}

/* Whatever of it is there; an event that was lost spoils the measurement. */
static int watched_end(struct watched *watched, struct qp_error *err)
{
	struct watcher_report report = {0};
	int r = 0;

	if (watched->watcher)
		r = watcher_stop_take(watched->watcher, &report, err);
	sandbox_destroy(watched->sandbox, NULL);
	if (watched->strace)
		waitpid(watched->strace, NULL, 0);
	if (!r && report.lost)
		r = qp_error_set(err, -EIO, "%llu of %llu events were lost",
				 (unsigned long long)report.lost,
				 (unsigned long long)report.produced);
	return r;
}

int container_time(struct bench_run *run, const struct container_job *job, double *ret_seconds,
		   struct qp_error *err)
{
	struct watched watched = {0};
	uint64_t begun_ns = 0;
	int r = container_create(run, job, &watched.sandbox, err), ended;

	if (r)
		return r;
	r = watch_begin(run, job->watch, &watched, err);
	if (!r) {
		begun_ns = bench_now_ns();
		r = sandbox_start(watched.sandbox, err);
	}
	if (!r)
		r = script_wait(&watched, err);
	if (!r) {
		*ret_seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
		r = script_check(&watched, err);
	}
	ended = watched_end(&watched, err);
	return r ? r : ended;
}
