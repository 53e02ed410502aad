// SPDX-License-Identifier: Apache-2.0
/* Polling everything that a sandbox under observation has to say. */
#include "tools/task/loop.h"

#include "base/cleanup.h"
#include "tools/derive.h"
#include "tools/task/phases.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

DEFINE_CLEANUP(phases, struct phases *, phases_free);

enum watch {
	WATCH_COLLECTOR,
	WATCH_CONTROL,
	WATCH_OUTPUT,
	WATCH_SINKHOLE,
	WATCH_INIT,
	WATCH_SIGNAL,
	WATCH_DEADLINE,
	WATCH_CNT,
};

struct loop {
	struct task *task;
	struct phases *phases;
	struct pollfd fds[WATCH_CNT];
	uint64_t cgroup_id;
	bool described; /* the sandbox record is written */
	bool over;
	struct qp_error *err;
};

void limits_merge(json_t *limits, const json_t *more)
{
	const json_t *name, *known;
	size_t i, j;

	json_array_foreach (more, i, name) {
		bool there = false;

		json_array_foreach (limits, j, known) {
			there |= json_equal(known, name);
		}
		if (!there)
			json_array_append(limits, (json_t *)name);
	}
}

/* Records what failed and ends the sandbox: what went on after that would go unseen. */
static int part_failed(struct loop *loop, const char *part, const struct qp_error *why)
{
	int r = task_record_error(loop->task, part, why);

	sandbox_kill(loop->task->sandbox);
	return r;
}

/* Read back once PID 1 runs: only then is all of its confinement in force. */
static int describe(struct loop *loop)
{
	_cleanup_json_ json_t *hardening = NULL;
	struct qp_error why = {0};
	int r, verified;

	if (loop->described)
		return 0;
	loop->described = true;
	verified = sandbox_hardening(loop->task->sandbox, &hardening, &why);
	if (!verified)
		verified = sandbox_verify(loop->task->sandbox, &why);
	r = task_record_sandbox(loop->task, hardening, loop->cgroup_id);
	if (!r && verified)
		r = part_failed(loop, "sandbox", &why);
	return r;
}

static int on_control(struct loop *loop)
{
	struct qp_error why = {0};
	int r = describe(loop);

	if (r)
		return r;
	r = phases_drain(loop->phases, &why);
	if (r == 1 || r == -EPROTO)
		loop->fds[WATCH_CONTROL].fd = -1;
	if (r == 1)
		return 0;
	/* A sandbox that was ended has a PID 1 that left in the middle. */
	if (r == -EPROTO && strcmp(loop->task->ended_by, "exit") != 0)
		return 0;
	return why.text[0] ? part_failed(loop, "init", &why) : r;
}

static int on_output(struct loop *loop)
{
	char bytes[16384];
	ssize_t n = read(loop->fds[WATCH_OUTPUT].fd, bytes, sizeof(bytes));

	if (n > 0)
		return task_record_output(loop->task, bytes, (size_t)n);
	if (!n || (errno != EAGAIN && errno != EINTR))
		loop->fds[WATCH_OUTPUT].fd = -1;
	return 0;
}

static int on_sinkhole(struct loop *loop)
{
	struct qp_error why = {0};
	int r = sinkhole_drain(loop->task->sinkhole, loop->task->log);

	if (!r)
		return 0;
	loop->fds[WATCH_SINKHOLE].fd = -1;
	if (r < 0 && r != -EBADMSG)
		return r;
	qp_error_set(&why, r,
		     r == 1 ? "the sinkhole ended before the sandbox did"
			    : "the sinkhole wrote a line that is no record");
	return part_failed(loop, "sinkhole", &why);
}

static int on_collector(struct loop *loop)
{
	return collector_drain(loop->task->collector, loop->task->log);
}

static int on_init(struct loop *loop)
{
	struct pollfd output = {.events = POLLIN};
	int r;

	loop->over = true;
	/* What it printed and said last may still wait. */
	do {
		output.fd = loop->fds[WATCH_OUTPUT].fd;
		r = output.fd >= 0 ? on_output(loop) : 0;
	} while (!r && loop->fds[WATCH_OUTPUT].fd >= 0 && poll(&output, 1, 0) == 1);
	if (!r && loop->fds[WATCH_CONTROL].fd >= 0)
		r = on_control(loop);
	return r;
}

static int on_signal(struct loop *loop)
{
	struct signalfd_siginfo info;

	if (read(loop->fds[WATCH_SIGNAL].fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	loop->task->signal = (int)info.ssi_signo;
	return qp_error_set(loop->err, -ECANCELED, "stopped by a signal");
}

static int on_deadline(struct loop *loop)
{
	_cleanup_json_ json_t *time_limit = json_pack("[s]", "time"), *limits = NULL;

	loop->fds[WATCH_DEADLINE].fd = -1;
	loop->task->ended_by = "time";
	limits_merge(loop->task->limits_hit, time_limit);
	if (!sandbox_limits_hit(loop->task->sandbox, &limits))
		limits_merge(loop->task->limits_hit, limits);
	sandbox_kill(loop->task->sandbox);
	return 0;
}

/* In the order in which they are served: evidence first. */
static int (*const handlers[WATCH_CNT])(struct loop *loop) = {
	[WATCH_COLLECTOR] = on_collector, [WATCH_CONTROL] = on_control, [WATCH_OUTPUT] = on_output,
	[WATCH_SINKHOLE] = on_sinkhole,	  [WATCH_INIT] = on_init,	[WATCH_SIGNAL] = on_signal,
	[WATCH_DEADLINE] = on_deadline,
};

static int serve(struct loop *loop)
{
	if (poll(loop->fds, WATCH_CNT, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < WATCH_CNT; i++) {
		int r;

		if (loop->fds[i].fd < 0 || !loop->fds[i].revents)
			continue;
		r = handlers[i](loop);
		if (r)
			return r;
	}
	return 0;
}

/* One progress line a phase; the sandbox's own limits are looked at while it lives. */
static void notify(void *context, const char *phase, bool begun, int rc)
{
	struct task *task = context;
	_cleanup_json_ json_t *limits = NULL;

	if (begun) {
		progress_begin(&task->progress, phase);
		return;
	}
	if (rc)
		progress_end(&task->progress, "exit status %d", rc);
	else
		progress_end(&task->progress, "%s", "");
	if (!sandbox_limits_hit(task->sandbox, &limits))
		limits_merge(task->limits_hit, limits);
}

static int deadline_make(const struct task *task)
{
	struct itimerspec spec = {
		.it_value.tv_sec = (time_t)task->options->limits.sandbox_seconds,
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd >= 0)
		timerfd_settime(fd, 0, &spec, NULL);
	return fd;
}

int loop_run(struct task *task, uint64_t cgroup_id, struct qp_error *err)
{
	const struct phases_plan plan = {
		.nonce = task->nonce,
		.sandbox = task->sandbox,
		.package = task->options->spec ? task->download.name : NULL,
		.packages = task->download.packages,
		.command = task->options->command,
	};
	_cleanup_(phases) struct phases *phases = NULL;
	_cleanup_close_ int deadline = deadline_make(task);
	struct loop loop = {.task = task, .cgroup_id = cgroup_id, .err = err};
	const int fds[WATCH_CNT] = {
		[WATCH_COLLECTOR] = collector_fd(task->collector),
		[WATCH_CONTROL] = task->control_fd,
		[WATCH_OUTPUT] = sandbox_output_fd(task->sandbox),
		[WATCH_SINKHOLE] = sinkhole_fd(task->sinkhole),
		[WATCH_INIT] = sandbox_init_pidfd(task->sandbox),
		[WATCH_SIGNAL] = task->signal_fd,
		[WATCH_DEADLINE] = deadline,
	};
	int r;

	if (deadline < 0)
		return qp_error_set(err, -errno, "timerfd: %s", strerror(errno));
	for (int i = 0; i < WATCH_CNT; i++)
		loop.fds[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	r = phases_start(task->control_fd, &plan, task->log, notify, task, &phases, err);
	if (r)
		return r;
	loop.phases = phases;
	progress_end(&task->progress, "%s", "");
	r = sandbox_start(task->sandbox, err);
	while (!r && !loop.over)
		r = serve(&loop);
	if (!r)
		r = describe(&loop);
	return r;
}
