// SPDX-License-Identifier: Apache-2.0
/* The roots of tasks, and what stands in for that of a task which is gone. */
#include "collector/roots.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>

static int open_root(uint32_t tgid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/root", tgid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void keep_root(struct roots *roots, int fd, uint64_t cgroup_id)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return;
	if (roots->last >= 0)
		close(roots->last);
	roots->last = copy;
	roots->cgroup_id = cgroup_id;
}

void roots_note(struct roots *roots, const struct qp_event *event)
{
	_cleanup_close_ int fd = -1;

	if (roots->given >= 0 || (roots->last >= 0 && roots->cgroup_id == event->cgroup_id))
		return;
	fd = open_root(event->tgid);
	if (fd >= 0)
		keep_root(roots, fd, event->cgroup_id);
}

int roots_open(struct roots *roots, const struct qp_event *event)
{
	int fd = open_root(event->tgid);
	int copy = roots->given;

	if (fd >= 0) {
		keep_root(roots, fd, event->cgroup_id);
		return fd;
	}
	if (copy < 0 && roots->cgroup_id == event->cgroup_id)
		copy = roots->last;
	fd = copy < 0 ? -1 : fcntl(copy, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -ESRCH : fd;
}

int roots_give(struct roots *roots, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return -errno;
	if (roots->given >= 0)
		close(roots->given);
	roots->given = copy;
	return 0;
}

void roots_close(struct roots *roots)
{
	if (roots->given >= 0)
		close(roots->given);
	if (roots->last >= 0)
		close(roots->last);
}
