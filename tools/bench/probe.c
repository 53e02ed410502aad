// SPDX-License-Identifier: Apache-2.0
/* The loops, and the child that runs one. */
#include "tools/bench/probe.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/bench/bench.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define OPENED	     "/etc/hostname"
#define TRUE_PROGRAM "/bin/true"
#define PACE_EVERY   32 /* iterations between two looks at the clock */

struct probe_child {
	pid_t pid, strace; /* strace: 0 for none */
	int fd;
};

static int open_close(void)
{
	int fd = open(OPENED, O_RDONLY | O_CLOEXEC);

	return fd < 0 || close(fd) < 0 ? -errno : 0;
}

static int fork_exec(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl(TRUE_PROGRAM, "true", NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -errno;
	return status ? -EIO : 0;
}

static int iterate(enum probe_kind kind)
{
	switch (kind) {
	case PROBE_GETPPID:
		return syscall(SYS_getppid) < 0 ? -errno : 0;
	case PROBE_OPEN_CLOSE:
		return open_close();
	case PROBE_FORK_EXEC:
		return fork_exec();
	}
	return -EINVAL;
}

/* Sleeps until the @done-th iteration is due. */
static void pace(const struct probe *probe, uint64_t begun_ns, uint64_t done)
{
	uint64_t due_ns = begun_ns + done * 1000000000 / probe->per_second;
	struct timespec until = {.tv_sec = (time_t)(due_ns / 1000000000),
				 .tv_nsec = (long)(due_ns % 1000000000)};

	if (bench_now_ns() < due_ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int loop(const struct probe *probe, struct probe_took *ret_took)
{
	uint64_t cpu_ns = cpu_now_ns();
	uint64_t begun_ns = bench_now_ns();
	int r = 0;

	for (uint64_t i = 0; !r && i < probe->iterations; i++) {
		if (probe->per_second && i % PACE_EVERY == 0)
			pace(probe, begun_ns, i);
		r = iterate(probe->kind);
	}
	ret_took->wall_ns = bench_now_ns() - begun_ns;
	ret_took->cpu_ns = cpu_now_ns() - cpu_ns;
	return r;
}

static void cpu_bind(int cpu)
{
	cpu_set_t set;

	if (cpu == PROBE_ANY_CPU)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void __attribute__((noreturn)) probe_child_run(const struct probe *probe, int fd)
{
	struct probe_took took;
	char word;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cpu_bind(probe->cpu);
	if (read(fd, &word, 1) != 1 || loop(probe, &took))
		_exit(1);
	_exit(write_all(fd, &took, sizeof(took)) ? 1 : 0);
}

/* Whether somebody traces @pid. */
static bool is_traced(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	const char *line;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (read_file_at(AT_FDCWD, path, 65536, &text, &len))
		return false;
	line = strstr(text, "TracerPid:\t");
	return line && line[strlen("TracerPid:\t")] != '0';
}

int strace_attach(pid_t pid, const char *path, int cpu, pid_t *ret_strace, struct qp_error *err)
{
	char number[16];
	pid_t strace;

	snprintf(number, sizeof(number), "%d", (int)pid);
	strace = fork();
	if (strace < 0)
		return qp_error_set(err, -errno, "fork: %s", strerror(errno));
	if (!strace) {
		cpu_bind(cpu);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("strace", "strace", "-q", "-f", "-o", path, "-p", number, NULL);
		_exit(127);
	}
	while (!is_traced(pid)) {
		if (waitpid(strace, NULL, WNOHANG) != 0)
			return qp_error_set(err, -ENOENT,
					    "strace cannot trace a process here: apt-get install "
					    "strace");
		poll(NULL, 0, 1);
	}
	*ret_strace = strace;
	return 0;
}

static int group_join(int group_fd, pid_t pid)
{
	_cleanup_close_ int fd = openat(group_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	char text[16];

	if (fd < 0)
		return -errno;
	snprintf(text, sizeof(text), "%d", (int)pid);
	return write_all(fd, text, strlen(text));
}

static void child_free(struct probe_child *child)
{
	close(child->fd);
	if (child->strace)
		waitpid(child->strace, NULL, 0);
	free(child);
}

int probe_prepare(const struct probe *probe, struct probe_child **ret_child, struct qp_error *err)
{
	struct probe_child *child = calloc(1, sizeof(*child));
	int fds[2], r = 0;

	if (!child || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		free(child);
		return -ENOMEM;
	}
	child->fd = fds[0];
	child->pid = fork();
	if (!child->pid) {
		close(fds[0]);
		probe_child_run(probe, fds[1]);
	}
	close(fds[1]);
	if (child->pid < 0)
		r = qp_error_set(err, -errno, "fork: %s", strerror(errno));
	if (!r && probe->group_fd != PROBE_NO_GROUP) {
		r = group_join(probe->group_fd, child->pid);
		if (r)
			qp_error_set(err, r, "cannot join the cgroup: %s", strerror(-r));
	}
	if (!r && probe->trace_file)
		r = strace_attach(child->pid, probe->trace_file, probe->cpu, &child->strace, err);
	if (r) {
		/* The end of the socket ends the child. */
		close(steal_fd(&child->fd));
		if (child->pid > 0)
			waitpid(child->pid, NULL, 0);
		child_free(child);
		return r;
	}
	*ret_child = child;
	return 0;
}

int probe_go(struct probe_child *child)
{
	return write_all(child->fd, "g", 1);
}

int probe_finish_take(struct probe_child *child, struct probe_took *ret_took, struct qp_error *err)
{
	int status = 0;
	ssize_t n = read(child->fd, ret_took, sizeof(*ret_took));

	waitpid(child->pid, &status, 0);
	child_free(child);
	if (n != sizeof(*ret_took) || status)
		return qp_error_set(err, -EIO, "a probe failed");
	return 0;
}

int probe_run(const struct probe *probe, struct probe_took *ret_took, struct qp_error *err)
{
	struct probe_child *child;
	int r = probe_prepare(probe, &child, err), finished;

	if (r)
		return r;
	r = probe_go(child);
	finished = probe_finish_take(child, ret_took, err);
	return r ? r : finished;
}
