/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups that come and go while the collector runs. A new group whose folder can hold a
 * wanted one is recorded from before anyone can see it; the collector, told by a notice,
 * keeps it or drops it by its name.
 */
#include "bpf/filter.bpf.h"
#include "bpf/scratch.bpf.h"

static __always_inline u64 parent_id(struct cgroup *cgroup)
{
	u64 css = (u64)PLAIN(cgroup)->self.parent;

	if (!css)
		return 0;
	return KREAD(struct kernfs_node,
		     KPTR(struct cgroup, css - bpf_core_field_offset(struct cgroup, self), kn), id);
}

static __always_inline int notice_send(u32 kind, u32 slot, u64 id, const char *path)
{
	struct task_state none = {};
	struct scratch *s = scratch_take_in(0, 0, 0, &none);
	struct qp_notice *notice;
	u32 len = __builtin_offsetof(struct qp_notice, path);

	if (!s) {
		__sync_fetch_and_add(&notices_lost, 1);
		return 0;
	}
	s->slot = QP_SAMPLE_NOTICE;
	notice = (struct qp_notice *)s->data;
	notice->kind = kind;
	notice->slot = slot;
	notice->cgroup_id = id;
	if (path) {
		len = sizeof(*notice);
		if (bpf_probe_read_kernel_str(notice->path, sizeof(notice->path), path) < 0)
			notice->path[0] = '\0';
	}
	if (bpf_ringbuf_output(&events, &s->slot, sizeof(s->slot) + len, BPF_RB_FORCE_WAKEUP))
		__sync_fetch_and_add(&notices_lost, 1);
	__sync_lock_test_and_set(&s->taken, 0);
	return 0;
}

/* Gives a new group a slot; 0 when none is left. */
static __always_inline u32 group_add(u64 id)
{
	u32 slot = 0;

	if (bpf_map_pop_elem(&free_slots, &slot))
		return 0;
	if (!bpf_map_update_elem(&groups, &id, &slot, BPF_NOEXIST))
		return slot;
	bpf_map_push_elem(&free_slots, &slot, 0);
	return 0;
}

/* The tracepoint comes before the folder is made visible (kernfs_activate). No cache of an
 * answer has to be dropped: no one has asked for this group yet. */
SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(on_cgroup_mkdir, struct cgroup *cgroup, const char *path)
{
	u64 id = PLAIN(cgroup)->kn->id;
	u64 parent = parent_id(cgroup);
	u32 *levels, below;

	if (stopped || !cgroup_is_v2(cgroup))
		return 0;
	levels = bpf_map_lookup_elem(&parents, &parent);
	if (!levels)
		return 0;
	below = *levels >> 1;
	if (below && bpf_map_update_elem(&parents, &id, &below, BPF_ANY))
		__sync_fetch_and_add(&notices_lost, 1);
	return *levels & 1 ? notice_send(QP_NOTICE_MADE, group_add(id), id, path) : 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup *cgroup)
{
	u64 id = PLAIN(cgroup)->kn->id;
	u32 *slot;

	if (stopped || !cgroup_is_v2(cgroup))
		return 0;
	bpf_map_delete_elem(&parents, &id);
	slot = bpf_map_lookup_elem(&groups, &id);
	return slot ? notice_send(QP_NOTICE_GONE, *slot, id, NULL) : 0;
}

SEC("tp_btf/cgroup_notify_populated")
int BPF_PROG(on_cgroup_populated, struct cgroup *cgroup, const char *path, int populated)
{
	u64 id = PLAIN(cgroup)->kn->id;
	u32 *slot;

	if (stopped || !cgroup_is_v2(cgroup))
		return 0;
	slot = bpf_map_lookup_elem(&groups, &id);
	if (!slot)
		return 0;
	return notice_send(populated ? QP_NOTICE_FILLED : QP_NOTICE_EMPTY, *slot, id, NULL);
}
