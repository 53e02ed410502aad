// SPDX-License-Identifier: Apache-2.0
/* The trailer's count of io_uring's requests. */
#include "collector/capture.h"

#include "base/json.h"
#include "bpf/uring.h"
#include "collector/uring.h"

#include "capture.skel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The sum over all CPUs; zero for an opcode that no one used. With many slots the entry goes. */
static int count_of(struct collector *collector, uint32_t slot, unsigned int opcode,
		    struct qp_uring_count *per_cpu, struct qp_uring_count *ret_sum)
{
	const struct bpf_map *map = collector->skel->maps.uring_counts;
	size_t size = collector->cpu_cnt * sizeof(*per_cpu);
	uint32_t key = QP_URING_KEY(slot, opcode);
	int rc;

	*ret_sum = (struct qp_uring_count){0};
	if (collector->slots_cnt == 1)
		rc = bpf_map__lookup_elem(map, &key, sizeof(key), per_cpu, size, 0);
	else
		rc = bpf_map__lookup_and_delete_elem(map, &key, sizeof(key), per_cpu, size, 0);
	for (uint32_t cpu = 0; !rc && cpu < collector->cpu_cnt; cpu++) {
		ret_sum->submitted += per_cpu[cpu].submitted;
		ret_sum->finished += per_cpu[cpu].finished;
		ret_sum->silent += per_cpu[cpu].silent;
	}
	return rc == -ENOENT ? 0 : rc;
}

static int count_uring(struct collector *collector, uint32_t slot, json_t *counters)
{
	_cleanup_free_ struct qp_uring_count *per_cpu =
		calloc(collector->cpu_cnt, sizeof(struct qp_uring_count));
	_cleanup_json_ json_t *by_opcode = json_object();
	uint64_t requests = 0, unfinished = 0, finished;

	if (!per_cpu || !by_opcode)
		return -ENOMEM;
	for (unsigned int opcode = 0; opcode < QP_URING_NUMBERS; opcode++) {
		struct qp_uring_count sum;
		char number[32];
		const char *name = uring_op_name(opcode);
		int rc = count_of(collector, slot, opcode, per_cpu, &sum);

		if (rc)
			return rc;
		if (!sum.submitted)
			continue;
		snprintf(number, sizeof(number), "opcode_%u", opcode);
		json_object_set_new(by_opcode, name ? name : number,
				    json_integer((json_int_t)sum.submitted));
		requests += sum.submitted;
		/* One that began in a slot's former log may have ended in this one. */
		finished = sum.silent + sum.finished;
		if (uring_op_call(opcode) != QP_CALL_NONE && finished < sum.submitted)
			unfinished += sum.submitted - finished;
	}
	return json_object_set_new(counters, "uring",
				   json_pack("{s:I, s:I, s:O}", "requests", (json_int_t)requests,
					     "unfinished", (json_int_t)unfinished, "byOpcode",
					     by_opcode));
}

int slot_count_uring(struct collector *collector, uint32_t slot, json_t *counters)
{
	return collector->sees_uring ? count_uring(collector, slot, counters) : 0;
}
