// SPDX-License-Identifier: Apache-2.0
/* A balanced tree by addresses, and a queue by age through the same nodes. */
#include "sinkhole/flows.h"

#include <search.h>
#include <sys/queue.h>

struct node {
	struct flow flow; /* first: the tree's keys are flows */
	TAILQ_ENTRY(node) entry;
};

TAILQ_HEAD(node_queue, node);

struct flows {
	void *tree;
	struct node_queue queue; /* oldest first */
	size_t cnt;
};

static int flow_compare(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;
	int order = endpoint_compare(&x->src, &y->src);

	return order ? order : endpoint_compare(&x->dst, &y->dst);
}

struct flows *flows_new(void)
{
	struct flows *flows = calloc(1, sizeof(*flows));

	if (flows)
		TAILQ_INIT(&flows->queue);
	return flows;
}

static void node_remove(struct flows *flows, struct node *node)
{
	tdelete(node, &flows->tree, flow_compare);
	TAILQ_REMOVE(&flows->queue, node, entry);
	flows->cnt--;
	free(node);
}

void flows_free(struct flows *flows)
{
	if (!flows)
		return;
	while (!TAILQ_EMPTY(&flows->queue))
		node_remove(flows, TAILQ_FIRST(&flows->queue));
	free(flows);
}

int flows_add(struct flows *flows, const struct flow *flow)
{
	struct node *node;

	if (tfind(flow, &flows->tree, flow_compare))
		return 0;
	if (flows->cnt == FLOWS_MAX)
		return -ENOSPC;
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->flow = *flow;
	if (!tsearch(node, &flows->tree, flow_compare)) {
		free(node);
		return -ENOMEM;
	}
	TAILQ_INSERT_TAIL(&flows->queue, node, entry);
	flows->cnt++;
	return 0;
}

void flows_remove(struct flows *flows, const struct endpoint *src, const struct endpoint *dst)
{
	struct flow wanted = {.src = *src, .dst = *dst};
	struct node **found = tfind(&wanted, &flows->tree, flow_compare);

	if (found)
		node_remove(flows, *found);
}

bool flows_oldest(const struct flows *flows, uint64_t *ret_started_ms)
{
	if (TAILQ_EMPTY(&flows->queue))
		return false;
	*ret_started_ms = TAILQ_FIRST(&flows->queue)->flow.started_ms;
	return true;
}

bool flows_take_older(struct flows *flows, uint64_t before_ms, struct flow *ret_flow)
{
	struct node *oldest = TAILQ_FIRST(&flows->queue);

	if (!oldest || oldest->flow.started_ms >= before_ms)
		return false;
	*ret_flow = oldest->flow;
	node_remove(flows, oldest);
	return true;
}
