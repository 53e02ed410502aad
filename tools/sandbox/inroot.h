/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making files beneath a root that may be an image of a stranger's: paths are absolute as
 * seen from inside, and no symlink in it leads out (openat2 with RESOLVE_IN_ROOT).
 */
#ifndef QP_TOOLS_SANDBOX_INROOT_H
#define QP_TOOLS_SANDBOX_INROOT_H

#include <stddef.h>
#include <sys/types.h>

/* Opens @path beneath @root_fd. A descriptor, close-on-exec, or -errno. */
int inroot_open(int root_fd, const char *path, int flags);

/* Makes the folder @path, and those above it that are missing, all with @mode. */
int inroot_mkdir(int root_fd, const char *path, mode_t mode);

/* Writes the file @path, in place of what has that name; its folder is made if need be. */
int inroot_write(int root_fd, const char *path, mode_t mode, const void *bytes, size_t len);

/* Makes the symlink @path, unless there is something of that name. */
int inroot_symlink(int root_fd, const char *target, const char *path);

/* Removes the file @path, if it is there. */
int inroot_unlink(int root_fd, const char *path);

/* mount(2) onto @path, which must be there; it is not followed if it is a symlink out. */
int inroot_mount(int root_fd, const char *path, const char *source, const char *type,
		 unsigned long flags, const char *data);

/* Binds the host's @source to @path with all that is mounted below it: nosuid, nodev, and
 * read-only unless @writable, everywhere. */
int inroot_bind(int root_fd, const char *path, const char *source, int writable);

#endif
