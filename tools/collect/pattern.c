// SPDX-License-Identifier: Apache-2.0
/* Which groups are wanted: globs over the parts of their paths. */
#include "tools/collect/name.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#define USUAL_MOUNT_POINT "/sys/fs/cgroup"

/* What is left of @glob below the folder @top; NULL when it is not below it. */
static const char *below(const char *glob, const char *top)
{
	size_t len = strlen(top);

	return strncmp(glob, top, len) == 0 && glob[len] == '/' ? glob + len + 1 : NULL;
}

void pattern_clear(struct pattern *pattern)
{
	free(steal_ptr(pattern->text));
	pattern->cnt = 0;
}

int pattern_parse(const char *glob, const char *mount_point, struct pattern *ret_pattern,
		  struct qp_error *err)
{
	__attribute__((cleanup(pattern_clear))) struct pattern pattern = {0};
	const char *relative = glob;
	char *rest;

	if (glob[0] == '/') {
		relative = below(glob, mount_point);
		if (!relative)
			relative = below(glob, USUAL_MOUNT_POINT);
	}
	if (!relative)
		return qp_error_set(err, -EINVAL, "%s is not below %s, where cgroup v2 is", glob,
				    mount_point);
	pattern.text = rest = strdup(relative);
	if (!rest)
		return -ENOMEM;
	while (rest) {
		char *part = strsep(&rest, "/");

		if (!part[0] || !strcmp(part, ".") || !strcmp(part, ".."))
			return qp_error_set(err, -EINVAL,
					    "%s has a part that is empty, \".\" or \"..\"", glob);
		if (pattern.cnt == PATTERN_PARTS_MAX)
			return qp_error_set(err, -EINVAL, "%s has more than %d parts", glob,
					    PATTERN_PARTS_MAX);
		pattern.parts[pattern.cnt++] = part;
	}
	*ret_pattern = pattern;
	pattern.text = NULL;
	return 0;
}

/* How many parts of @path match those of the pattern, of its *ret_cnt; stops at the first
 * that does not. */
static size_t match_parts(const struct pattern *pattern, const char *path, size_t *ret_cnt)
{
	_cleanup_free_ char *copy = strdup(path);
	size_t matched = 0, cnt = 0;
	char *rest = copy && copy[0] ? copy : NULL;

	while (rest) {
		const char *part = strsep(&rest, "/");

		if (matched == cnt && cnt < pattern->cnt &&
		    fnmatch(pattern->parts[cnt], part, FNM_PERIOD) == 0)
			matched++;
		cnt++;
	}
	*ret_cnt = cnt;
	return copy ? matched : 0;
}

bool pattern_match(const struct pattern *pattern, const char *path)
{
	size_t cnt, matched = match_parts(pattern, path, &cnt);

	return matched == pattern->cnt && cnt == matched;
}

uint32_t pattern_levels(const struct pattern *pattern, const char *path)
{
	size_t cnt, matched = match_parts(pattern, path, &cnt);

	return matched == cnt && cnt < pattern->cnt ? UINT32_C(1) << (pattern->cnt - cnt - 1) : 0;
}
