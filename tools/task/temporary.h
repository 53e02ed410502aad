/* SPDX-License-Identifier: Apache-2.0 */
/* The temporary folder that a package is fetched to: in memory where that fits. */
#ifndef QP_TOOLS_TASK_TEMPORARY_H
#define QP_TOOLS_TASK_TEMPORARY_H

#include <stdint.h>

/*
 * Puts memory in the place of the folder @path, of twice @bytes, if that is no more than a
 * quarter of what the machine has; or else leaves it on its disk. The mount is of the
 * calling process's mount namespace, and goes with it. Thousands of small files are written
 * and removed much faster there than on a disk that others use too.
 */
void temporary_in_memory(const char *path, uint64_t bytes);

/* Removes the folder with all it holds, wherever that is. 0 or -errno. */
int temporary_remove(const char *path);

#endif
