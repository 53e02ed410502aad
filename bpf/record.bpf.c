/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scratch spaces, the header of a record, the ring and its accounting. */
#include "bpf/record.bpf.h"
#include "bpf/filter.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline struct qp_cpu_counters *counters(u32 slot)
{
	return slot ? bpf_map_lookup_elem(&cpu_counters, &slot) : NULL;
}

/* A lost record takes a number too, so that its absence shows. */
int record_lost_in(u32 slot, u32 type)
{
	struct qp_cpu_counters *c = counters(slot);

	if (!c || stopped)
		return 0;
	type &= QP_TYPES_MAX - 1;
	__sync_fetch_and_add(&c->seq, 1);
	__sync_fetch_and_add(&c->produced[type], 1);
	__sync_fetch_and_add(&c->lost[type], 1);
	return 0;
}

int record_lost(u32 type)
{
	return record_lost_in(task_slot(current_task()), type);
}

int unsummed_count(void)
{
	struct qp_cpu_counters *c = counters(task_slot(bpf_get_current_task_btf()));

	if (c)
		__sync_fetch_and_add(&c->unsummed, 1);
	return 0;
}

/* Two CPUs that begin a second at once may let a few more pass; none is lost uncounted. */
static __always_inline bool over_rate(u32 slot, u64 now_ns)
{
	u64 second = now_ns / 1000000000;
	struct qp_rate *rate;

	if (!rate_max)
		return false;
	rate = bpf_map_lookup_elem(&rates, &slot);
	if (!rate)
		return false;
	if (rate->second != second) {
		rate->second = second;
		rate->events = 0;
	}
	return __sync_fetch_and_add(&rate->events, 1) >= rate_max;
}

/* How often a CPU looks how full the ring is: every so many records, a power of two. */
#define FILL_CHECK 64

static __always_inline u64 wake_flags(struct scratch *s, u64 seq)
{
	if (wake_pending || (!s->wake && seq & (FILL_CHECK - 1)))
		return BPF_RB_NO_WAKEUP;
	if (!s->wake && bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) < wake_bytes)
		return BPF_RB_NO_WAKEUP;
	wake_pending = 1;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline int emit(struct scratch *s, u32 type, const struct record_owner *owner)
{
	struct qp_cpu_counters *c;
	struct qp_event *event;
	u64 seq;
	u32 len;

	c = counters(s->slot);
	len = s->pos;
	if (!c || stopped || len < sizeof(*event) || len > QP_EVENT_BYTES_MAX)
		goto out;
	type &= QP_TYPES_MAX - 1;
	event = scratch_event(s);
	seq = __sync_fetch_and_add(&c->seq, 1) + 1;
	__sync_fetch_and_add(&c->produced[type], 1);
	event->len = len;
	event->type = type;
	event->version = QP_EVENT_VERSION;
	event->flags = s->flags;
	event->time_ns = bpf_ktime_get_boot_ns();
	event->seq = seq;
	event->cgroup_id = owner->cgroup_id;
	event->cpu = bpf_get_smp_processor_id();
	event->tgid = owner->tgid;
	event->tid = owner->tid;
	event->ns_tgid = s->ns_tgid;
	event->ns_tid = s->ns_tid;
	event->uid = owner->uid;
	if (over_rate(s->slot, event->time_ns)) {
		__sync_fetch_and_add(&c->limited, 1);
		__sync_fetch_and_add(&c->lost[type], 1);
	} else if (bpf_ringbuf_output(&events, &s->slot, sizeof(s->slot) + len,
				      wake_flags(s, seq))) {
		__sync_fetch_and_add(&c->lost[type], 1);
	}
out:
	/* An exchange, for it orders what was written before; plain stores do not. */
	__sync_lock_test_and_set(&s->taken, 0);
	return 0;
}

int record_emit(struct scratch *s, u32 type)
{
	struct task_struct *task = current_task();
	struct record_owner owner = {.cgroup_id = task_cgroup_id(task),
				     .tgid = task->tgid,
				     .tid = task->pid,
				     .uid = task->cred->uid.val};

	return s ? emit(s, type, &owner) : 0;
}

int record_emit_of(struct scratch *s, u32 type, struct record_owner *owner)
{
	return s && owner ? emit(s, type, owner) : 0;
}
