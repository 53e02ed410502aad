/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says about the confinement of one process. */
#ifndef QP_TOOLS_SANDBOX_READBACK_H
#define QP_TOOLS_SANDBOX_READBACK_H

#include "tools/sandbox/internal.h"

enum capability_set {
	CAPS_INHERITABLE,
	CAPS_PERMITTED,
	CAPS_EFFECTIVE,
	CAPS_BOUNDING,
	CAPS_AMBIENT,
	CAPS_CNT
};

enum namespace_kind { NS_MNT, NS_PID, NS_IPC, NS_UTS, NS_CGROUP, NS_NET, NS_USER, NS_CNT };

extern const char *const namespace_names[NS_CNT];

struct readback_tmpfs {
	bool found;
	char options[256]; /* in the receipt's form, see the seeds */
	uint64_t bytes;
	bool nosuid, nodev, noexec, readonly;
	uint32_t uid, gid;
};

struct readback_bind {
	bool found, writable;
};

struct readback {
	uint32_t uids[4], gids[4]; /* real, effective, saved, file system */
	unsigned int groups_cnt;   /* supplementary */
	uint64_t caps[CAPS_CNT];
	unsigned int no_new_privs, seccomp;  /* 0, 1; 0, 1 strict, 2 filter */
	uint64_t own_ns[NS_CNT], ns[NS_CNT]; /* inodes: the caller's, the process's */
	bool root_found, root_readonly;
	struct readback_tmpfs tmpfs[TMPFS_CNT];
	struct readback_bind *binds;		 /* as many as the sandbox has */
	uint64_t pids, memory_bytes, cpus_milli; /* UINT64_MAX: no limit */
	bool has_memory_swap;
	uint64_t memory_swap_bytes; /* memory and swap together; UINT64_MAX: no limit */
};

/* Reads it all. The caller clears it, also after a failure. -ESRCH when PID 1 is gone. */
int readback_read(const struct sandbox *sandbox, struct readback *ret_readback,
		  struct qp_error *err);
void readback_clear(struct readback *readback);

#endif
