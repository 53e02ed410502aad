// SPDX-License-Identifier: Apache-2.0
/* Flows as observations: who asked for which name, who connected where, who sent what. */
#include "collector/decode_net.h"

#include <string.h>

/* Of one flow; what the rest sent is added to the last, unless a decoy was in it. */
#define FLOW_OBSERVATIONS_MAX 64

/* The name that the sinkhole answered with that address, or NULL. */
static const char *name_of_address(const struct decoder *d, const char *address)
{
	uint64_t *index = map_get(&d->answers, address, strlen(address));

	if (!index)
		return NULL;
	return json_member_text(json_array_get(d->facts.sinkhole_log, *index), "name");
}

static bool is_refusal(int64_t ret)
{
	return ret == -EPERM || ret == -EACCES || ret == -ENETUNREACH;
}

static bool is_on_its_way(int64_t ret)
{
	return ret == 0 || ret == -EINPROGRESS || ret == -EINTR || ret == -EALREADY;
}

/* Something answered, or nothing did for a while: the first packet went out. */
static bool was_begun(int64_t ret)
{
	return is_on_its_way(ret) || ret == -ECONNREFUSED || ret == -ECONNRESET ||
	       ret == -ETIMEDOUT;
}

/* Whether it stays on this host, as what is sent to its own addresses does. */
static bool is_own(const struct decoder *d, const struct endpoint *to)
{
	for (size_t i = 0; i < d->own_cnt; i++)
		if (IN6_ARE_ADDR_EQUAL(&d->own[i], &to->addr))
			return true;
	return endpoint_is_loopback(to);
}

/* Whether the sinkhole must have seen something of it. */
static bool must_be_logged(const struct decoder *d, const struct flow *flow)
{
	if (d->mode == MODE_COLLECT || is_own(d, &flow->to) ||
	    flow->process->actor != ACTOR_PACKAGE)
		return false;
	return flow->protocol == IPPROTO_TCP ? flow->connected && was_begun(flow->ret)
					     : flow->sends > 0;
}

static enum observation_outcome flow_outcome(const struct flow *flow)
{
	if (json_array_size(flow->records))
		return OUTCOME_EFFECTED;
	if (flow->protocol == IPPROTO_UDP)
		return flow->sends ? OUTCOME_EFFECTED : OUTCOME_ATTEMPTED;
	/* A connect that did not wait says nothing; bytes that were taken do. */
	return flow->ret == 0 || flow->sent_bytes ? OUTCOME_EFFECTED : OUTCOME_ATTEMPTED;
}

/* What all observations of a flow have. */
static int flow_begin(struct decoder *d, const struct flow *flow, enum observation_kind kind,
		      struct observation *o)
{
	char address[INET6_ADDRSTRLEN], text[ENDPOINT_TEXT_SIZE];
	bool logged = json_array_size(flow->records) > 0;
	const char *name;
	int r = observation_begin(d, o, kind, flow->process, flow->time_ns);

	if (r < 0)
		return r;
	endpoint_address(&flow->to, address);
	endpoint_text(&flow->to, text);
	name = name_of_address(d, address);
	o->outcome = flow_outcome(flow);
	o->port = flow->to.port;
	o->payload = TRISTATE_FALSE;
	o->blocked = !logged && (flow->blocked || is_refusal(flow->ret)) && !flow->sends
			     ? TRISTATE_TRUE
			     : TRISTATE_FALSE;
	if (text_set(&o->dest, name ? name : address) < 0 || text_set(&o->orig_dest, text) < 0 ||
	    observation_set(o, "family",
			    json_string(endpoint_is_v4(&flow->to) ? "inet" : "inet6")) < 0 ||
	    observation_set(o, "sinkholeLogged", json_boolean(logged)) < 0 ||
	    (is_own(d, &flow->to) && observation_set(o, "loopback", json_true()) < 0) ||
	    (flow->io_uring && observation_set(o, "ioUring", json_true()) < 0))
		r = -ENOMEM;
	if (r == 0 && o->outcome == OUTCOME_ATTEMPTED && errno_name((int)-flow->ret) && flow->ret)
		r = observation_set(o, "errno", json_string(errno_name((int)-flow->ret)));
	if (r < 0)
		observation_clear(o);
	return r;
}

static int flow_finish(struct decoder *d, const struct flow *flow, struct observation *o, int r)
{
	struct note note = {.phase = (uint8_t)flow->process->phase};

	if (r < 0) {
		observation_clear(o);
		return r;
	}
	if (must_be_logged(d, flow) && !json_array_size(flow->records))
		note.flags = NOTE_UNMATCHED;
	return bounded(observe_take(d, o, note, NULL));
}

json_t *questions_about(const json_t *list, const char *name)
{
	json_t *found = json_array(), *record;
	size_t i, k;

	json_array_foreach ((json_t *)list, i, record) {
		const char *its = json_member_text(record, "name");
		json_int_t qtype = json_member_int(record, "qtype", 0);
		bool known = false;

		if (!its || strcmp(its, name) != 0)
			continue;
		for (k = 0; k < json_array_size(found); k++)
			known |= json_member_int(json_array_get(found, k), "qtype", -1) == qtype;
		if (!known)
			json_array_append_new(
				found, json_pack("{s:s, s:I}", "name", name, "qtype", qtype));
	}
	return found;
}

static bool was_asked_before(const json_t *list, size_t i, const char *name)
{
	while (i--) {
		const json_t *record = json_array_get(list, i);
		const char *its = json_member_text(record, "name");

		if (its && !strcmp(its, name))
			return true;
	}
	return false;
}

static int dns_observe(struct decoder *d, const struct flow *flow, const json_t *list,
		       const char *name)
{
	struct observation o;
	json_t *record;
	size_t i;
	int r = flow_begin(d, flow, OBSERVATION_NET_DNS, &o);

	if (r < 0)
		return r;
	json_object_del(o.extra, "family");
	if (text_set(&o.dest, name) < 0 ||
	    text_set(&o.proto, flow->protocol == IPPROTO_TCP ? "tcp" : "udp") < 0 ||
	    observation_set(&o, "queries", questions_about(list, name)) < 0)
		r = -ENOMEM;
	json_array_foreach ((json_t *)list, i, record) {
		const char *its = json_member_text(record, "name");

		if (r == 0 && its && !strcmp(its, name))
			r = dns_record_set(&o, record);
	}
	return flow_finish(d, flow, &o, r);
}

/* One observation for each name that was asked for; *ret_cnt is their number. */
static int questions_observe(struct decoder *d, const struct flow *flow, const json_t *list,
			     size_t *ret_cnt)
{
	json_t *record;
	size_t i;

	*ret_cnt = 0;
	json_array_foreach ((json_t *)list, i, record) {
		const char *name = json_member_text(record, "name");
		int r;

		if (!name || was_asked_before(list, i, name))
			continue;
		r = dns_observe(d, flow, list, name);
		if (r < 0)
			return r;
		++*ret_cnt;
	}
	return 0;
}

static int udp_observe(struct decoder *d, const struct flow *flow)
{
	json_int_t bytes = 0;
	struct observation o;
	bool other = false;
	const json_t *first = NULL;
	json_t *record;
	size_t i, asked = 0;
	int r;

	json_array_foreach (flow->records, i, record) {
		/* What is said of a malformed one is said beside its own record. */
		if (strcmp(record_type(record), "udp") != 0)
			continue;
		other = true;
		first = first ? first : record;
		bytes += json_member_int(record, "bytes", 0);
	}
	r = questions_observe(d, flow, flow->records ? flow->records : flow->queries, &asked);
	if (r < 0 || (asked && !other) || !(flow->sends || flow->failed_sends || other))
		return r;
	r = flow_begin(d, flow, OBSERVATION_NET_UDP, &o);
	if (r < 0)
		return r;
	if (text_set(&o.proto, "udp") < 0 ||
	    text_set(&o.dest, json_member_text(first, "dstName")) < 0 ||
	    observation_set(&o, "bytes",
			    json_integer(other ? bytes : (json_int_t)flow->sent_bytes)) < 0)
		r = -ENOMEM;
	json_array_foreach (flow->records, i, record) {
		if (r == 0 && !strcmp(record_type(record), "udp"))
			r = service_set(&o, record);
		if (r == 0 && !strcmp(record_type(record), "udp"))
			r = decoys_found_set(&o, record);
	}
	return flow_finish(d, flow, &o, r);
}

static int set_http(struct observation *o, const json_t *record)
{
	json_int_t bytes = json_member_int(record, "payloadBytes", 0);

	if (bytes > 0 || json_is_true(json_object_get(record, "chunked")))
		o->payload = TRISTATE_TRUE;
	return observation_set(o, "http",
			       json_pack("{s:s?, s:s?, s:s?, s:I}", "method",
					 json_member_text(record, "method"), "host",
					 json_member_text(record, "host"), "path",
					 json_member_text(record, "path"), "payloadBytes", bytes));
}

/* What is known of it beyond the protocol: names looked up in another one ("dot", "doh", "doq"),
 * QUIC, calls of a block chain's node, mails, the proxy on the way, how a client took the
 * certificate that it was shown. */
int service_set(struct observation *o, const json_t *record)
{
	static const char *const members[] = {"service", "quicVersion", "methods", "mails",
					      "proxy",	 "handshake",	"alert"};
	int r = 0;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && r == 0; i++) {
		json_t *value = json_object_get(record, members[i]);

		if (value)
			r = observation_set(o, members[i], json_incref(value));
	}
	return r;
}

int dns_record_set(struct observation *o, const json_t *record)
{
	json_t *carries = json_object_get(record, "carries");
	int r = 0;

	if (json_is_object(carries)) {
		o->payload = TRISTATE_TRUE;
		r = observation_set(o, "carries", json_incref(carries));
	}
	return r < 0 ? r : decoys_found_set(o, record);
}

/* Any other one has no part that is data and none that is not: all of it counts. */
static bool has_data_apart(const char *protocol)
{
	return !strcmp(protocol, "http") || !strcmp(protocol, "tls") || !strcmp(protocol, "dns") ||
	       !strcmp(protocol, "none");
}

/* What came under TLS that was answered is told as of the server that the client meant. */
static int under_tls_set(struct observation *o, const json_t *record)
{
	const json_t *label = json_object_get(record, "inTls");
	const char *version = json_member_text(label, "version");

	if (!label || text_set(&o->sni, json_member_text(label, "sni")) < 0)
		return label ? -ENOMEM : 0;
	return observation_set(o, "underTls", json_string(version ? version : ""));
}

int tcp_record_set(struct observation *o, const json_t *record)
{
	const char *protocol = json_member_text(record, "protocol");
	json_int_t bytes = json_member_int(record, "bytesReceived", 0);
	int r = 0;

	if (!protocol)
		protocol = "unknown";
	if (text_set(&o->proto, protocol) < 0 ||
	    text_set(&o->dest, json_member_text(record, "dstName")) < 0)
		return -ENOMEM;
	r = service_set(o, record);
	if (r == 0)
		r = under_tls_set(o, record);
	if (r < 0 || !strcmp(protocol, "http"))
		return r < 0 ? r : set_http(o, record);
	if (!strcmp(protocol, "tls")) {
		const json_t *alpn = json_object_get(record, "alpn");

		r = text_set(&o->sni, json_member_text(record, "sni"));
		if (r == 0 && alpn)
			r = observation_set(o, "alpn", json_incref((json_t *)alpn));
	} else if (!has_data_apart(protocol)) {
		if (bytes > 0)
			o->payload = TRISTATE_TRUE;
		r = observation_set(o, "bytes", json_integer(bytes));
	}
	return r;
}

static int tcp_observe_one(struct decoder *d, const struct flow *flow, const json_t *record,
			   bool more_payload)
{
	struct observation o;
	int r = flow_begin(d, flow, OBSERVATION_NET_TCP, &o);

	if (r < 0)
		return r;
	if (record) {
		r = tcp_record_set(&o, record);
		if (r == 0)
			r = decoys_found_set(&o, record);
	} else if (flow->sent_bytes) {
		/* Nothing that stays on this host has left it. */
		if (!is_own(d, &flow->to))
			o.payload = TRISTATE_TRUE;
		r = observation_set(&o, "bytes", json_integer((json_int_t)flow->sent_bytes));
	}
	if (more_payload)
		o.payload = TRISTATE_TRUE;
	return flow_finish(d, flow, &o, r);
}

static bool carries_payload(const json_t *record)
{
	const char *protocol = json_member_text(record, "protocol");

	if (protocol && !has_data_apart(protocol))
		return json_member_int(record, "bytesReceived", 0) > 0;
	return json_member_int(record, "payloadBytes", 0) > 0 ||
	       json_is_true(json_object_get(record, "chunked"));
}

static int tcp_observe(struct decoder *d, const struct flow *flow)
{
	const json_t *last = NULL;
	size_t i, cnt = 0, asked = 0;
	bool more_payload = false;
	json_t *record;
	int r = questions_observe(d, flow, flow->records, &asked);

	json_array_foreach (flow->records, i, record) {
		if (r < 0)
			return r;
		if (strcmp(record_type(record), "tcp") != 0)
			continue;
		if (++cnt < FLOW_OBSERVATIONS_MAX || json_object_get(record, "decoys")) {
			r = tcp_observe_one(d, flow, record, false);
		} else {
			last = record;
			more_payload |= carries_payload(record);
		}
	}
	if (r < 0 || (cnt && !last))
		return r;
	if (!cnt && !flow->connected)
		return 0;
	return tcp_observe_one(d, flow, last, more_payload);
}

int flow_observe(struct decoder *d, struct flow *flow)
{
	return flow->protocol == IPPROTO_TCP ? tcp_observe(d, flow) : udp_observe(d, flow);
}

int flows_observe(struct decoder *d)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->flows_cnt; i++)
		r = flow_observe(d, &d->flows[i]);
	return r;
}
