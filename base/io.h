/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads, writes and removals. */
#ifndef QP_BASE_IO_H
#define QP_BASE_IO_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes all @len bytes, through signals. 0 or -errno (ENOSPC, EPIPE, ...). */
int write_all(int fd, const void *bytes, size_t len);

/*
 * Reads @fd to its end, at most @max bytes. *ret_bytes is a new buffer with a NUL after
 * its *ret_len bytes; the caller frees it. 0, -EFBIG past @max, -ENOMEM, or the read's
 * error.
 */
int read_all(int fd, size_t max, char **ret_bytes, size_t *ret_len);

/* read_all of the file @path, relative to @dirfd (AT_FDCWD allowed). */
int read_file_at(int dirfd, const char *path, size_t max, char **ret_bytes, size_t *ret_len);

/*
 * Writes a new file: mode @mode, created exclusively, synced before it is closed.
 * 0 or -errno (EEXIST when the name is taken); a file that could not be written whole is
 * removed again.
 */
int write_new_file_at(int dirfd, const char *path, mode_t mode, const void *bytes, size_t len);

/* Opens the folder @path beneath @dirfd to list it; no link is followed in the last place. 0 with
 * a stream that the caller closes, or -errno. */
int open_dir_at(int dirfd, const char *path, DIR **ret_dir);

/* Removes what is at @path beneath @dirfd, folders with all they hold; no link is followed.
 * 0 also when nothing is there; otherwise the first error, after trying the rest. */
int remove_tree_at(int dirfd, const char *path);

#endif
