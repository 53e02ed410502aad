// SPDX-License-Identifier: Apache-2.0
/* Which of the sinkhole's records are of which flow: by protocol, source port and original
 * destination. */
#include "collector/decode_net.h"

#include <string.h>

struct join_key {
	struct in6_addr addr; /* zero, and port 0: any destination */
	uint16_t port, sport;
	uint8_t protocol;
	uint8_t pad[3];
};

static uint8_t record_protocol(const json_t *record)
{
	const char *type = json_member_text(record, "type");
	const char *proto = json_member_text(record, "proto");

	if (!type)
		return 0;
	if (!strcmp(type, "tcp"))
		return IPPROTO_TCP;
	if (!strcmp(type, "udp"))
		return IPPROTO_UDP;
	if (strcmp(type, "dns") != 0 && strcmp(type, "malformed") != 0)
		return 0;
	return proto && !strcmp(proto, "tcp") ? IPPROTO_TCP : IPPROTO_UDP;
}

static struct join_key flow_key(const struct flow *flow, bool any)
{
	struct join_key key = {.sport = flow->sport, .protocol = flow->protocol};

	if (!any) {
		key.addr = flow->to.addr;
		key.port = flow->to.port;
	}
	return key;
}

/* Chains flows of one key in their order. */
static int index_flow(struct decoder *d, struct map *index, size_t i)
{
	struct join_key key = flow_key(&d->flows[i], false), any = flow_key(&d->flows[i], true);
	uint64_t *first = map_get(index, &key, sizeof(key));

	if (!d->flows[i].sport)
		return 0;
	if (!map_get(index, &any, sizeof(any)) && map_put(index, &any, sizeof(any), i) < 0)
		return -ENOMEM;
	if (!first) {
		d->flows[i].tail = d->flows[i].cursor = i;
		return map_put(index, &key, sizeof(key), i) < 0 ? -ENOMEM : 0;
	}
	d->flows[d->flows[*first].tail].next = i + 1;
	d->flows[*first].tail = i;
	return 0;
}

/* Of the flows with one key the first that has no record yet, else the last. */
static size_t pick(struct decoder *d, size_t first)
{
	size_t at = d->flows[first].cursor;

	if (d->flows[at].records && d->flows[at].next)
		at = d->flows[at].next - 1;
	d->flows[first].cursor = at;
	return at;
}

/* Which name an address was given to. */
static int index_answers(struct decoder *d)
{
	json_t *record;
	size_t i;

	json_array_foreach (d->facts.sinkhole_log, i, record) {
		const char *answer = json_member_text(record, "answer");

		if (answer && json_member_text(record, "name") &&
		    map_put(&d->answers, answer, strlen(answer), i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int join_record(struct decoder *d, const struct map *index, json_t *record)
{
	struct join_key key = {.protocol = record_protocol(record)};
	json_int_t sport = json_member_int(record, "srcPort", 0);
	const char *address = json_member_text(record, "dstIp");
	struct endpoint to;
	struct flow *flow;
	uint64_t *value;

	if (!key.protocol || sport <= 0 || sport > UINT16_MAX)
		return record_observe_alone(d, record);
	key.sport = (uint16_t)sport;
	if (endpoint_of_text(address, json_member_int(record, "dstPort", 0), &to)) {
		key.addr = to.addr;
		key.port = to.port;
	}
	value = map_get(index, &key, sizeof(key));
	if (!value)
		return record_observe_alone(d, record);
	flow = &d->flows[key.port ? pick(d, *value) : *value];
	if (!flow->records)
		flow->records = json_array();
	if (json_array_size(flow->records) >= FLOW_RECORDS_MAX) {
		snprintf(d->sinkhole_reason, sizeof(d->sinkhole_reason),
			 "more than %d records of one flow: the rest are not told of one by one",
			 FLOW_RECORDS_MAX);
		return json_object_get(record, "decoys") ? record_observe_alone(d, record) : 0;
	}
	return json_array_append(flow->records, record) < 0 ? -ENOMEM : 0;
}

int flows_join(struct decoder *d)
{
	struct map index;
	json_t *record;
	int r = index_answers(d);
	size_t i;

	map_init(&index, d->seed, 2 * FLOWS_MAX);
	for (i = 0; r == 0 && i < d->flows_cnt; i++)
		r = index_flow(d, &index, i);
	json_array_foreach (d->facts.sinkhole_log, i, record) {
		if (r == 0)
			r = join_record(d, &index, record);
	}
	map_clear(&index);
	return r;
}

int decode_net_end(struct decoder *d)
{
	int r;

	flows_settle(d);
	r = flows_join(d);
	return r < 0 ? r : flows_observe(d);
}
