// SPDX-License-Identifier: Apache-2.0
/* The copy phase. Everything is opened beneath a held folder, and no link is followed. */
#include "tools/init/init.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_DEPTH_MAX	 200 /* two descriptors a level, of 1024 */
#define COPY_ENTRIES_MAX 1000000
#define COPY_ERRORS_MAX	 20   /* that are printed */
#define PERMISSION_BITS	 0777 /* set-id bits mean nothing on a nosuid mount */

struct copy {
	size_t entries, errors, left_out;
};

static void copy_error(struct copy *copy, const char *name, int error)
{
	if (copy->errors++ < COPY_ERRORS_MAX)
		dprintf(STDERR_FILENO, "copy: %s: %s\n", name, strerror(error));
}

static int copy_bytes(int from, int to)
{
	static char buffer[256 * 1024];

	for (;;) {
		ssize_t n = read(from, buffer, sizeof(buffer));
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		r = write_all(to, buffer, (size_t)n);
		if (r)
			return r;
	}
}

static int copy_file(int from_dir, int to_dir, const char *name)
{
	_cleanup_close_ int from = -1, to = -1;
	struct stat st;

	/* Non-blocking: the name may have become a FIFO since it was listed. */
	from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (from < 0 || fstat(from, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    st.st_mode & PERMISSION_BITS);
	if (to < 0)
		return -errno;
	return st.st_size ? copy_bytes(from, to) : 0;
}

static int copy_link(int from_dir, int to_dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, name, target, sizeof(target));

	if (n < 0)
		return -errno;
	if ((size_t)n == sizeof(target))
		return -ENAMETOOLONG;
	target[n] = '\0';
	return symlinkat(target, to_dir, name) < 0 ? -errno : 0;
}

static int copy_entries(struct copy *copy, int from_fd, int to_dir, unsigned int depth);

static int copy_folder(struct copy *copy, int from_dir, int to_dir, const char *name,
		       unsigned int depth)
{
	_cleanup_close_ int from = -1, to = -1;
	struct stat st;
	mode_t mode;
	int r;

	if (depth == COPY_DEPTH_MAX)
		return -ELOOP;
	from = openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from < 0 || fstat(from, &st) < 0)
		return -errno;
	mode = st.st_mode & PERMISSION_BITS;
	if (mkdirat(to_dir, name, mode | S_IRWXU) < 0)
		return -errno;
	to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0)
		return -errno;
	r = copy_entries(copy, steal_fd(&from), to, depth + 1);
	if (!r && (mode & S_IRWXU) != S_IRWXU && fchmod(to, mode) < 0)
		r = -errno;
	return r;
}

static unsigned char entry_type(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return IFTODT(st.st_mode);
}

static int copy_entry(struct copy *copy, int from_dir, int to_dir, const struct dirent *entry,
		      unsigned int depth)
{
	switch (entry_type(from_dir, entry)) {
	case DT_REG:
		return copy_file(from_dir, to_dir, entry->d_name);
	case DT_DIR:
		return copy_folder(copy, from_dir, to_dir, entry->d_name, depth);
	case DT_LNK:
		return copy_link(from_dir, to_dir, entry->d_name);
	default:
		copy->left_out++;
		return 0;
	}
}

/* Owns @from_fd. Only what makes going on senseless is an error here. */
static int copy_entries(struct copy *copy, int from_fd, int to_dir, unsigned int depth)
{
	_cleanup_dir_ DIR *dir = fdopendir(from_fd);
	struct dirent *entry;

	if (!dir) {
		close(from_fd);
		return -ENOMEM;
	}
	while ((errno = 0, entry = readdir(dir))) {
		int r;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (copy->entries++ == COPY_ENTRIES_MAX)
			return -EOVERFLOW;
		r = copy_entry(copy, dirfd(dir), to_dir, entry, depth);
		if (r == -ENOSPC || r == -EDQUOT || r == -EOVERFLOW)
			return r;
		if (r)
			copy_error(copy, entry->d_name, -r);
	}
	return -errno;
}

int copy_tree(const char *from, const char *to)
{
	_cleanup_close_ int from_fd = -1, to_fd = -1;
	struct copy copy = {0};
	mode_t mask;
	int r;

	from_fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from_fd < 0 && errno == ENOENT)
		return 0;
	if (from_fd < 0) {
		copy_error(&copy, from, errno);
		return 1;
	}
	to_fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to_fd < 0) {
		copy_error(&copy, to, errno);
		return 1;
	}
	mask = umask(0);
	r = copy_entries(&copy, steal_fd(&from_fd), to_fd, 0);
	umask(mask);
	if (r)
		copy_error(&copy, from, -r);
	if (copy.left_out)
		dprintf(STDERR_FILENO,
			"copy: left out %zu files that are neither regular files, "
			"folders nor links\n",
			copy.left_out);
	return copy.errors ? 1 : 0;
}
