// SPDX-License-Identifier: Apache-2.0
/* Whole reads, writes and removals. */
#include "base/io.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int read_all(int fd, size_t max, char **ret_bytes, size_t *ret_len)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len = 0, size = 0;

	for (;;) {
		ssize_t n;

		if (size - len < 2) {
			char *grown;

			size = size ? size * 2 : 4096;
			grown = realloc(bytes, size);
			if (!grown)
				return -ENOMEM;
			bytes = grown;
		}
		n = read(fd, bytes + len, size - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
	}
	bytes[len] = '\0';
	*ret_len = len;
	*ret_bytes = steal_ptr(bytes);
	return 0;
}

int read_file_at(int dirfd, const char *path, size_t max, char **ret_bytes, size_t *ret_len)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return read_all(fd, max, ret_bytes, ret_len);
}

int write_new_file_at(int dirfd, const char *path, mode_t mode, const void *bytes, size_t len)
{
	_cleanup_close_ int fd =
		openat(dirfd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes, len);
	/* A file system may report a full disk only here. Pipes cannot be synced. */
	if (!r && fsync(fd) && errno != EINVAL)
		r = -errno;
	if (r)
		unlinkat(dirfd, path, 0);
	return r;
}

int open_dir_at(int dirfd, const char *path, DIR **ret_dir)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret_dir = fdopendir(fd);
	if (*ret_dir)
		return 0;
	close(fd);
	return -ENOMEM;
}

static int remove_children(int parent_fd, const char *path)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *entry;
	int r, first = open_dir_at(parent_fd, path, &dir);

	if (first)
		return first == -ENOENT ? 0 : first;
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		r = remove_tree_at(dirfd(dir), entry->d_name);
		if (r && !first)
			first = r;
	}
	return first;
}

int remove_tree_at(int dirfd, const char *path)
{
	int r;

	if (!unlinkat(dirfd, path, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	r = remove_children(dirfd, path);
	if (unlinkat(dirfd, path, AT_REMOVEDIR) && errno != ENOENT && !r)
		r = -errno;
	return r;
}
