/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's inside: what its files share, and no one else sees. */
#ifndef QP_COLLECTOR_CAPTURE_H
#define QP_COLLECTOR_CAPTURE_H

#include "bpf/counters.h"
#include "collector/collector.h"
#include "collector/enters.h"
#include "collector/resolve.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

#define COLLECTOR_HOOKS 6 /* cgroup programs that each group gets */

struct capture_bpf;

/* What the reader took out of the ring, for the balance with the kernel's counters. */
struct delivery {
	uint64_t *by_cpu;   /* of cpu_cnt */
	uint64_t *last_seq; /* highest of each CPU */
	uint64_t by_type[QP_TYPES_MAX];
	uint64_t malformed; /* records that contradict their own header */
	uint64_t unlogged;  /* read, but the log refused them */
};

struct collector {
	struct capture_bpf *skel;
	struct ring_buffer *ring;
	int epoll_fd;
	int timer_fd;
	struct roots roots;
	uint32_t cpu_cnt;
	struct bpf_link **links; /* of the cgroup hooks, for all groups */
	size_t link_cnt;
	struct delivery delivery;
	struct enters *enters;
	struct log_writer *log; /* during a drain */
	uint64_t drained;	/* records of this drain */
	int log_error;		/* the first of this drain */
};

/* The samples' callback of the ring; @context is the collector. */
int drain_sample(void *context, void *data, size_t len);

/* -errno with the reason: CAP_BPF, BTF and the like. */
int capture_load(struct collector *collector, const struct collector_options *options,
		 struct qp_error *err);

/* Attaches the tracepoint programs, unless they are already. */
int capture_attach(struct collector *collector, struct qp_error *err);

/* Adds the hooks of @skel to the group; they go with the collector. */
int capture_attach_group(struct collector *collector, int cgroup_fd, struct qp_error *err);

#endif
