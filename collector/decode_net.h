/* SPDX-License-Identifier: Apache-2.0 */
/* Flows: what one socket had to do with one destination, by the kernel's events. */
#ifndef QP_COLLECTOR_DECODE_NET_H
#define QP_COLLECTOR_DECODE_NET_H

#include "collector/decode_state.h"

#include <netinet/in.h>
#include <string.h>

#define FLOW_QUERIES_MAX   64 /* DNS questions kept of one flow */
#define FLOW_RECORDS_MAX   256
#define ENDPOINT_TEXT_SIZE (INET6_ADDRSTRLEN + 10)

/* IPv4 is kept as ::ffff:a.b.c.d. */
struct endpoint {
	struct in6_addr addr;
	uint16_t port;
};

struct flow {
	const struct process *process;
	uint64_t time_ns; /* of its first event */
	uint64_t cookie;
	struct endpoint to;
	uint16_t sport;
	uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP */
	bool connected;	  /* a connect was called */
	int64_t ret;	  /* of that, or of the first send that failed */
	bool blocked;	  /* seccomp turned a call away */
	bool io_uring;	  /* a request of io_uring was among the calls */
	uint64_t sends, sent_bytes, failed_sends;
	json_t *queries;     /* array of what its payloads asked, or NULL */
	json_t *records;     /* array of the sinkhole's records of it, or NULL */
	size_t next;	     /* the next flow with the same key, plus 1 */
	size_t tail, cursor; /* of the first with a key: the chain's last, the next to be given a
				record */
};

/* From an event's field. False when it is no inet address. */
bool endpoint_of_sockaddr(const struct event_field *field, struct endpoint *ret_endpoint);
bool endpoint_of_bytes(int family, const void *addr, uint16_t port, struct endpoint *ret_endpoint);
bool endpoint_of_text(const char *address, json_int_t port, struct endpoint *ret_endpoint);
bool endpoint_is_v4(const struct endpoint *endpoint);
bool endpoint_is_loopback(const struct endpoint *endpoint);

/* The address alone. */
void endpoint_address(const struct endpoint *endpoint, char ret_text[static INET6_ADDRSTRLEN]);
/* "address:port" or "[address]:port". */
void endpoint_text(const struct endpoint *endpoint, char ret_text[static ENDPOINT_TEXT_SIZE]);

/*
 * If the bytes begin a DNS query: adds its question {"name", "qtype"} to *queries, made
 * when needed. 0 or -ENOMEM; nothing is added for bytes that are none.
 */
int dns_question(const struct event_field *payload, json_t **queries);

/* Replaces *to by a copy of @text, unless that is NULL. 0 or -ENOMEM. */
static inline int text_set(char **to, const char *text)
{
	if (!text)
		return 0;
	free(*to);
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

/* The record's "type", "" when it has none. */
static inline const char *record_type(const json_t *record)
{
	const char *type = json_member_text(record, "type");

	return type ? type : "";
}

/* The questions of @list about @name, each type once, as [{"name", "qtype"}]. */
json_t *questions_about(const json_t *list, const char *name);

/* What the sinkhole saw of a TCP connection. 0 or -ENOMEM. */
int tcp_record_set(struct observation *o, const json_t *record);

/* Adds the record's `decoys` and `decoyEncodings` to the observation's. 0 or -ENOMEM. */
int decoys_found_set(struct observation *observation, const json_t *record);

/* The record's data and decoys in the name that was asked for: data is payload. */
int dns_record_set(struct observation *o, const json_t *record);

/* What the record knows beyond its protocol, where it does: `service`, `quicVersion`, `methods`,
 * `mails`, `proxy`. */
int service_set(struct observation *o, const json_t *record);

/* Calls that a hook announced and that never returned: they are taken to be on their way. */
void flows_settle(struct decoder *d);

/* The sinkhole's records by the flow they are of; observations of all flows. */
int flows_join(struct decoder *d);
int flows_observe(struct decoder *d);

/* An observation of what no event explains. */
int record_observe_alone(struct decoder *d, const json_t *record);
int flow_observe(struct decoder *d, struct flow *flow);

/* Nanoseconds since the run's start of an RFC 3339 time; the last event's if it is none. */
uint64_t time_since_start(const struct decoder *d, const char *text);

#endif
