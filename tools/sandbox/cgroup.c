// SPDX-License-Identifier: Apache-2.0
/* Finding the hierarchies and reading a group's limits and events. */
#include "tools/sandbox/cgroup.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/number.h"
#include "tools/sandbox/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define CGROUP_FILE_BYTES_MAX 65536
/* Version 1 says "none" with the largest multiple of a page, less than this. */
#define CGROUP_V1_NONE (UINT64_C(1) << 62)

const struct cgroup_file cgroup_memory = {"memory", "memory.limit_in_bytes", "memory.max"};
const struct cgroup_file cgroup_memory_swap = {"memory", "memory.memsw.limit_in_bytes",
					       "memory.swap.max"};
const struct cgroup_file cgroup_pids = {"pids", "pids.max", "pids.max"};

static int hierarchy_add(const struct mount_entry *entry, void *context)
{
	struct cgroups *cgroups = context;
	struct cgroup_hierarchy *new = &cgroups->list[cgroups->cnt];
	bool v2 = !strcmp(entry->type, "cgroup2");
	const char *controllers = v2 ? "" : entry->super_options;

	if (!v2 && strcmp(entry->type, "cgroup") != 0)
		return 0;
	/* The same hierarchy may be mounted at several places. */
	for (size_t i = 0; i < cgroups->cnt; i++) {
		if (cgroups->list[i].v2 == v2 && !strcmp(cgroups->list[i].controllers, controllers))
			return 0;
	}
	if (cgroups->cnt == CGROUP_HIERARCHIES_MAX)
		return -E2BIG;
	if (strlen(entry->path) >= sizeof(new->path) ||
	    strlen(controllers) >= sizeof(new->controllers))
		return -ENAMETOOLONG;
	*new = (struct cgroup_hierarchy){.v2 = v2};
	memcpy(new->path, entry->path, strlen(entry->path) + 1);
	memcpy(new->controllers, controllers, strlen(controllers) + 1);
	cgroups->cnt++;
	return 0;
}

int cgroups_find(struct cgroups *ret_cgroups)
{
	int r;

	ret_cgroups->cnt = 0;
	r = mountinfo_each("/proc/self/mountinfo", hierarchy_add, ret_cgroups);
	if (r)
		return r;
	return cgroups_unified(ret_cgroups) ? 0 : -ENOENT;
}

const struct cgroup_hierarchy *cgroups_unified(const struct cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->cnt; i++) {
		if (cgroups->list[i].v2)
			return &cgroups->list[i];
	}
	return NULL;
}

const struct cgroup_hierarchy *cgroups_controller(const struct cgroups *cgroups,
						  const char *controller)
{
	for (size_t i = 0; i < cgroups->cnt; i++) {
		if (!cgroups->list[i].v2 && mount_option(cgroups->list[i].controllers, controller))
			return &cgroups->list[i];
	}
	return cgroups_unified(cgroups);
}

int cgroup_open(const struct cgroup_hierarchy *hierarchy, const char *group)
{
	char path[512];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", hierarchy->path, group) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int group_read(const struct cgroup_hierarchy *hierarchy, const char *group, const char *file,
		      char **ret_text)
{
	_cleanup_close_ int fd = cgroup_open(hierarchy, group);
	size_t len;
	int r;

	if (fd < 0)
		return fd;
	r = read_file_at(fd, file, CGROUP_FILE_BYTES_MAX, ret_text, &len);
	if (!r && len && (*ret_text)[len - 1] == '\n')
		(*ret_text)[len - 1] = '\0';
	return r;
}

/* "max", "-1" and version 1's huge number all mean no limit. */
static int limit_parse(const char *text, uint64_t *ret_value)
{
	int r;

	if (!strcmp(text, "max") || !strcmp(text, "-1")) {
		*ret_value = UINT64_MAX;
		return 0;
	}
	r = number_parse(text, 0, UINT64_MAX, ret_value);
	if (!r && *ret_value >= CGROUP_V1_NONE)
		*ret_value = UINT64_MAX;
	return r;
}

int cgroup_limit(const struct cgroups *cgroups, const char *group, const struct cgroup_file *file,
		 uint64_t *ret_value)
{
	const struct cgroup_hierarchy *hierarchy = cgroups_controller(cgroups, file->controller);
	_cleanup_free_ char *text = NULL;
	int r = group_read(hierarchy, group, hierarchy->v2 ? file->v2 : file->v1, &text);

	return r ? r : limit_parse(text, ret_value);
}

/* Two words of one file in version 2 ("100000 100000"), two files in version 1. */
static int cpu_read(const struct cgroups *cgroups, const char *group, uint64_t *ret_quota,
		    uint64_t *ret_period)
{
	const struct cgroup_hierarchy *hierarchy = cgroups_controller(cgroups, "cpu");
	_cleanup_free_ char *quota = NULL, *period = NULL;
	char *space;
	int r;

	if (hierarchy->v2) {
		r = group_read(hierarchy, group, "cpu.max", &quota);
		if (r)
			return r;
		space = strchr(quota, ' ');
		if (!space)
			return -EBADMSG;
		*space = '\0';
		r = number_parse(space + 1, 1, UINT32_MAX, ret_period);
		return r ? r : limit_parse(quota, ret_quota);
	}
	r = group_read(hierarchy, group, "cpu.cfs_quota_us", &quota);
	if (!r)
		r = group_read(hierarchy, group, "cpu.cfs_period_us", &period);
	if (!r)
		r = number_parse(period, 1, UINT32_MAX, ret_period);
	return r ? r : limit_parse(quota, ret_quota);
}

int cgroup_cpus_milli(const struct cgroups *cgroups, const char *group, uint64_t *ret_milli)
{
	uint64_t quota, period;
	int r = cpu_read(cgroups, group, &quota, &period);

	if (r)
		return r;
	if (quota == UINT64_MAX)
		*ret_milli = UINT64_MAX;
	else if (__builtin_mul_overflow(quota, 1000, &quota))
		return -ERANGE;
	else
		*ret_milli = quota / period;
	return 0;
}

/* Whether one of the counters @names, in lines "name number", is above zero. */
static int counters_above_zero(const struct cgroup_hierarchy *hierarchy, const char *group,
			       const char *file, const char *const *names, bool *ret_above)
{
	_cleanup_free_ char *text = NULL;
	char *state = NULL;
	int r = group_read(hierarchy, group, file, &text);

	if (r)
		return r;
	*ret_above = false;
	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = '\0';
		for (size_t i = 0; names[i]; i++) {
			if (!strcmp(line, names[i]) && strcmp(value, "0") != 0)
				*ret_above = true;
		}
	}
	return 0;
}

int cgroup_memory_hit(const struct cgroups *cgroups, const char *group, bool *ret_hit)
{
	/* Not the count of times the limit was met: reclaiming the page cache meets it too. */
	static const char *const names[] = {"oom", "oom_kill", "under_oom", NULL};
	const struct cgroup_hierarchy *hierarchy = cgroups_controller(cgroups, "memory");

	return counters_above_zero(hierarchy, group,
				   hierarchy->v2 ? "memory.events" : "memory.oom_control", names,
				   ret_hit);
}

int cgroup_pids_hit(const struct cgroups *cgroups, const char *group, bool *ret_hit)
{
	static const char *const names[] = {"max", NULL};

	return counters_above_zero(cgroups_controller(cgroups, "pids"), group, "pids.events", names,
				   ret_hit);
}
