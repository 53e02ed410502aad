// SPDX-License-Identifier: Apache-2.0
/* Opening, making and entering network namespaces. */
#include "sinkhole/netns.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int netns_path(const char *name, pid_t pid, char *buf, size_t size, struct qp_error *err)
{
	if (!name) {
		snprintf(buf, size, "/proc/%d/ns/net", (int)pid);
		return 0;
	}
	if (strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return qp_error_set(err, -EINVAL,
				    "--netns takes a name as `ip netns list` prints it, not '%s'",
				    name);
	if ((size_t)snprintf(buf, size, "/run/netns/%s", name) >= size)
		return qp_error_set(err, -EINVAL, "--netns: the name is too long");
	return 0;
}

/* Refuses what is no network namespace, and those in which a sinkhole would do harm. */
static int netns_check(int fd, struct qp_error *err)
{
	struct stat wanted, other;

	if (ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET || fstat(fd, &wanted) < 0)
		return qp_error_set(err, -EINVAL, "that is no network namespace");
	if (stat("/proc/self/ns/net", &other) < 0 || same_file(&wanted, &other))
		return qp_error_set(err, -EINVAL,
				    "that is the network namespace of qp-sinkhole itself; give the "
				    "sandbox one of its own (unshare -n, ip netns add)");
	if (stat("/proc/1/ns/net", &other) == 0 && same_file(&wanted, &other))
		return qp_error_set(err, -EINVAL,
				    "that is the host's network namespace; give the sandbox one "
				    "of its own (unshare -n, ip netns add)");
	return 0;
}

int netns_open(const char *name, pid_t pid, int fd, int *ret_fd, struct qp_error *err)
{
	_cleanup_close_ int opened = -1;
	char path[PATH_MAX] = "";
	int r;

	if (fd >= 0) {
		opened = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (opened < 0)
			return qp_error_set(err, -errno, "--netns-fd %d: %s", fd, strerror(errno));
	} else {
		r = netns_path(name, pid, path, sizeof(path), err);
		if (r < 0)
			return r;
		opened = open(path, O_RDONLY | O_CLOEXEC);
		if (opened < 0)
			return qp_error_set(err, -errno, "%s: %s; %s", path, strerror(errno),
					    name ? "`ip netns add` makes one"
						 : "is the process still there?");
	}
	r = netns_check(opened, err);
	if (r < 0)
		return r;
	*ret_fd = steal_fd(&opened);
	return 0;
}

int netns_new(int *ret_fd, struct qp_error *err)
{
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		return qp_error_set(err, -errno,
				    "cannot make a network namespace: %s; run as root, on a kernel "
				    "with CONFIG_NET_NS",
				    strerror(errno));
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return qp_error_set(err, -errno, "/proc/self/ns/net: %s; mount /proc",
				    strerror(errno));
	*ret_fd = fd;
	return 0;
}

int netns_enter(int fd, struct qp_error *err)
{
	if (setns(fd, CLONE_NEWNET) < 0)
		return qp_error_set(err, -errno,
				    "cannot enter the network namespace: %s; run as "
				    "root",
				    strerror(errno));
	return 0;
}

int netns_sysctl(const char *path, const char *value)
{
	_cleanup_close_ int dir = open("/proc/sys/net", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = -1;

	if (dir < 0)
		return -errno;
	fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return write_all(fd, value, strlen(value));
}
