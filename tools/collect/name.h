/* SPDX-License-Identifier: Apache-2.0 */
/* Names of groups: as file names, and as patterns choose them. */
#ifndef QP_TOOLS_COLLECT_NAME_H
#define QP_TOOLS_COLLECT_NAME_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_FLAT_MAX 200 /* bytes; leaves room in NAME_MAX for the time and the ending */

/*
 * The path of a group as one file name: letters, digits and "-_.@:" stay, every other byte
 * and a leading dot becomes %HH, so that different paths have different names. One longer
 * than NAME_FLAT_MAX is cut, and "%%" and 32 hex digits of its SHA-256 stand for the rest:
 * the log has the whole. The caller frees it; NULL when out of memory.
 */
char *name_flatten(const char *path);

/* The inverse, NULL when @flat was cut, is no such name or memory is out. */
char *name_unflatten(const char *flat);

#define PATTERN_PARTS_MAX 31 /* parts of a pattern, as bits of a mask */

struct pattern {
	char *text;
	char *parts[PATTERN_PARTS_MAX];
	size_t cnt;
};

/*
 * Splits @glob at its slashes. An absolute one is below @mount_point, or below
 * "/sys/fs/cgroup", where cgroup v2 is on most hosts. -EINVAL with the reason.
 */
int pattern_parse(const char *glob, const char *mount_point, struct pattern *ret_pattern,
		  struct qp_error *err);

void pattern_clear(struct pattern *pattern);

/* Whether all of @path, without a leading slash, matches. A star does not match a slash. */
bool pattern_match(const struct pattern *pattern, const char *path);

/* If @path ("" for the root) can have a match below it: the bit of how many levels below,
 * less one. 0 otherwise. */
uint32_t pattern_levels(const struct pattern *pattern, const char *path);

#endif
