/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which tasks are recorded: those in a tracked group or in a group below one. */
#ifndef QP_BPF_FILTER_BPF_H
#define QP_BPF_FILTER_BPF_H

#include "bpf/maps.bpf.h"

#define CGROUP_DEPTH_MAX 64

/*
 * The last answer on each CPU, so that a task outside pays for one comparison. One word
 * holds group, generation and slot: a preempting task can overwrite it, never tear it. CPUs
 * beyond QP_CACHE_CPUS look the group up each time.
 */
#define CACHE_ID_BITS	      40
#define CACHE_SLOT_BITS	      11
#define CACHE_GENERATION_MASK 0x1fff

_Static_assert(QP_SLOTS_MAX < 1 << CACHE_SLOT_BITS, "a slot fits into the cache's word");

struct group_cache group_caches[QP_CACHE_CPUS] = {};

static __always_inline u64 task_cgroup_id(struct task_struct *task)
{
	return PLAIN(task)->cgroups->dfl_cgrp->kn->id;
}

struct group_walk {
	u64 css;
	u64 id;
	u32 slot;
};

static long group_step(u32 index, struct group_walk *w)
{
	/* cgroup.self comes first: a css of no controller is at its cgroup's address. */
	u64 cgroup = w->css - bpf_core_field_offset(struct cgroup, self);
	u64 id = KREAD(struct kernfs_node, KPTR(struct cgroup, cgroup, kn), id);

	u32 *slot = bpf_map_lookup_elem(&groups, &id);

	if (slot) {
		w->slot = *slot;
		w->id = id;
		return 1;
	}
	w->css = KPTR(struct cgroup_subsys_state, w->css, parent);
	return !w->css;
}

/* The slot of that css's group, or of the nearest one above it that is tracked. */
static __noinline u32 group_lookup(u64 css)
{
	struct group_walk w = {.css = css};

	bpf_loop(CGROUP_DEPTH_MAX, group_step, &w, 0);
	return w.slot;
}

/* The id of that group, 0 when there is none. */
static __noinline u64 home_lookup(u64 css)
{
	struct group_walk w = {.css = css};

	bpf_loop(CGROUP_DEPTH_MAX, group_step, &w, 0);
	return w.id;
}

static __always_inline u64 task_home(struct task_struct *task)
{
	return home_lookup((u64)PLAIN(task)->cgroups->dfl_cgrp +
			   bpf_core_field_offset(struct cgroup, self));
}

/* The hierarchy of cgroup v2 is always number 0 (cgroup_init in kernel/cgroup/cgroup.c);
 * ids are unique within one hierarchy only. */
static __always_inline bool cgroup_is_v2(struct cgroup *cgroup)
{
	return PLAIN(cgroup)->root->hierarchy_id == 0;
}

/* 0 when the task is not recorded. */
static __always_inline u32 task_slot(struct task_struct *task)
{
	struct cgroup *cgroup = PLAIN(task)->cgroups->dfl_cgrp;
	u64 id = cgroup->kn->id;
	u32 cpu = bpf_get_smp_processor_id();
	u64 key = id << (64 - CACHE_ID_BITS) | (u64)(groups_generation & CACHE_GENERATION_MASK)
						       << CACHE_SLOT_BITS;
	bool cacheable = cpu < QP_CACHE_CPUS && id >> CACHE_ID_BITS == 0;
	u32 slot;

	if (cacheable) {
		u64 word = group_caches[cpu & (QP_CACHE_CPUS - 1)].word;

		if ((word & ~(u64)((1 << CACHE_SLOT_BITS) - 1)) == key)
			return word & ((1 << CACHE_SLOT_BITS) - 1);
	}
	slot = group_lookup((u64)cgroup + bpf_core_field_offset(struct cgroup, self));
	slot &= (1 << CACHE_SLOT_BITS) - 1;
	if (cacheable)
		group_caches[cpu & (QP_CACHE_CPUS - 1)].word = key | slot;
	return slot;
}

static __always_inline bool task_is_tracked(struct task_struct *task)
{
	return task_slot(task) != 0;
}

#endif
