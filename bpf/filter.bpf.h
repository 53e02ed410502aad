/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which tasks are recorded: those in a tracked group or in a group below one. */
#ifndef QP_BPF_FILTER_BPF_H
#define QP_BPF_FILTER_BPF_H

#include "bpf/maps.bpf.h"

#define CGROUP_DEPTH_MAX 64

/*
 * The last answer on each CPU, so that a task outside pays for one comparison. One word
 * holds group, generation and answer: a preempting task can overwrite it, never tear it. CPUs
 * beyond QP_CACHE_CPUS look the group up each time.
 */
#define CACHE_ID_BITS	      47
#define CACHE_GENERATION_MASK 0xffff

struct group_cache group_caches[QP_CACHE_CPUS] __weak = {};

static __always_inline u64 task_cgroup_id(struct task_struct *task)
{
	return task->cgroups->dfl_cgrp->kn->id;
}

struct group_walk {
	u64 css;
	bool found;
};

static long group_step(u32 index, struct group_walk *w)
{
	/* cgroup.self comes first: a css of no controller is at its cgroup's address. */
	u64 cgroup = w->css - bpf_core_field_offset(struct cgroup, self);
	u64 id = KREAD(struct kernfs_node, KPTR(struct cgroup, cgroup, kn), id);

	if (bpf_map_lookup_elem(&groups, &id)) {
		w->found = true;
		return 1;
	}
	w->css = KPTR(struct cgroup_subsys_state, w->css, parent);
	return !w->css;
}

/* Whether the group of that css, or one above it, is tracked. */
static __noinline bool group_lookup(u64 css)
{
	struct group_walk w = {.css = css};

	bpf_loop(CGROUP_DEPTH_MAX, group_step, &w, 0);
	return w.found;
}

static __always_inline bool task_is_tracked(struct task_struct *task)
{
	struct cgroup *cgroup = task->cgroups->dfl_cgrp;
	u64 id = cgroup->kn->id;
	u32 cpu = bpf_get_smp_processor_id();
	u64 key = id << 17 | (u64)(groups_generation & CACHE_GENERATION_MASK) << 1;
	bool cacheable = cpu < QP_CACHE_CPUS && id >> CACHE_ID_BITS == 0;
	bool tracked;

	if (cacheable) {
		u64 word = group_caches[cpu & (QP_CACHE_CPUS - 1)].word;

		if ((word & ~1ULL) == key)
			return word & 1;
	}
	tracked = group_lookup((u64)cgroup + bpf_core_field_offset(struct cgroup, self));
	if (cacheable)
		group_caches[cpu & (QP_CACHE_CPUS - 1)].word = key | tracked;
	return tracked;
}

#endif
