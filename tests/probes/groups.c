// SPDX-License-Identifier: Apache-2.0
/*
 * Makes cgroups and fills them at once: groups race|together PREFIX GROUPS CALLS. Group i is
 * PREFIXi; its process calls getppid CALLS + i times, then mkdir of "/" i % 5 + 1 times.
 * "race" makes, fills and removes one group after the other, every second one by
 * CLONE_INTO_CGROUP; "together" lets the processes of all groups live at the same time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUPS_MAX 2000

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void work(int calls, int i)
{
	for (int n = 0; n < calls + i; n++)
		syscall(SYS_getppid);
	for (int n = 0; n < i % 5 + 1; n++)
		syscall(SYS_mkdir, "/", 0700);
	syscall(SYS_exit_group, 0);
}

static pid_t clone_into(int fd)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)fd};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* A child in the group; with @gate it waits there until its parent closes it. */
static pid_t fill(const char *folder, const int *gate, int calls, int i)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int procs = openat(fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	pid_t pid = i % 2 ? clone_into(fd) : fork();
	char byte;

	if (fd < 0 || procs < 0 || pid < 0)
		fail(folder);
	if (pid == 0) {
		if (i % 2 == 0 && write(procs, "0", 1) != 1)
			_exit(1);
		if (gate && (close(gate[1]) < 0 || read(gate[0], &byte, 1) != 0))
			_exit(1);
		work(calls, i);
	}
	close(fd);
	close(procs);
	return pid;
}

static void reap(pid_t pid, const char *folder)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		fail("child");
	while (rmdir(folder) < 0)
		if (errno != EBUSY)
			fail(folder);
}

int main(int argc, char **argv)
{
	static pid_t pids[GROUPS_MAX];
	char folder[4096];
	int gate[2] = {-1, -1}, groups, calls;
	int together;

	if (argc != 5)
		return 2;
	together = strcmp(argv[1], "together") == 0;
	groups = atoi(argv[3]);
	calls = atoi(argv[4]);
	if (groups < 1 || groups > GROUPS_MAX || (together && pipe2(gate, O_CLOEXEC) < 0))
		return 2;
	for (int i = 0; i < groups; i++) {
		snprintf(folder, sizeof(folder), "%s%d", argv[2], i);
		if (mkdir(folder, 0755) < 0)
			fail(folder);
		pids[i] = fill(folder, together ? gate : NULL, calls, i);
		if (!together)
			reap(pids[i], folder);
	}
	if (!together)
		return 0;
	close(gate[1]);
	for (int i = 0; i < groups; i++) {
		snprintf(folder, sizeof(folder), "%s%d", argv[2], i);
		reap(pids[i], folder);
	}
	return 0;
}
