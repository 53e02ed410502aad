// SPDX-License-Identifier: Apache-2.0
/* Copying a tree by descriptors. */
#include "base/tree_copy.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_DEPTH_MAX	 200 /* two descriptors a level, of 1024 */
#define COPY_ENTRIES_MAX 1000000
#define PERMISSION_BITS	 0777 /* set-id bits mean nothing on a nosuid mount */

static int give_away(const struct tree_copy *copy, int fd)
{
	return copy->give_away && fchown(fd, copy->uid, copy->gid) < 0 ? -errno : 0;
}

static int copy_bytes(struct tree_copy *copy, int from, int to)
{
	static char buffer[256 * 1024];

	for (;;) {
		ssize_t n = read(from, buffer, sizeof(buffer));
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		copy->bytes += (uint64_t)n;
		if (copy->bytes_max && copy->bytes > copy->bytes_max)
			return -EFBIG;
		r = write_all(to, buffer, (size_t)n);
		if (r)
			return r;
	}
}

static int copy_file(struct tree_copy *copy, int from_dir, int to_dir, const char *name)
{
	_cleanup_close_ int from = -1, to = -1;
	struct stat st;
	int r;

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
	r = give_away(copy, to);
	return r || !st.st_size ? r : copy_bytes(copy, from, to);
}

static int copy_link(const struct tree_copy *copy, int from_dir, int to_dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, name, target, sizeof(target));

	if (n < 0)
		return -errno;
	if ((size_t)n == sizeof(target))
		return -ENAMETOOLONG;
	target[n] = '\0';
	if (symlinkat(target, to_dir, name) < 0)
		return -errno;
	if (copy->give_away && fchownat(to_dir, name, copy->uid, copy->gid, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return 0;
}

static int copy_entries(struct tree_copy *copy, int from_fd, int to_dir, unsigned int depth);

static int copy_folder(struct tree_copy *copy, int from_dir, int to_dir, const char *name,
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
	if (!r)
		r = give_away(copy, to);
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

static int copy_entry(struct tree_copy *copy, int from_dir, int to_dir, const struct dirent *entry,
		      unsigned int depth)
{
	switch (entry_type(from_dir, entry)) {
	case DT_REG:
		return copy_file(copy, from_dir, to_dir, entry->d_name);
	case DT_DIR:
		return copy_folder(copy, from_dir, to_dir, entry->d_name, depth);
	case DT_LNK:
		return copy_link(copy, from_dir, to_dir, entry->d_name);
	default:
		copy->left_out++;
		return 0;
	}
}

/* Owns @from_fd. Only what makes going on senseless is an error here. */
static int copy_entries(struct tree_copy *copy, int from_fd, int to_dir, unsigned int depth)
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
		if (r == -ENOSPC || r == -EDQUOT || r == -EOVERFLOW || r == -EFBIG)
			return r;
		if (r) {
			copy->errors++;
			copy->on_error(entry->d_name, -r);
		}
	}
	return -errno;
}

int tree_copy(struct tree_copy *copy, int from_fd, int to_fd)
{
	/* A description of its own: reading a folder moves its offset. */
	int fd = openat(from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mode_t mask;
	int r;

	if (fd < 0)
		return -errno;
	mask = umask(0);
	r = copy_entries(copy, fd, to_fd, 0);
	umask(mask);
	return r;
}
