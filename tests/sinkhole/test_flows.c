// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/flows.h"

#include <criterion/criterion.h>

static struct flow flow_of(uint32_t number, uint64_t started_ms)
{
	const uint8_t src[4] = {10, 0, 0, 1};
	uint32_t dst = htonl(0xc0000200 + number / 60000);
	struct flow flow = {.started_ms = started_ms};

	flow.src = endpoint_make(AF_INET, src, (uint16_t)(number % 60000 + 1));
	flow.dst = endpoint_make(AF_INET, &dst, 443);
	return flow;
}

Test(flows, gives_back_in_order_of_age_what_was_not_removed)
{
	_cleanup_flows_ struct flows *flows = flows_new();
	uint64_t oldest;
	struct flow flow;

	for (uint32_t i = 0; i < 5; i++) {
		flow = flow_of(i, 100 + i);
		cr_assert_eq(flows_add(flows, &flow), 0);
	}
	flow = flow_of(0, 0);
	flows_remove(flows, &flow.src, &flow.dst);
	flow = flow_of(2, 0);
	flows_remove(flows, &flow.src, &flow.dst);
	flows_remove(flows, &flow.src, &flow.dst);
	cr_assert(flows_oldest(flows, &oldest));
	cr_expect_eq(oldest, 101);
	cr_expect_not(flows_take_older(flows, 101, &flow));
	cr_assert(flows_take_older(flows, 104, &flow));
	cr_expect_eq(flow.src.port, 2);
	cr_assert(flows_take_older(flows, 104, &flow));
	cr_expect_eq(flow.src.port, 4);
	cr_expect_not(flows_take_older(flows, 104, &flow));
}

Test(flows, counts_a_repeated_start_once)
{
	_cleanup_flows_ struct flows *flows = flows_new();
	struct flow flow = flow_of(7, 1);

	cr_assert_eq(flows_add(flows, &flow), 0);
	flow.started_ms = 2;
	cr_assert_eq(flows_add(flows, &flow), 0);
	cr_assert(flows_take_older(flows, UINT64_MAX, &flow));
	cr_expect_eq(flow.started_ms, 1);
	cr_expect_not(flows_take_older(flows, UINT64_MAX, &flow));
}

Test(flows, is_bounded)
{
	_cleanup_flows_ struct flows *flows = flows_new();
	struct flow flow;

	for (uint32_t i = 0; i < FLOWS_MAX; i++) {
		flow = flow_of(i, i);
		cr_assert_eq(flows_add(flows, &flow), 0);
	}
	flow = flow_of(FLOWS_MAX, 0);
	cr_expect_eq(flows_add(flows, &flow), -ENOSPC);
}
