/* SPDX-License-Identifier: Apache-2.0 */
/* How big a folder is that others may be writing to. */
#ifndef QP_TOOLS_DOWNLOAD_TREE_H
#define QP_TOOLS_DOWNLOAD_TREE_H

#include <stdint.h>

/*
 * Adds up the bytes of the regular files beneath @path of @dirfd, following no link; a name
 * that is not there has none. With @packages_only what npm itself adds to node_modules
 * (.bin, .package-lock.json) is left out. 0; -E2BIG past a million entries or 100 levels;
 * the system's error.
 */
int tree_measure(int dirfd, const char *path, int packages_only, uint64_t *ret_bytes);

#endif
