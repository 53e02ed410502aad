// SPDX-License-Identifier: Apache-2.0
/* Comparing what the kernel enforces with what was asked for. */
#include "base/cleanup.h"
#include "tools/sandbox/readback.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECCOMP_FILTER	    2
#define CPU_QUOTA_MIN_MILLI 10 /* the kernel's least quota: 1 ms of 100 */

DEFINE_CLEANUP(readbackp, struct readback *, readback_clear);

static int weaker(struct qp_error *err, const char *what)
{
	return qp_error_set(err, -EPERM, "the container is less confined than asked for: %s", what);
}

static int identity_check(const struct sandbox *sandbox, const struct readback *readback,
			  struct qp_error *err)
{
	for (int i = 0; i < 4; i++) {
		if (readback->uids[i] != sandbox->uid || readback->gids[i] != sandbox->gid)
			return weaker(err, "it has another uid or gid");
	}
	/* crun lists the primary group among them too. */
	if (readback->groups_cnt > 1)
		return weaker(err, "it has supplementary groups");
	for (int i = 0; i < CAPS_CNT; i++) {
		if (readback->caps[i])
			return weaker(err, "a capability is left");
	}
	if (readback->no_new_privs != 1)
		return weaker(err, "it may gain privileges by exec");
	if (readback->seccomp != SECCOMP_FILTER)
		return weaker(err, "no seccomp filter is in force");
	return 0;
}

static int namespaces_check(const struct sandbox *sandbox, const struct readback *readback,
			    struct qp_error *err)
{
	char what[64];

	for (int i = 0; i < NS_CNT; i++) {
		/* No user namespace is made: nothing inside is to be root in any. */
		if (i == NS_USER || (i == NS_NET && sandbox->host_network))
			continue;
		if (readback->ns[i] == readback->own_ns[i]) {
			snprintf(what, sizeof(what), "it has the host's %s namespace",
				 namespace_names[i]);
			return weaker(err, what);
		}
	}
	return 0;
}

static int mounts_check(const struct sandbox *sandbox, const struct readback *readback,
			struct qp_error *err)
{
	if (!readback->root_found || !readback->root_readonly)
		return weaker(err, "its root is writable");
	for (size_t i = 0; i < TMPFS_CNT; i++) {
		const struct readback_tmpfs *tmpfs = &readback->tmpfs[i];

		if (!sandbox->tmpfs[i].bytes)
			continue;
		/* The kernel rounds up to a page. */
		if (!tmpfs->found || !tmpfs->nosuid || !tmpfs->nodev ||
		    tmpfs->bytes > sandbox->tmpfs[i].bytes + (uint64_t)sysconf(_SC_PAGESIZE))
			return weaker(err, "a tmpfs is not as asked for");
	}
	for (size_t i = 0; i < sandbox->binds_cnt; i++) {
		if (readback->binds[i].writable && !sandbox->binds[i].writable)
			return weaker(err, "a read-only bind is writable");
	}
	return 0;
}

static int limits_check(const struct sandbox *sandbox, const struct readback *readback,
			struct qp_error *err)
{
	if (readback->pids > sandbox->pids)
		return weaker(err, "the limit of processes is not in force");
	if (readback->memory_bytes > sandbox->memory_bytes)
		return weaker(err, "the limit of memory is not in force");
	if (readback->has_memory_swap && readback->memory_swap_bytes > readback->memory_bytes)
		return weaker(err, "it may use swap");
	if (readback->cpus_milli > sandbox->cpus_milli &&
	    readback->cpus_milli > CPU_QUOTA_MIN_MILLI)
		return weaker(err, "the limit of CPU time is not in force");
	return 0;
}

int sandbox_verify(struct sandbox *sandbox, struct qp_error *err)
{
	struct readback readback;
	_cleanup_(readbackp) struct readback *cleared = &readback;
	int r = readback_read(sandbox, &readback, err);

	if (!r)
		r = identity_check(sandbox, cleared, err);
	if (!r)
		r = namespaces_check(sandbox, cleared, err);
	if (!r)
		r = mounts_check(sandbox, cleared, err);
	return r ? r : limits_check(sandbox, cleared, err);
}
