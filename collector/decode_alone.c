// SPDX-License-Identifier: Apache-2.0
/* Records of the sinkhole that no kernel event explains. They are told of all the same. */
#include "collector/decode_net.h"

#include <string.h>

/* A record's own words, when no flow is known for it. */
static int set_alone(struct decoder *d, struct observation *o, const json_t *record)
{
	const char *address = json_member_text(record, "dstIp");
	json_int_t port = json_member_int(record, "dstPort", -1);
	char text[ENDPOINT_TEXT_SIZE];
	struct endpoint to;

	o->outcome = OUTCOME_EFFECTED;
	o->blocked = o->payload = TRISTATE_FALSE;
	o->port = port;
	o->t_ns = time_since_start(d, json_member_text(record, "t"));
	if (endpoint_of_text(address, port < 0 ? 0 : port, &to)) {
		endpoint_text(&to, text);
		if (text_set(&o->orig_dest, port < 0 ? address : text) < 0)
			return -ENOMEM;
	}
	if (text_set(&o->dest, address) < 0 ||
	    text_set(&o->dest, json_member_text(record, "dstName")) < 0 ||
	    observation_set(o, "sinkholeLogged", json_true()) < 0)
		return -ENOMEM;
	switch (o->kind) {
	case OBSERVATION_NET_DNS: {
		json_t *list = json_pack("[O]", record);
		const char *name = json_member_text(record, "name");
		int r = text_set(&o->dest, name);

		if (r == 0)
			r = text_set(&o->proto, json_member_text(record, "proto"));
		if (r == 0)
			r = observation_set(o, "queries", questions_about(list, name ? name : ""));
		if (r == 0)
			r = dns_record_set(o, record);
		json_decref(list);
		return r;
	}
	case OBSERVATION_NET_TCP:
		return tcp_record_set(o, record);
	case OBSERVATION_NET_UDP:
		return observation_set(o, "bytes",
				       json_integer(json_member_int(record, "bytes", 0)));
	default:
		return observation_set(o, "protocol",
				       json_integer(json_member_int(record, "l4", -1)));
	}
}

/*
 * ICMP and IGMP are also what the kernel itself says: to its neighbours, to its groups, and
 * to who sends to a port that nobody has. A process needs a socket of that protocol or a
 * raw one, and the making of either is always told of.
 */
static bool is_kernels_own(const struct decoder *d, const json_t *record)
{
	json_int_t l4 = json_member_int(record, "l4", -1);

	if (l4 != IPPROTO_HOPOPTS && l4 != IPPROTO_ICMP && l4 != IPPROTO_IGMP &&
	    l4 != IPPROTO_ICMPV6)
		return false;
	return !(d->odd_protocols[l4 / 8] & 1 << l4 % 8);
}

int record_observe_alone(struct decoder *d, const json_t *record)
{
	const char *type = record_type(record);
	enum observation_kind kind = OBSERVATION_NET_OTHER;
	struct observation o;
	int r;

	if (!strcmp(type, "dns"))
		kind = OBSERVATION_NET_DNS;
	else if (!strcmp(type, "tcp"))
		kind = OBSERVATION_NET_TCP;
	else if (!strcmp(type, "udp"))
		kind = OBSERVATION_NET_UDP;
	else if (!strcmp(type, "malformed") || is_kernels_own(d, record))
		return 0; /* a remark on what has its own record */
	r = observation_begin(d, &o, kind, NULL, d->last_ns);
	if (r < 0)
		return r;
	r = set_alone(d, &o, record);
	if (r == 0)
		r = decoys_found_set(&o, record);
	if (r < 0) {
		observation_clear(&o);
		return r;
	}
	return bounded(observe_take(d, &o, (struct note){.flags = NOTE_UNEXPLAINED}, NULL));
}
