/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleanup attributes and ownership hand-over, so that no function needs a goto to
 * free what it holds. Types of a library (jansson, libnl, OpenSSL) define theirs
 * beside their use with DEFINE_CLEANUP.
 */
#ifndef QP_BASE_CLEANUP_H
#define QP_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Defines cleanup_<name>(T *), which calls free_func unless the value is null. */
#define DEFINE_CLEANUP(name, type, free_func)      \
	static inline void cleanup_##name(type *p) \
	{                                          \
		if (*p)                            \
			free_func(*p);             \
	}                                          \
	struct cleanup_##name##_is_defined

#define _cleanup_(name) __attribute__((cleanup(cleanup_##name)))

/* Keeps errno, so that a failing function can return -errno after its locals go. */
static inline void cleanup_close(int *fd)
{
	if (*fd >= 0) {
		int saved = errno;
		close(*fd);
		errno = saved;
	}
}

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

DEFINE_CLEANUP(file, FILE *, fclose);
DEFINE_CLEANUP(dir, DIR *, closedir);

#define _cleanup_close_ _cleanup_(close)
#define _cleanup_free_	_cleanup_(freep)
#define _cleanup_file_	_cleanup_(file)
#define _cleanup_dir_	_cleanup_(dir)

/* Takes the value out of a cleanup local; the caller owns it from here. */
#define steal_ptr(p)                         \
	__extension__({                      \
		__typeof__(p) stolen_ = (p); \
		(p) = NULL;                  \
		stolen_;                     \
	})

static inline int steal_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

#endif
