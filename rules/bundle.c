// SPDX-License-Identifier: Apache-2.0
/* Appending to a bundle: the lock, the last line, the write. bundle_verify.c reads it all. */
#include "rules/bundle.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "rules/dsse.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define LOCK_TRIES_MAX 6000 /* a minute */
#define LOCK_WAIT_NS   10000000L

struct bundle {
	int fd;
	char *path;
	uint64_t size, lines; /* of whole lines */
	char previous[SHA256_TEXT_SIZE];
};

void bundle_close(struct bundle *bundle)
{
	if (!bundle)
		return;
	/* The lock goes with the last descriptor of the open file. */
	if (bundle->fd >= 0)
		close(bundle->fd);
	free(bundle->path);
	free(bundle);
}

DEFINE_CLEANUP(bundle, struct bundle *, bundle_close);

static int fail(struct bundle *bundle, int r, const char *doing, struct qp_error *err)
{
	return qp_error_set(err, r, "cannot %s the bundle %s: %s", doing, bundle->path,
			    strerror(-r));
}

/* Anyone who may read the file may hold its lock: waiting has an end. */
int bundle_lock(int fd, bool to_write)
{
	const struct timespec pause = {.tv_nsec = LOCK_WAIT_NS};
	int operation = (to_write ? LOCK_EX : LOCK_SH) | LOCK_NB;

	for (int tries = 0; flock(fd, operation); tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (tries == LOCK_TRIES_MAX)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Opens and locks what is at the path now: it may have been replaced while we waited. */
static int file_lock(struct bundle *bundle, int flags, struct qp_error *err)
{
	for (;;) {
		struct stat held, named;
		int r;

		bundle->fd =
			open(bundle->path,
			     flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644);
		if (bundle->fd < 0 && errno == ELOOP)
			return qp_error_set(err, -ELOOP,
					    "the bundle %s is a symbolic link: name what it leads "
					    "to with --bundle",
					    bundle->path);
		if (bundle->fd < 0)
			return fail(bundle, -errno, "open", err);
		if (fstat(bundle->fd, &held))
			return fail(bundle, -errno, "look at", err);
		if (!S_ISREG(held.st_mode))
			return qp_error_set(err, -EINVAL, "the bundle %s is no plain file",
					    bundle->path);
		r = bundle_lock(bundle->fd, true);
		if (r)
			return fail(bundle, r, "lock", err);
		if (!lstat(bundle->path, &named) && named.st_dev == held.st_dev &&
		    named.st_ino == held.st_ino)
			return 0;
		close(steal_fd(&bundle->fd));
	}
}

/* Where the last whole line begins, given the end of the lines before @end. */
static int line_begin(struct bundle *bundle, uint64_t end, uint64_t *ret_begin)
{
	_cleanup_free_ char *piece = malloc(BUNDLE_LINE_BYTES_MAX + 1);
	uint64_t from = end > BUNDLE_LINE_BYTES_MAX ? end - BUNDLE_LINE_BYTES_MAX : 0;
	const char *newline;
	ssize_t got;

	if (!piece)
		return -ENOMEM;
	got = pread(bundle->fd, piece, end - from, (off_t)from);
	if (got < 0)
		return -errno;
	if ((uint64_t)got != end - from)
		return -EIO;
	newline = memrchr(piece, '\n', (size_t)got);
	if (!newline && from)
		return -EFBIG;
	*ret_begin = newline ? from + (uint64_t)(newline - piece) + 1 : 0;
	return 0;
}

static int line_check(const struct bundle *bundle, const char *line, size_t len,
		      const struct key *key, struct qp_error *err)
{
	__attribute__((cleanup(dsse_clear))) struct dsse dsse = {0};
	struct qp_error why = {0};
	int r = dsse_parse(line, len, DSSE_TYPE_RECORD, "bundle", &dsse, &why);

	if (r == -ENOMEM)
		return r;
	if (r)
		return qp_error_set(err, -EBADMSG,
				    "the last line of the bundle %s is no run record (%s)",
				    bundle->path, why.text);
	if (dsse_verify(&dsse, key, "bundle", &why))
		return qp_error_set(err, -EACCES,
				    "the bundle %s is of another key than %s: name another bundle "
				    "with --bundle",
				    bundle->path, key_id(key));
	return 0;
}

static int lines_count(struct bundle *bundle)
{
	char piece[16384];
	uint64_t at = 0;

	while (at < bundle->size) {
		ssize_t got = pread(bundle->fd, piece, sizeof(piece), (off_t)at);

		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		for (ssize_t i = 0; i < got && at + (uint64_t)i < bundle->size; i++)
			bundle->lines += piece[i] == '\n';
		at += (uint64_t)got;
	}
	return 0;
}

/* Finds the end of the whole lines, and what the last of them is. */
static int tail_read(struct bundle *bundle, const struct key *key, uint64_t *ret_torn,
		     struct qp_error *err)
{
	_cleanup_free_ char *line = NULL;
	struct stat st;
	uint64_t begin;
	size_t len;
	int r;

	strcpy(bundle->previous, BUNDLE_FIRST_PREVIOUS);
	if (fstat(bundle->fd, &st))
		return fail(bundle, -errno, "look at", err);
	if ((uint64_t)st.st_size > BUNDLE_BYTES_MAX)
		return fail(bundle, -EFBIG, "append to", err);
	r = line_begin(bundle, (uint64_t)st.st_size, &bundle->size);
	if (r)
		return fail(bundle, r, "read", err);
	*ret_torn = (uint64_t)st.st_size - bundle->size;
	if (!bundle->size)
		return 0;
	r = line_begin(bundle, bundle->size - 1, &begin);
	if (r)
		return fail(bundle, r, "read", err);
	len = (size_t)(bundle->size - 1 - begin);
	line = malloc(len + 1);
	if (!line)
		return -ENOMEM;
	if (pread(bundle->fd, line, len, (off_t)begin) != (ssize_t)len)
		return fail(bundle, -EIO, "read", err);
	r = line_check(bundle, line, len, key, err);
	if (!r)
		r = sha256_text(line, len, bundle->previous);
	return r ? r : lines_count(bundle);
}

static int bundle_new(const char *path, struct bundle **ret_bundle)
{
	struct bundle *bundle = calloc(1, sizeof(*bundle));

	if (!bundle)
		return -ENOMEM;
	bundle->fd = -1;
	bundle->path = strdup(path);
	*ret_bundle = bundle;
	return bundle->path ? 0 : -ENOMEM;
}

int bundle_open(const char *path, const struct key *key, struct bundle **ret_bundle,
		struct qp_error *err)
{
	_cleanup_(bundle) struct bundle *bundle = NULL;
	uint64_t torn = 0;
	int r = bundle_new(path, &bundle);

	if (!r)
		r = file_lock(bundle, O_CREAT, err);
	if (!r)
		r = tail_read(bundle, key, &torn, err);
	if (r)
		return r;
	/* Whoever wrote it crashed before its statement was made: no claim names that line. */
	if (torn) {
		log_warning("the bundle %s ended in %llu bytes of a line that was never finished: "
			    "they are cut off",
			    path, (unsigned long long)torn);
		if (ftruncate(bundle->fd, (off_t)bundle->size))
			return fail(bundle, -errno, "mend", err);
	}
	*ret_bundle = steal_ptr(bundle);
	return 0;
}

int bundle_check(const char *path, const struct key *key, struct qp_error *err)
{
	_cleanup_(bundle) struct bundle *bundle = NULL;
	uint64_t torn;
	int r;

	if (access(path, F_OK) && errno == ENOENT)
		return 0;
	r = bundle_new(path, &bundle);
	if (!r)
		r = file_lock(bundle, 0, err);
	return r ? r : tail_read(bundle, key, &torn, err);
}

const char *bundle_previous(const struct bundle *bundle)
{
	return bundle->previous;
}

/* A name that is new is on the disk only when its folder is. */
static int folder_sync(const char *path)
{
	_cleanup_free_ char *folder = strdup(path);
	_cleanup_close_ int fd = -1;
	char *slash;

	if (!folder)
		return -ENOMEM;
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* cppcheck-suppress memleak ; the attribute frees it */
	return fd < 0 || fsync(fd) ? -errno : 0;
}

int bundle_append(struct bundle *bundle, const char *line, size_t len, uint64_t *ret_line,
		  struct qp_error *err)
{
	_cleanup_free_ char *whole = NULL;
	ssize_t wrote;
	int r = 0;

	if (len >= BUNDLE_LINE_BYTES_MAX || memchr(line, '\n', len))
		return qp_error_set(err, -EMSGSIZE, "the run record is too big for the bundle %s",
				    bundle->path);
	whole = malloc(len + 1);
	if (!whole)
		return -ENOMEM;
	memcpy(whole, line, len);
	whole[len] = '\n';
	wrote = pwrite(bundle->fd, whole, len + 1, (off_t)bundle->size);
	if (wrote < 0)
		r = -errno;
	else if ((size_t)wrote != len + 1)
		r = -ENOSPC;
	else if (fsync(bundle->fd))
		r = -errno;
	else if (!bundle->size)
		r = folder_sync(bundle->path);
	if (!r)
		r = sha256_text(line, len, bundle->previous);
	if (r) {
		/* Should this fail too, the next writer cuts it off. */
		if (ftruncate(bundle->fd, (off_t)bundle->size))
			log_warning("the bundle %s could not be mended: %s", bundle->path,
				    strerror(errno));
		return fail(bundle, r, "append to", err);
	}
	bundle->size += len + 1;
	bundle->lines++;
	if (ret_line)
		*ret_line = bundle->lines;
	return 0;
}
