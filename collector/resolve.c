// SPDX-License-Identifier: Apache-2.0
/* One path, looked up beneath a root that its owner cannot leave. */
#include "collector/resolve.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

static int open_beneath(int root_fd, const char *path, int flags)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = RESOLVE_IN_ROOT};
	long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static int link_of(int fd, char *buf, size_t size)
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, buf, size - 1);
	if (len < 0)
		return -errno;
	if ((size_t)len == size - 1)
		return -ENAMETOOLONG;
	buf[len] = '\0';
	return 0;
}

/*
 * The path of @fd beneath @root_fd. The kernel gives both as far as their mounts are
 * attached, which they are no more once the task's namespace is gone; what the two have
 * in common does not matter.
 */
static int path_of(int root_fd, int fd, char *buf, size_t size)
{
	char root[PATH_MAX];
	struct stat st;
	size_t len;
	int rc = link_of(root_fd, root, sizeof(root));

	if (!rc)
		rc = link_of(fd, buf, size);
	if (rc)
		return rc;
	/* Removed meanwhile: the kernel then says so behind the name. */
	if (fstat(fd, &st) < 0 || st.st_nlink == 0)
		return -ENOENT;
	len = strcmp(root, "/") ? strlen(root) : 0;
	if (strncmp(buf, root, len) != 0 || (buf[len] && buf[len] != '/'))
		return -EXDEV;
	memmove(buf, buf + len, strlen(buf + len) + 1);
	if (!*buf)
		strcpy(buf, "/");
	return 0;
}

/*
 * In procfs, "self" is whoever looks, here the collector: an answer counts only where no
 * link was followed.
 */
static int is_plain(int fd, const char *path, const char *real)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	return fs.f_type != PROC_SUPER_MAGIC || strcmp(path, real) == 0 ? 0 : -ELOOP;
}

static int resolve_whole(int root_fd, const char *path, char **ret_path)
{
	char real[PATH_MAX];
	_cleanup_close_ int fd = open_beneath(root_fd, path, 0);
	int rc;

	if (fd < 0)
		return fd;
	rc = path_of(root_fd, fd, real, sizeof(real));
	if (!rc)
		rc = is_plain(fd, path, real);
	if (rc)
		return rc;
	*ret_path = strdup(real);
	return *ret_path ? 0 : -ENOMEM;
}

/* The last name of @path begins where? A name of "." or ".." is part of the folder. */
static size_t last_name(const char *path, size_t len)
{
	size_t start = len;

	while (start && path[start - 1] != '/')
		start--;
	if (start == len || !strcmp(path + start, ".") || !strcmp(path + start, ".."))
		return len;
	return start;
}

int resolve_path(int root_fd, const char *path, int follow, char **ret_path, int *ret_exists)
{
	char real[PATH_MAX];
	struct stat st;
	size_t len, start;
	int rc;

	if (follow) {
		*ret_exists = 1;
		rc = resolve_whole(root_fd, path, ret_path);
		if (rc != -ENOENT)
			return rc;
	}
	_cleanup_free_ char *folder = strdup(path);
	if (!folder)
		return -ENOMEM;
	len = strlen(folder);
	while (len > 1 && folder[len - 1] == '/')
		folder[--len] = '\0';
	start = last_name(folder, len);
	if (start == len) { /* a root, "." or "..": the folder is what is meant */
		*ret_exists = 1;
		return resolve_whole(root_fd, folder, ret_path);
	}
	folder[start ? start - 1 : 0] = '\0';
	_cleanup_close_ int fd = open_beneath(root_fd, *folder ? folder : "/", O_DIRECTORY);
	if (fd < 0)
		return fd;
	rc = path_of(root_fd, fd, real, sizeof(real));
	if (!rc)
		rc = is_plain(fd, *folder ? folder : "/", real);
	if (rc)
		return rc;
	*ret_exists = fstatat(fd, folder + start, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (asprintf(ret_path, "%s/%s", strcmp(real, "/") ? real : "", folder + start) < 0)
		return -ENOMEM;
	return 0;
}
