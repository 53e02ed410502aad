// SPDX-License-Identifier: Apache-2.0
/* Namespaces that the calling process makes for itself or for others. */
#include "tools/sandbox/sandbox.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child, so that the caller's own namespace is never left, not even for a moment. */
static void __attribute__((noreturn)) netns_child(int ready_fd, int go_fd)
{
	char result = 0;

	if (unshare(CLONE_NEWNET) < 0)
		result = (char)errno;
	if (write(ready_fd, &result, 1) == 1 && read(go_fd, &result, 1) < 0)
		_exit(1);
	_exit(0);
}

static int netns_open(pid_t pid, int ready_fd, int *ret_fd)
{
	char path[64], result;
	int fd;

	if (read(ready_fd, &result, 1) != 1)
		return -EIO;
	if (result)
		return -result;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

int netns_create(int *ret_fd, struct qp_error *err)
{
	_cleanup_close_ int ready_fd = -1, go_fd = -1;
	int ready[2], go[2], r;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	ready_fd = ready[0];
	if (pipe2(go, O_CLOEXEC) < 0) {
		close(ready[1]);
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	}
	go_fd = go[1];
	pid = fork();
	if (!pid) {
		close(go[1]);
		netns_child(ready[1], go[0]);
	}
	r = pid < 0 ? -errno : 0;
	close(ready[1]);
	close(go[0]);
	if (!r)
		r = netns_open(pid, ready_fd, ret_fd);
	close(steal_fd(&go_fd));
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (r)
		return qp_error_set(err, r, "cannot make a network namespace: %s", strerror(-r));
	return 0;
}

int sandbox_isolate_mounts(struct qp_error *err)
{
	/*
	 * Held for as long as this process runs, on purpose: as the last one in its namespace it
	 * would take it apart by leaving, and /proc/self/exe would no more say where qp is.
	 */
	int left_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	if (left_fd < 0)
		return qp_error_set(err, -errno, "/proc/self/ns/mnt: %s", strerror(errno));
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return qp_error_set(err, -errno, "cannot make a private mount namespace: %s",
				    strerror(errno));
	return 0;
}
