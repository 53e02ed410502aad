// SPDX-License-Identifier: Apache-2.0
/* The slots of groups: taken, given to logs, counted, given back. */
#include "collector/groups.h"

#include "base/json.h"
#include "collector/capture.h"
#include "collector/written.h"

#include "capture.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

/* A drain takes 20 MiB of the smallest records at least. */
#define SETTLE_DRAINS_MAX 64

struct slot *slot_new(uint32_t cpu_cnt)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return NULL;
	slot->roots = ROOTS_NONE;
	slot->delivery.by_cpu = calloc(cpu_cnt, sizeof(uint64_t));
	slot->delivery.last_seq = calloc(cpu_cnt, sizeof(uint64_t));
	if (slot->delivery.by_cpu && slot->delivery.last_seq)
		return slot;
	slot_free(slot);
	return NULL;
}

void slot_free(struct slot *slot)
{
	if (!slot)
		return;
	roots_close(&slot->roots);
	free(slot->delivery.by_cpu);
	free(slot->delivery.last_seq);
	free(slot);
}

static void answers_forget(struct collector *collector)
{
	__atomic_add_fetch(&collector->skel->bss->groups_generation, 1, __ATOMIC_SEQ_CST);
}

static int slot_push(struct collector *collector, uint32_t slot)
{
	return bpf_map__update_elem(collector->skel->maps.free_slots, NULL, 0, &slot, sizeof(slot),
				    BPF_ANY);
}

static int slot_pop(struct collector *collector, uint32_t *ret_slot)
{
	int rc = bpf_map__lookup_and_delete_elem(collector->skel->maps.free_slots, NULL, 0,
						 ret_slot, sizeof(*ret_slot), 0);

	return rc == -ENOENT ? -ENOSPC : rc;
}

int groups_watch(struct collector *collector, int root_fd, const struct groups_watcher *watcher,
		 struct qp_error *err)
{
	int rc = 0;

	collector->watcher = *watcher;
	for (uint32_t slot = 1; !rc && slot <= collector->slots_cnt; slot++)
		rc = slot_push(collector, slot);
	if (rc)
		return qp_error_set(err, rc, "cannot prepare the places of groups: %s",
				    strerror(-rc));
	rc = capture_attach_groups(collector, err);
	return rc ? rc : capture_attach_group(collector, root_fd, err);
}

int groups_id(int fd, uint64_t *ret_id)
{
	return cgroup_id(fd, ret_id);
}

int groups_watch_parent(struct collector *collector, int fd, uint32_t levels)
{
	uint64_t id;
	int rc = cgroup_id(fd, &id);

	return rc ? rc
		  : bpf_map__update_elem(collector->skel->maps.parents, &id, sizeof(id), &levels,
					 sizeof(levels), BPF_ANY);
}

int groups_track(struct collector *collector, uint64_t cgroup_id, uint32_t *ret_slot)
{
	uint32_t slot;
	int rc = slot_pop(collector, &slot);

	if (rc)
		return rc;
	rc = bpf_map__update_elem(collector->skel->maps.groups, &cgroup_id, sizeof(cgroup_id),
				  &slot, sizeof(slot), BPF_NOEXIST);
	if (rc) {
		slot_push(collector, slot);
		return rc;
	}
	answers_forget(collector);
	*ret_slot = slot;
	return 0;
}

int groups_log(struct collector *collector, uint32_t slot, struct log_writer *log)
{
	if (!collector->slots[slot])
		collector->slots[slot] = slot_new(collector->cpu_cnt);
	if (!collector->slots[slot])
		return -ENOMEM;
	collector->slots[slot]->log = log;
	return 0;
}

int groups_log_error(const struct collector *collector, uint32_t slot)
{
	return collector->slots[slot] ? collector->slots[slot]->log_error : 0;
}

uint64_t groups_logged(const struct collector *collector, uint32_t slot)
{
	const struct slot *s = collector->slots[slot];
	uint64_t sum = 0;

	for (int type = 0; s && type < QP_TYPES_MAX; type++)
		sum += s->delivery.by_type[type];
	return sum;
}

int groups_renew(struct collector *collector, uint64_t cgroup_id, uint32_t *ret_slot)
{
	uint32_t slot;
	int rc = slot_pop(collector, &slot);

	if (rc)
		return rc;
	rc = bpf_map__update_elem(collector->skel->maps.groups, &cgroup_id, sizeof(cgroup_id),
				  &slot, sizeof(slot), BPF_EXIST);
	if (rc) {
		slot_push(collector, slot);
		return rc;
	}
	answers_forget(collector);
	*ret_slot = slot;
	return 0;
}

void groups_untrack(struct collector *collector, uint64_t cgroup_id)
{
	bpf_map__delete_elem(collector->skel->maps.groups, &cgroup_id, sizeof(cgroup_id), 0);
	answers_forget(collector);
}

int groups_sum_up(struct collector *collector, const uint32_t *slots, size_t cnt)
{
	return written_take(collector, slots, cnt);
}

/* The ring's content of that moment fits into so many drains. */
int groups_settle(struct collector *collector)
{
	int rc = programs_wait();

	for (int i = 0; i < SETTLE_DRAINS_MAX; i++) {
		int drained = collector_drain(collector, NULL);

		if (drained)
			return drained;
		if (!collector->drained_enough)
			break;
	}
	return rc;
}

int groups_totals(struct collector *collector, uint32_t slot, struct groups_totals *ret_totals)
{
	_cleanup_free_ struct qp_cpu_counters *cpus =
		calloc(collector->cpu_cnt, sizeof(struct qp_cpu_counters));
	struct groups_totals totals = {0};
	int rc;

	if (!cpus)
		return -ENOMEM;
	rc = bpf_map__lookup_elem(collector->skel->maps.cpu_counters, &slot, sizeof(slot), cpus,
				  collector->cpu_cnt * sizeof(struct qp_cpu_counters), 0);
	if (rc)
		return rc;
	for (uint32_t cpu = 0; cpu < collector->cpu_cnt; cpu++) {
		totals.syscalls += cpus[cpu].syscalls;
		totals.produced += cpus[cpu].seq;
		totals.limited += cpus[cpu].limited;
		for (int type = 0; type < QP_TYPES_MAX; type++)
			totals.lost += cpus[cpu].lost[type];
	}
	*ret_totals = totals;
	return 0;
}

int groups_counters(struct collector *collector, uint32_t slot, json_t **ret_counters)
{
	_cleanup_(json) json_t *counters = json_object();
	int rc;

	if (!counters || !collector->slots[slot])
		return -ENOMEM;
	rc = slot_count_calls(collector, slot, counters);
	if (!rc)
		rc = slot_count_uring(collector, slot, counters);
	if (!rc)
		rc = slot_count_events(collector, slot, counters);
	if (rc)
		return rc;
	*ret_counters = json_pack("{s:O}", "counters", counters);
	return *ret_counters ? 0 : -ENOMEM;
}

int groups_release(struct collector *collector, uint32_t slot)
{
	_cleanup_free_ struct qp_cpu_counters *zeros =
		calloc(collector->cpu_cnt, sizeof(struct qp_cpu_counters));
	_cleanup_(json) json_t *calls = json_object();
	int rc;

	if (!zeros || !calls)
		return -ENOMEM;
	/* Takes the counted calls and requests of a slot that was dropped out of the maps. */
	rc = slot_count_calls(collector, slot, calls);
	if (!rc)
		rc = slot_count_uring(collector, slot, calls);
	if (!rc)
		rc = bpf_map__update_elem(
			collector->skel->maps.cpu_counters, &slot, sizeof(slot), zeros,
			collector->cpu_cnt * sizeof(struct qp_cpu_counters), BPF_ANY);
	slot_free(collector->slots[slot]);
	collector->slots[slot] = NULL;
	return rc ? rc : slot_push(collector, slot);
}

uint32_t groups_notices_lost(const struct collector *collector)
{
	return __atomic_load_n(&collector->skel->bss->notices_lost, __ATOMIC_SEQ_CST);
}
