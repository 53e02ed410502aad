// SPDX-License-Identifier: Apache-2.0
/* The trailer's counters: the kernel's and the reader's, brought into balance. */
#include "collector/capture.h"

#include "base/json.h"
#include "bpf/syscalls.h"

#include "capture.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const type_names[QP_TYPES_MAX] = {
	[QP_EVENT_FORK] = "fork", [QP_EVENT_EXEC] = "exec",	[QP_EVENT_EXIT] = "exit",
	[QP_EVENT_CALL] = "call", [QP_EVENT_ENTER] = "enter",	[QP_EVENT_SOCKADDR] = "sockaddr",
	[QP_EVENT_ENV] = "env",	  [QP_EVENT_OBJECT] = "object", [QP_EVENT_MOVE] = "move",
};

struct call_number {
	const char *name;
	int numbers[3]; /* by ABI: native, i386, x32 */
};

#ifdef __x86_64__
#define NATIVE(x86_64, aarch64) (x86_64)
#else
#define NATIVE(x86_64, aarch64) (aarch64)
#endif

static const struct call_number call_numbers[] = {
#define QP_CALL(name, kind, x86_64, aarch64, i386, ...) \
	{#name, {NATIVE(x86_64, aarch64), i386, x86_64}},
#include "bpf/syscalls.def"
#undef QP_CALL
};

/* What a number is called; @buf for those without a row. */
static const char *call_name(unsigned int abi, unsigned int nr, char *buf, size_t size)
{
	static const char *const prefixes[QP_ABI_CNT] = {"", "i386_", "x32_", "arm_"};

	if (nr == QP_NR_CNT - 1)
		return "other";
	for (size_t i = 0; abi <= QP_ABI_X32 && i < sizeof(call_numbers) / sizeof(call_numbers[0]);
	     i++)
		if (call_numbers[i].numbers[abi] == (int)nr)
			return call_numbers[i].name;
	snprintf(buf, size, "%ssyscall_%u", prefixes[abi], nr);
	return buf;
}

static void add(json_t *object, const char *key, uint64_t n)
{
	json_int_t old = json_integer_value(json_object_get(object, key));

	json_object_set_new(object, key, json_integer(old + (json_int_t)n));
}

/* How often the call was made, of all CPUs. 0 or -errno. With many slots, the entry goes. */
static int count_of(struct collector *collector, uint32_t slot, uint32_t index, uint64_t *per_cpu,
		    uint64_t *ret_n)
{
	size_t size = collector->cpu_cnt * sizeof(uint64_t);
	uint32_t key = QP_CALL_KEY(slot, 0, index);
	uint64_t n = 0;
	int rc;

	if (collector->slots_cnt == 1)
		rc = bpf_map__lookup_elem(collector->skel->maps.call_counts, &index, sizeof(index),
					  per_cpu, size, 0);
	else
		rc = bpf_map__lookup_and_delete_elem(collector->skel->maps.slot_call_counts, &key,
						     sizeof(key), per_cpu, size, 0);
	for (uint32_t cpu = 0; !rc && cpu < collector->cpu_cnt; cpu++)
		n += per_cpu[cpu];
	*ret_n = n;
	return rc == -ENOENT ? 0 : rc;
}

/* @known: how many there are of the slot in all, where that is counted apart; the search
 * ends when they are found, and what has no place in the map is `other`. */
static int count_calls(struct collector *collector, uint32_t slot, uint64_t known, json_t *counters)
{
	_cleanup_free_ uint64_t *per_cpu = calloc(collector->cpu_cnt, sizeof(uint64_t));
	json_t *calls = json_object();
	uint64_t total = 0;

	if (json_object_set_new(counters, "calls", calls) < 0 || !per_cpu)
		return -ENOMEM;
	for (uint32_t i = 0; i < QP_ABI_CNT * QP_NR_CNT && total < known; i++) {
		uint64_t n;
		char buf[32];
		int rc = count_of(collector, slot, i, per_cpu, &n);

		if (rc)
			return rc;
		if (n)
			add(calls, call_name(i / QP_NR_CNT, i % QP_NR_CNT, buf, sizeof(buf)), n);
		total += n;
	}
	if (known != UINT64_MAX && known > total) {
		add(calls, "other", known - total);
		total = known;
	}
	return json_object_set_new(counters, "syscalls", json_integer((json_int_t)total));
}

int slot_count_calls(struct collector *collector, uint32_t slot, json_t *counters)
{
	_cleanup_free_ struct qp_cpu_counters *cpus = NULL;
	uint64_t known = 0;
	int rc;

	if (collector->slots_cnt == 1)
		return count_calls(collector, slot, UINT64_MAX, counters);
	cpus = calloc(collector->cpu_cnt, sizeof(struct qp_cpu_counters));
	if (!cpus)
		return -ENOMEM;
	rc = bpf_map__lookup_elem(collector->skel->maps.cpu_counters, &slot, sizeof(slot), cpus,
				  collector->cpu_cnt * sizeof(struct qp_cpu_counters), 0);
	for (uint32_t cpu = 0; !rc && cpu < collector->cpu_cnt; cpu++)
		known += cpus[cpu].syscalls;
	return rc ? rc : count_calls(collector, slot, known, counters);
}

static json_t *balance(uint64_t produced, uint64_t delivered)
{
	return json_pack("{s:I, s:I, s:I}", "produced", (json_int_t)produced, "delivered",
			 (json_int_t)delivered, "lost", (json_int_t)(produced - delivered));
}

/*
 * What the kernel produced and the reader did not get is lost, for whatever reason: the
 * ring was full, the log refused it, or it still lies in the ring. The kernel numbers
 * records and counts them apart; should the two differ, the larger one is believed.
 */
int slot_count_events(struct collector *collector, uint32_t slot, json_t *counters)
{
	_cleanup_free_ struct qp_cpu_counters *cpus =
		calloc(collector->cpu_cnt, sizeof(struct qp_cpu_counters));
	const struct delivery *delivery = &collector->slots[slot]->delivery;
	json_t *by_cpu = json_array(), *by_type = json_array();
	uint64_t produced = 0, delivered = 0, unsummed = 0, types[QP_TYPES_MAX] = {0};
	int rc;

	json_object_set_new(counters, "byCpu", by_cpu);
	json_object_set_new(counters, "byType", by_type);
	if (!cpus)
		return -ENOMEM;
	rc = bpf_map__lookup_elem(collector->skel->maps.cpu_counters, &slot, sizeof(slot), cpus,
				  collector->cpu_cnt * sizeof(struct qp_cpu_counters), 0);
	if (rc)
		return rc;
	for (uint32_t cpu = 0; cpu < collector->cpu_cnt; cpu++) {
		uint64_t n = cpus[cpu].seq;
		json_t *row;

		if (delivery->last_seq[cpu] > n)
			n = delivery->last_seq[cpu];
		for (int type = 0; type < QP_TYPES_MAX; type++)
			types[type] += cpus[cpu].produced[type];
		produced += n;
		unsummed += cpus[cpu].unsummed;
		delivered += delivery->by_cpu[cpu];
		row = balance(n, delivery->by_cpu[cpu]);
		json_object_set_new(row, "cpu", json_integer(cpu));
		json_array_append_new(by_cpu, row);
	}
	for (int type = 1; type < QP_TYPES_MAX; type++) {
		json_t *row;

		if (!type_names[type])
			continue;
		row = balance(types[type], delivery->by_type[type]);
		json_object_set_new(row, "type", json_string(type_names[type]));
		json_array_append_new(by_type, row);
	}
	json_object_set_new(counters, "unsummedWrites", json_integer((json_int_t)unsummed));
	return json_object_set_new(counters, "events", balance(produced, delivered));
}

int collector_counters(struct collector *collector, json_t **ret_counters)
{
	_cleanup_(json) json_t *counters = json_object();
	int rc;

	if (!counters)
		return -ENOMEM;
	rc = slot_count_calls(collector, SLOT_ONLY, counters);
	if (!rc)
		rc = slot_count_uring(collector, SLOT_ONLY, counters);
	if (!rc)
		rc = slot_count_events(collector, SLOT_ONLY, counters);
	if (rc)
		return rc;
	*ret_counters = json_pack("{s:O}", "counters", counters);
	return *ret_counters ? 0 : -ENOMEM;
}
