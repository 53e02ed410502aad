/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the network. */
#ifndef QP_TESTS_COLLECTOR_EVENTS_NET_H
#define QP_TESTS_COLLECTOR_EVENTS_NET_H

#include "tests/collector/events.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static inline struct qp_sock sock_v4(int type, uint16_t sport, const char *to, uint16_t dport,
				     uint64_t cookie)
{
	struct qp_sock sock = {.family = AF_INET,
			       .type = (uint16_t)type,
			       .protocol = type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP,
			       .sport = sport,
			       .dport = dport,
			       .cookie = cookie};

	inet_pton(AF_INET, "10.0.0.2", sock.saddr);
	inet_pton(AF_INET, to, sock.daddr);
	return sock;
}

static inline void add_sockaddr_v4(struct building *b, uint8_t role, const char *to, uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, to, &in.sin_addr);
	add_field(b, QP_FIELD_SOCKADDR, role, 0, &in, sizeof(in));
}

/* The hook's event, then the call's. */
static inline void ev_connect(struct script *s, uint32_t pid, int type, uint16_t sport,
			      const char *to, uint16_t dport, uint64_t cookie, int64_t ret)
{
	struct qp_sock sock = sock_v4(type, sport, to, dport, cookie);
	struct qp_sockaddr hook = {.hook = QP_HOOK_CONNECT,
				   .family = AF_INET,
				   .protocol = (uint8_t)sock.protocol,
				   .type = (uint8_t)type,
				   .dport = dport,
				   .cookie = cookie};
	struct building b;

	memcpy(hook.addr, sock.daddr, 4);
	b = begin_event(s, QP_EVENT_SOCKADDR, pid, &hook, sizeof(hook));
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, pid, QP_CALL_ID_connect, ret, ARGS(5, 0x7000, 16));
	add_sockaddr_v4(&b, 1, to, dport);
	add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	emit(s, &b);
}

/* A send on a connected socket. */
static inline void ev_send(struct script *s, uint32_t pid, enum qp_call_id call, int type,
			   uint16_t sport, const char *to, uint16_t dport, uint64_t cookie,
			   int64_t ret, const void *payload, size_t payload_len)
{
	struct qp_sock sock = sock_v4(type, sport, to, dport, cookie);
	struct building b = begin_call(s, QP_EVENT_CALL, pid, call, ret, ARGS(5, 0x7000, 1));

	add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	if (payload)
		add_field(&b, QP_FIELD_PAYLOAD, 1, 0, payload, payload_len);
	emit(s, &b);
}

#endif
