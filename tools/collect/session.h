/* SPDX-License-Identifier: Apache-2.0 */
/* The groups that qp-collect records: found, kept or dropped, finished, begun anew. */
#ifndef QP_TOOLS_COLLECT_SESSION_H
#define QP_TOOLS_COLLECT_SESSION_H

#include "base/options.h"
#include "collector/groups.h"
#include "tools/collect/group.h"
#include "tools/collect/name.h"
#include "tools/collect/receipts.h"

#define SESSION_GROUPS_MAX 1000 /* recorded at a time; slots are left for logs being finished */

/* What is over; what goes on is asked of the kernel. */
struct session_counts {
	uint64_t groups;      /* begun, those that go on too */
	uint64_t refused;     /* matched, and were not recorded for want of room */
	uint64_t logs;	      /* finished whole */
	uint64_t logs_failed; /* cut */
	uint64_t syscalls, produced, delivered, limited;
};

struct session {
	/* Asked for. */
	struct option_list globs;
	const char *out;
	bool exit_when_empty;
	bool json;
	uint64_t ring_bytes;
	uint64_t rate_max;
	const char *tier; /* one of COLLECTOR_TIERS, or NULL */
	const char *metrics;
	/* How it stands. */
	struct pattern patterns[OPTION_LIST_MAX];
	size_t patterns_cnt;
	char *mount_point;
	int mount_fd;
	struct collector *collector;
	struct receipts receipts;
	struct group *groups[QP_SLOTS_MAX + 1]; /* by slot */
	size_t groups_cnt;
	uint32_t dropped[QP_SLOTS_MAX]; /* slots to be given back after the next settling */
	size_t dropped_cnt;
	uint32_t notices_lost; /* when it was last scanned */
	struct session_counts counts;
	bool failed;
};

/* Loads, attaches, tracks what is there already. -EINVAL for a bad glob. */
int session_open(struct session *session, struct qp_error *err);

/* Drains; begins and finishes what the notices tell of. 0 or a failure that ends it all. */
int session_step(struct session *session, struct qp_error *err);

/* Once a second: what was logged reaches the files. */
void session_flush(struct session *session);

/* Finishes every log; groups that are still there get new ones, joined late. With @stop
 * none is recorded any more. */
int session_rotate(struct session *session, bool stop, struct qp_error *err);

void session_close(struct session *session);

/* How long a group must have been empty before its log is finished. */
#define SESSION_LINGER_NS 1000000000ULL

#endif
