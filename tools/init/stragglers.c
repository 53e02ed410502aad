// SPDX-License-Identifier: Apache-2.0
/* Processes other than the phase's: PID 1 inherits every orphan, reaps it, and at the end
 * kills what is left. */
#include "tools/init/init.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool children_reap(pid_t phase_tgid, int *ret_phase_status)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == phase_tgid) {
			*ret_phase_status = status;
			ended = true;
		}
	}
	return ended;
}

bool children_left(void)
{
	siginfo_t info;

	/* Whatever lives in this namespace descends from PID 1, so that without a child of
	 * its own there is nothing. */
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Whether the process in /proc/NAME still runs; one that ended and waits to be reaped does
 * not count. */
static bool process_lives(int proc_fd, const char *name)
{
	char path[32], stat[512];
	const char *state;
	_cleanup_file_ FILE *file = NULL;
	int fd;

	snprintf(path, sizeof(path), "%.20s/stat", name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return false;
	}
	if (!fgets(stat, sizeof(stat), file))
		return false;
	/* The command's name may hold anything, ')' too. */
	state = strrchr(stat, ')');
	return state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

static size_t processes_count(void)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t cnt = 0;

	while (proc && (entry = readdir(proc))) {
		if (isdigit((unsigned char)entry->d_name[0]) && strcmp(entry->d_name, "1") &&
		    process_lives(dirfd(proc), entry->d_name))
			cnt++;
	}
	return cnt;
}

size_t stragglers_kill(void)
{
	size_t cnt = processes_count();

	/* -1 is every process of the namespace but this one. A second round finds what was
	 * being forked during the first; the kernel blocks no SIGKILL. */
	while (children_left()) {
		kill(-1, SIGKILL);
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
	return cnt;
}
