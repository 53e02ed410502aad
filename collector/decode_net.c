// SPDX-License-Identifier: Apache-2.0
/*
 * Network calls become flows. Where a cgroup hook saw the address, it is the kernel's own
 * copy; else the socket's peer; else what the task's memory held.
 */
#include "collector/decode_net.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

struct flow_key {
	struct in6_addr addr;
	uint64_t cookie;
	uint16_t port;
	uint8_t protocol;
	uint8_t by_port; /* the cookie is a process and a port: the kernel gave none */
	uint32_t pad;
};

void flows_clear(struct decoder *d)
{
	for (size_t i = 0; i < d->flows_cnt; i++) {
		json_decref(d->flows[i].queries);
		json_decref(d->flows[i].records);
	}
	free(d->flows);
	d->flows = NULL;
	d->flows_cnt = d->flows_allocated = 0;
}

static uint8_t known_protocol(unsigned int protocol)
{
	return protocol == IPPROTO_MPTCP ? IPPROTO_TCP : (uint8_t)protocol;
}

static bool is_flow_protocol(unsigned int protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP || protocol == IPPROTO_UDP;
}

static int flow_append(struct decoder *d, const struct flow *flow)
{
	if (d->flows_cnt == FLOWS_MAX) {
		snprintf(d->sinkhole_reason, sizeof(d->sinkhole_reason),
			 "more than %d flows: the rest are not listed", FLOWS_MAX);
		return -E2BIG;
	}
	if (d->flows_cnt == d->flows_allocated) {
		size_t allocated = d->flows_allocated ? d->flows_allocated * 2 : 64;
		struct flow *grown = realloc(d->flows, allocated * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		d->flows = grown;
		d->flows_allocated = allocated;
	}
	d->flows[d->flows_cnt++] = *flow;
	return 0;
}

/* The flow of that socket to that destination, made when there is none. */
static int flow_get(struct decoder *d, const struct step *step, unsigned int protocol,
		    uint64_t cookie, uint16_t sport, const struct endpoint *to, size_t *ret_index)
{
	struct flow_key key = {.addr = to->addr,
			       .cookie = cookie,
			       .port = to->port,
			       .protocol = known_protocol(protocol)};
	struct flow flow = {.process = step->process,
			    .time_ns = step->event->head.time_ns,
			    .cookie = cookie,
			    .to = *to,
			    .sport = sport,
			    .protocol = key.protocol};
	uint64_t *present;
	int r;

	if (!cookie) {
		key.by_port = 1;
		key.cookie = (uint64_t)step->process->tgid << 16 | sport;
	}
	present = map_get(&d->flow_index, &key, sizeof(key));
	if (present) {
		*ret_index = *present;
		return 0;
	}
	r = flow_append(d, &flow);
	if (r < 0)
		return r;
	*ret_index = d->flows_cnt - 1;
	return bounded(map_put(&d->flow_index, &key, sizeof(key), *ret_index));
}

int decode_net_address(struct decoder *d, const struct step *step)
{
	const struct qp_sockaddr *address = &step->event->sockaddr;
	struct endpoint to;
	size_t index;
	int r;

	if (address->hook != QP_HOOK_CONNECT && address->hook != QP_HOOK_SENDMSG)
		return 0;
	if (!is_flow_protocol(address->protocol) ||
	    !endpoint_of_bytes(address->family, address->addr, address->dport, &to))
		return 0;
	r = flow_get(d, step, address->protocol, address->cookie, address->sport, &to, &index);
	if (r < 0)
		return bounded(r);
	if (d->hooked_cnt == HOOKED_MAX) { /* calls whose return was lost */
		memmove(d->hooked, d->hooked + 1, (HOOKED_MAX - 1) * sizeof(d->hooked[0]));
		d->hooked_cnt--;
	}
	d->hooked[d->hooked_cnt].tid = step->event->head.tid;
	d->hooked[d->hooked_cnt].hook = address->hook;
	d->hooked[d->hooked_cnt++].flow = index;
	return 0;
}

static void flow_connected(struct flow *flow, const struct kernel_event *event)
{
	/* A request of io_uring that has no result is taken to be on its way. */
	int64_t ret = event->head.type == QP_EVENT_ENTER ? -EINPROGRESS : event->call.ret;

	if (!flow->connected || ret == 0)
		flow->ret = ret;
	flow->connected = true;
	flow->blocked |= event->call.flags & QP_CALL_BLOCKED;
}

static void flow_sent(struct flow *flow, const struct kernel_event *event, bool went_out,
		      uint64_t datagrams, uint64_t bytes)
{
	flow->blocked |= event->call.flags & QP_CALL_BLOCKED;
	if (went_out) {
		flow->sends += datagrams;
		flow->sent_bytes += bytes;
	} else {
		flow->failed_sends++;
		if (flow->ret == 0)
			flow->ret = event->call.ret;
	}
}

static const struct event_field *payload_of(const struct kernel_event *event)
{
	for (size_t i = 0; i < event->fields_cnt; i++)
		if (event->fields[i].kind == QP_FIELD_PAYLOAD &&
		    !(event->fields[i].flags & QP_FIELD_FAULT))
			return &event->fields[i];
	return NULL;
}

/* What one call did to the flow, the @nth of those that it concerned. */
static int flow_update(struct decoder *d, size_t index, const struct step *step, uint64_t nth,
		       bool only, const struct qp_sock *sock)
{
	struct flow *flow = &d->flows[index];
	int64_t ret = step->event->call.ret;
	bool many = step->event->call.call == QP_CALL_ID_sendmmsg;

	if (sock && sock->sport)
		flow->sport = sock->sport;
	flow->io_uring |= step->event->call.request != 0;
	if (step->info->kind == QP_KIND_CONNECT) {
		flow_connected(flow, step->event);
		return 0;
	}
	if (many)
		flow_sent(flow, step->event, ret > 0 && nth < (uint64_t)ret,
			  only && ret > 0 ? (uint64_t)ret : 1, 0);
	else
		flow_sent(flow, step->event, ret >= 0, 1, ret >= 0 ? (uint64_t)ret : 0);
	if (flow->protocol != IPPROTO_UDP || nth)
		return 0;
	return dns_question(payload_of(step->event), &flow->queries);
}

/*
 * Whether the hook was of this call. A thread's hooks are of its call but for those of
 * requests of io_uring, which any thread of the process may carry out: the socket tells.
 */
static bool is_hook_of(const struct decoder *d, size_t at, const struct step *step,
		       const struct qp_sock *sock)
{
	const struct flow *flow = &d->flows[d->hooked[at].flow];
	bool same_socket = sock && sock->cookie && sock->cookie == flow->cookie;

	if (step->event->call.request)
		return same_socket && flow->process == step->process;
	return d->hooked[at].tid == step->event->head.tid &&
	       (same_socket || !sock || !sock->cookie || !flow->cookie);
}

/* Takes the flows that hooks of this call have made; their number. */
static int update_hooked(struct decoder *d, const struct step *step, const struct qp_sock *sock,
			 uint64_t *ret_cnt)
{
	size_t kept = 0, cnt = 0;
	int r = 0;

	for (size_t i = 0; i < d->hooked_cnt; i++)
		cnt += is_hook_of(d, i, step, sock);
	*ret_cnt = 0;
	for (size_t i = 0; i < d->hooked_cnt; i++) {
		if (!is_hook_of(d, i, step, sock)) {
			d->hooked[kept++] = d->hooked[i];
			continue;
		}
		if (r == 0)
			r = flow_update(d, d->hooked[i].flow, step, (*ret_cnt)++, cnt == 1, sock);
	}
	d->hooked_cnt = kept;
	return r;
}

static const struct event_field *find_kind(const struct kernel_event *event,
					   enum qp_field_kind kind)
{
	for (size_t i = 0; i < event->fields_cnt; i++)
		if (event->fields[i].kind == kind)
			return &event->fields[i];
	return NULL;
}

/* Whether a further send over TCP is of a connection that we know. */
static bool is_known(const struct decoder *d, const struct qp_sock *sock, const struct endpoint *to)
{
	struct flow_key key = {.addr = to->addr,
			       .cookie = sock->cookie,
			       .port = to->port,
			       .protocol = known_protocol(sock->protocol)};

	return map_get(&d->flow_index, &key, sizeof(key));
}

static int connect_or_send(struct decoder *d, const struct step *step)
{
	const struct event_field *sock_field = find_kind(step->event, QP_FIELD_SOCK);
	const struct event_field *named = find_kind(step->event, QP_FIELD_SOCKADDR);
	bool connects = step->info->kind == QP_KIND_CONNECT;
	struct qp_sock sock = {.protocol = connects ? IPPROTO_TCP : IPPROTO_UDP};
	struct endpoint to;
	uint64_t hooked;
	size_t index;
	int r;

	if (sock_field)
		sock = event_sock(sock_field);
	r = update_hooked(d, step, sock_field ? &sock : NULL, &hooked);
	if (r < 0 || hooked)
		return r;
	if (!is_flow_protocol(sock.protocol))
		return 0;
	if (!endpoint_of_sockaddr(named, &to)) {
		if (!sock.dport || !endpoint_of_bytes(sock.family, sock.daddr, sock.dport, &to))
			return 0;
	}
	/* What an accepted connection answers is not sent to anyone new. */
	if (!connects && known_protocol(sock.protocol) == IPPROTO_TCP && !is_known(d, &sock, &to))
		return 0;
	r = flow_get(d, step, sock.protocol, sock.cookie, sock.sport, &to, &index);
	if (r < 0)
		return bounded(r);
	return flow_update(d, index, step, 0, true, sock_field ? &sock : NULL);
}

int decode_net_call(struct decoder *d, const struct step *step)
{
	int r;

	switch (step->info->kind) {
	case QP_KIND_SOCKET:
		return decode_socket(d, step);
	case QP_KIND_BIND:
	case QP_KIND_LISTEN:
		return decode_bind(d, step);
	default:
		r = decode_unix(d, step);
		if (r)
			return r < 0 ? r : 0;
		return connect_or_send(d, step);
	}
}

void flows_settle(struct decoder *d)
{
	for (size_t i = 0; i < d->hooked_cnt; i++) {
		struct flow *flow = &d->flows[d->hooked[i].flow];

		if (d->hooked[i].hook == QP_HOOK_SENDMSG)
			flow->sends++;
		else if (!flow->connected)
			flow->ret = -EINPROGRESS;
		flow->connected |= d->hooked[i].hook == QP_HOOK_CONNECT;
	}
	d->hooked_cnt = 0;
}
