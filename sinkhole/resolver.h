/* SPDX-License-Identifier: Apache-2.0 */
/* Answers DNS queries from the table of names, and records each question. */
#ifndef QP_SINKHOLE_RESOLVER_H
#define QP_SINKHOLE_RESOLVER_H

#include "sinkhole/dns.h"
#include "sinkhole/names.h"
#include "sinkhole/record.h"

/* Enough for the reply to any query that dns_query_parse accepts. */
#define RESOLVER_REPLY_MAX \
	(DNS_HEADER_SIZE + DNS_QUESTIONS_MAX * (DNS_NAME_MAX + 4 + DNS_ANSWER_MAX) + 11)

struct resolver {
	struct names *names; /* borrowed, as is the log */
	struct record_log *log;
	const struct decoys *decoys; /* to look for in everything; NULL: none */
};

/* Where a query came from and where it was going. */
struct dns_exchange {
	struct timespec t;
	struct endpoint src, dst;
	const char *proto; /* "udp" or "tcp" */
	json_t *tls;	   /* borrowed: what is told of the TLS around it; NULL: none */
};

/*
 * Writes a record per question and the reply, of at most @size bytes, into @buf. Returns
 * the reply's length; 0: there is none.
 */
size_t resolver_answer(struct resolver *resolver, const struct dns_exchange *exchange,
		       const uint8_t *bytes, size_t len, const struct dns_query *query,
		       uint8_t *buf, size_t size);

/* Writes a "malformed" record: @len bytes at @exchange were no @protocol because of @why. */
void record_malformed(struct record_log *log, const struct dns_exchange *exchange,
		      const char *protocol, uint64_t len, const char *why);

#endif
