// SPDX-License-Identifier: Apache-2.0
/* The process that outlives a crash of qp by as long as cleaning up takes. */
#include "tools/task/janitor.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/sandbox/sandbox.h"
#include "tools/task/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct janitor {
	pid_t pid;
	int fd;
};

static void watch(int fd, const char *task_id, const char *temp_folder)
{
	char word;
	ssize_t n;

	do
		n = read(fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return;
	sandbox_sweep(task_id, NULL);
	if (temp_folder)
		temporary_remove(temp_folder);
}

static void child_run(int fd, const char *task_id, const char *temp_folder)
{
	sigset_t all;

	/* Signals meant for qp, from a terminal or to its group, must not end the watch. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "qp-janitor");
	/* qp's other descriptors (pipes, pidfds, the log) are none of the janitor's, and would
	 * keep readers of qp's output waiting. */
	dup2(fd, 3);
	close_range(4, ~0U, 0);
	for (int i = 0; i < 3; i++) {
		int null = open("/dev/null", O_RDWR);

		if (null >= 0 && null != i)
			dup2(null, i);
		if (null > 3)
			close(null);
	}
	watch(3, task_id, temp_folder);
	_exit(0);
}

int janitor_start(const char *task_id, const char *temp_folder, struct janitor **ret_janitor,
		  struct qp_error *err)
{
	_cleanup_close_ int read_fd = -1, write_fd = -1;
	struct janitor *janitor;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	read_fd = fds[0];
	write_fd = fds[1];
	janitor = calloc(1, sizeof(*janitor));
	if (!janitor)
		return -ENOMEM;
	janitor->pid = fork();
	if (janitor->pid < 0) {
		int r = -errno;

		free(janitor);
		return qp_error_set(err, r, "fork: %s", strerror(-r));
	}
	if (!janitor->pid)
		child_run(read_fd, task_id, temp_folder);
	janitor->fd = steal_fd(&write_fd);
	*ret_janitor = janitor;
	return 0;
}

void janitor_dismiss(struct janitor *janitor)
{
	if (!janitor)
		return;
	write_all(janitor->fd, "d", 1);
	close(janitor->fd);
	waitpid(janitor->pid, NULL, 0);
	free(janitor);
}
