/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups at the top of every hierarchy that the host has mounted, version 1 or 2:
 * finding, reading, killing, removing. Only groups that the caller names are touched.
 */
#ifndef QP_TOOLS_SANDBOX_CGROUP_H
#define QP_TOOLS_SANDBOX_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_HIERARCHIES_MAX 24

struct cgroup_hierarchy {
	char path[256];	       /* where it is mounted */
	char controllers[256]; /* version 1: its mount options; version 2: "" */
	bool v2;
};

struct cgroups {
	struct cgroup_hierarchy list[CGROUP_HIERARCHIES_MAX];
	size_t cnt;
};

/* A controller's number under either version's name of its file. */
struct cgroup_file {
	const char *controller;
	const char *v1;
	const char *v2;
};

extern const struct cgroup_file cgroup_memory, cgroup_memory_swap, cgroup_pids;

/* Reads the caller's mount table. 0, -ENOENT when no version 2 hierarchy is mounted, or
 * -errno. */
int cgroups_find(struct cgroups *ret_cgroups);

/* The version 2 hierarchy; there is one. */
const struct cgroup_hierarchy *cgroups_unified(const struct cgroups *cgroups);

/* The hierarchy that has @controller: a version 1 one that was mounted with it, or else the
 * version 2 one. */
const struct cgroup_hierarchy *cgroups_controller(const struct cgroups *cgroups,
						  const char *controller);

/* Opens the folder of @group in @hierarchy, for reading. A descriptor or -errno. */
int cgroup_open(const struct cgroup_hierarchy *hierarchy, const char *group);

/* Reads a limit of @group; UINT64_MAX for none. 0, -ENOENT where the kernel has no such file
 * (swap accounting may be off), or -errno. */
int cgroup_limit(const struct cgroups *cgroups, const char *group, const struct cgroup_file *file,
		 uint64_t *ret_value);

/* The CPU time allowed, in thousandths of one CPU; UINT64_MAX for no limit. */
int cgroup_cpus_milli(const struct cgroups *cgroups, const char *group, uint64_t *ret_milli);

/* Whether a process was killed for want of memory; whether a fork was refused. */
int cgroup_memory_hit(const struct cgroups *cgroups, const char *group, bool *ret_hit);
int cgroup_pids_hit(const struct cgroups *cgroups, const char *group, bool *ret_hit);

/* Moves @tgid into @group of the version 2 hierarchy, making the group if need be. */
int cgroup_join_unified(const struct cgroups *cgroups, const char *group, pid_t tgid);

/* Kills whatever is in @group, in any hierarchy. 0 once nothing is left, or -EBUSY. */
int cgroups_kill(const struct cgroups *cgroups, const char *group);

/* Removes @group and the groups in it from every hierarchy; *ret_found says whether there
 * was one. 0 or the first error. */
int cgroups_remove(const struct cgroups *cgroups, const char *group, bool *ret_found);

#endif
