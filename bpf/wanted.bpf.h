/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which calls that have a row are recorded. These are questions of volume, not of policy:
 * what is left out here changes nothing outside its own process.
 */
#ifndef QP_BPF_WANTED_BPF_H
#define QP_BPF_WANTED_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/record.bpf.h"

#define PROT_WRITE    2
#define PROT_EXEC     4
#define MAP_SHARED    1 /* also a bit of MAP_SHARED_VALIDATE */
#define MAP_ANONYMOUS 0x20

#define PR_SET_DUMPABLE 4
#define PR_SET_PTRACER	0x59616d61

/* NEWTIME 0x80 is left out: for clone it is part of the signal number. */
#define CLONE_NEW_ANY 0x7e020000

#define PRIO_USER	2 /* of setpriority */
#define IOPRIO_WHO_USER 3
#define PIDS_OF_A_CALL	2 /* pids are the first or the second argument */

/* Whether a call of the kind ONTO may act on another process than its caller's. */
static __always_inline bool names_another(u32 call, const u64 *args, const struct task_state *state)
{
	const struct call_row *row;

	if (call >= QP_CALL_ID_CNT)
		return false;
	row = &call_rows[call];
	if ((call == QP_CALL_ID_setpriority && args[0] == PRIO_USER) ||
	    (call == QP_CALL_ID_ioprio_set && args[0] == IOPRIO_WHO_USER))
		return true;
	for (u32 i = 0; i < PIDS_OF_A_CALL; i++) {
		u32 pid = args[i];

		if (row->roles[i] == QP_ARG_PIDFD ||
		    (row->roles[i] == QP_ARG_PID && pid && pid != state->ns_tgid &&
		     pid != state->ns_tid))
			return true;
	}
	return false;
}

/* By the arguments alone. */
static __always_inline bool call_wanted(u32 call, u8 kind, const u64 *args,
					const struct task_state *state)
{
	switch (kind) {
	case QP_KIND_MMAP:
		if (call == QP_CALL_ID_mmap || call == QP_CALL_ID_mmap2) {
			if (args[3] & MAP_ANONYMOUS)
				return false;
			/* mprotect can make it writable later */
			if (args[3] & MAP_SHARED)
				return args[2] & PROT_WRITE || fd_is_writable(args[4]);
			return (args[2] & PROT_WRITE) && (args[2] & PROT_EXEC);
		}
		return (args[2] & (PROT_WRITE | PROT_EXEC)) == (PROT_WRITE | PROT_EXEC);
	case QP_KIND_KILL:
		if (call == QP_CALL_ID_tkill)
			return (u32)args[0] != state->ns_tid && (u32)args[0] != state->ns_tgid;
		if (call == QP_CALL_ID_pidfd_send_signal)
			return true;
		return (u32)args[0] != state->ns_tgid;
	case QP_KIND_ONTO:
		return names_another(call, args, state);
	case QP_KIND_PRCTL:
		return args[0] == QP_HEARTBEAT || args[0] == PR_SET_PTRACER ||
		       args[0] == PR_SET_DUMPABLE;
	case QP_KIND_COUNT_ENTRY:
		return false;
	default:
		return true;
	}
}

/* Which argument holds the descriptor that a call of kind WRITE writes to. */
static __always_inline u32 written_argument(u32 call)
{
	if (call == QP_CALL_ID_copy_file_range || call == QP_CALL_ID_splice)
		return 2;
	return call == QP_CALL_ID_tee ? 1 : 0;
}

#endif
