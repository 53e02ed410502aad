// SPDX-License-Identifier: Apache-2.0
/* Files and mounts beneath a root, with every lookup confined to it. */
#include "tools/sandbox/inroot.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FD_PATH_SIZE 32

int inroot_open(int root_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* Opens the folder that is to hold @path; *ret_name is its last part, within @path. */
static int parent_open(int root_fd, const char *path, const char **ret_name)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!slash || !slash[1] || (size_t)(slash - path) >= sizeof(parent) - 1)
		return -EINVAL;
	memcpy(parent, path, (size_t)(slash - path) + 1);
	parent[slash - path + 1] = '\0';
	*ret_name = slash + 1;
	return inroot_open(root_fd, parent, O_PATH | O_DIRECTORY);
}

static int folder_make(int root_fd, const char *path, mode_t mode)
{
	_cleanup_close_ int fd = inroot_open(root_fd, path, O_PATH | O_DIRECTORY);
	_cleanup_close_ int parent = -1;
	const char *name;

	if (fd >= 0)
		return 0;
	if (fd != -ENOENT)
		return fd;
	parent = parent_open(root_fd, path, &name);
	if (parent < 0)
		return parent;
	return mkdirat(parent, name, mode) < 0 ? -errno : 0;
}

int inroot_mkdir(int root_fd, const char *path, mode_t mode)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (path[0] != '/' || len >= sizeof(part))
		return -EINVAL;
	while (len > 1 && path[len - 1] == '/')
		len--;
	for (size_t i = 1; i <= len; i++) {
		int r;

		if (i < len && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		r = folder_make(root_fd, part, mode);
		if (r)
			return r;
	}
	return 0;
}

/* Makes the folders above @path and opens the last. */
static int parent_make(int root_fd, const char *path, const char **ret_name)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!slash || (size_t)(slash - path) >= sizeof(parent))
		return -EINVAL;
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = '\0';
	if (parent[0]) {
		int r = inroot_mkdir(root_fd, parent, 0755);

		if (r)
			return r;
	}
	return parent_open(root_fd, path, ret_name);
}

int inroot_write(int root_fd, const char *path, mode_t mode, const void *bytes, size_t len)
{
	_cleanup_close_ int parent = -1, fd = -1;
	const char *name;
	int r;

	parent = parent_make(root_fd, path, &name);
	if (parent < 0)
		return parent;
	if (unlinkat(parent, name, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes, len);
	return !r && fchmod(fd, mode) < 0 ? -errno : r;
}

int inroot_symlink(int root_fd, const char *target, const char *path)
{
	_cleanup_close_ int parent = -1;
	const char *name;

	parent = parent_make(root_fd, path, &name);
	if (parent < 0)
		return parent;
	return symlinkat(target, parent, name) < 0 && errno != EEXIST ? -errno : 0;
}

int inroot_unlink(int root_fd, const char *path)
{
	_cleanup_close_ int parent = -1;
	const char *name;

	parent = parent_open(root_fd, path, &name);
	if (parent < 0)
		return parent == -ENOENT ? 0 : parent;
	return unlinkat(parent, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int inroot_mount(int root_fd, const char *path, const char *source, const char *type,
		 unsigned long flags, const char *data)
{
	_cleanup_close_ int fd = inroot_open(root_fd, path, O_PATH);
	char target[FD_PATH_SIZE];

	if (fd < 0)
		return fd;
	/* Through the descriptor, so that what was resolved is what is mounted upon. */
	snprintf(target, sizeof(target), "/proc/self/fd/%d", fd);
	return mount(source, target, type, flags, data) < 0 ? -errno : 0;
}

int inroot_bind(int root_fd, const char *path, const char *source, int writable)
{
	struct mount_attr attr = {
		.attr_set =
			MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (writable ? 0 : MOUNT_ATTR_RDONLY),
	};
	_cleanup_close_ int tree = -1, target = -1;

	/* Set before it is attached: at no moment is it there without its flags. */
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, source,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (tree < 0)
		return -errno;
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
		    sizeof(attr)) < 0)
		return -errno;
	target = inroot_open(root_fd, path, O_PATH);
	if (target < 0)
		return target;
	if (syscall(SYS_move_mount, tree, "", target, "",
		    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}
