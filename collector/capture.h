/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's inside: what its files share, and no one else sees. */
#ifndef QP_COLLECTOR_CAPTURE_H
#define QP_COLLECTOR_CAPTURE_H

#include "bpf/counters.h"
#include "collector/collector.h"
#include "collector/enters.h"
#include "collector/groups.h"
#include "collector/resolve.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

#define COLLECTOR_HOOKS 6  /* cgroup programs that each group gets */
#define TIER_LINKS_MAX	32 /* functions that the kernel-object tier watches */

struct capture_bpf;

/* What the reader took out of the ring, for the balance with the kernel's counters. */
struct delivery {
	uint64_t *by_cpu;   /* of cpu_cnt */
	uint64_t *last_seq; /* highest of each CPU */
	uint64_t by_type[QP_TYPES_MAX];
	uint64_t unlogged; /* read, but the log refused them */
};

/* One slot's share: what is counted and logged by itself. */
struct slot {
	struct delivery delivery;
	struct roots roots;
	struct log_writer *log; /* borrowed; NULL: its events are dropped */
	int log_error;		/* the first */
};

struct collector {
	struct capture_bpf *skel;
	struct ring_buffer *ring;
	int epoll_fd;
	int timer_fd;
	uint32_t cpu_cnt;
	uint32_t slots_cnt;
	struct slot **slots;	 /* by number, of slots_cnt + 1; those that no one keeps are NULL */
	struct bpf_link **links; /* of the cgroup hooks, for all groups */
	size_t link_cnt;
	bool kernel_object; /* the tier */
	char tier_why[256]; /* why it is not, "" when it is */
	struct bpf_link *tier_links[TIER_LINKS_MAX];
	size_t tier_link_cnt;
	struct enters *enters;
	uint64_t malformed;  /* samples that contradict their own header */
	uint64_t drained;    /* records of this drain */
	bool drained_enough; /* and there may be more */
	bool sees_uring;     /* the kernel has what io_uring's requests are seen by */
	struct groups_watcher watcher;
	collector_watch_fn watch; /* or NULL */
	void *watch_context;
};

/* The one slot of a collector that is not asked for more. */
#define SLOT_ONLY 1

struct slot *slot_new(uint32_t cpu_cnt);
void slot_free(struct slot *slot);

/* The samples' callback of the ring; @context is the collector. */
int drain_sample(void *context, void *data, size_t len);

/* -errno with the reason: CAP_BPF, BTF and the like. */
int capture_load(struct collector *collector, const struct collector_options *options,
		 struct qp_error *err);

/* Attaches the programs of tracepoints, and those of the @tier (asked for, or NULL). */
int capture_attach(struct collector *collector, const char *tier, struct qp_error *err);

/* Attaches the programs that see groups come and go. */
int capture_attach_groups(struct collector *collector, struct qp_error *err);

/* Waits until no program runs that began before. 0 or -errno. */
int programs_wait(void);

/* Counters of one slot: those of its calls, of io_uring's requests, and of its events. */
int slot_count_calls(struct collector *collector, uint32_t slot, json_t *counters);
int slot_count_uring(struct collector *collector, uint32_t slot, json_t *counters);
int slot_count_events(struct collector *collector, uint32_t slot, json_t *counters);

/* The kernel id of the cgroup folder @fd. 0 or -errno. */
int cgroup_id(int fd, uint64_t *ret_id);

/* Adds the hooks of @skel to the group; they go with the collector. */
int capture_attach_group(struct collector *collector, int cgroup_fd, struct qp_error *err);

#endif
