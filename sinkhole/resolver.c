// SPDX-License-Identifier: Apache-2.0
/* Questions to answers. */
#include "sinkhole/resolver.h"

#include <string.h>

/* The family of the address that answers the question; 0: it has none. */
static uint8_t question_family(const struct dns_question *question)
{
	if (question->class != DNS_CLASS_IN)
		return 0;
	if (question->type == DNS_TYPE_A)
		return AF_INET;
	return question->type == DNS_TYPE_AAAA ? AF_INET6 : 0;
}

static void question_record(struct resolver *resolver, const struct dns_exchange *exchange,
			    const struct dns_question *question, const struct endpoint *answer,
			    size_t len, struct decoy_hits hits)
{
	struct record record = record_begin("dns", &exchange->t);
	char address[ENDPOINT_ADDRESS_SIZE];

	record_flow(&record, &exchange->src, &exchange->dst);
	record_text(&record, "proto", exchange->proto);
	record_text(&record, "name", question->name);
	record_number(&record, "qtype", question->type);
	record_text(&record, "answer", answer ? endpoint_address(answer, address) : NULL);
	record_number(&record, "bytes", len);
	decoys_search_name(resolver->decoys, question->name, strlen(question->name), &hits);
	record_decoys(&record, resolver->decoys, &hits, false);
	record_write(resolver->log, &record);
}

size_t resolver_answer(struct resolver *resolver, const struct dns_exchange *exchange,
		       const uint8_t *bytes, size_t len, const struct dns_query *query,
		       uint8_t *buf, size_t size)
{
	struct dns_answer answers[DNS_QUESTIONS_MAX] = {};
	enum dns_rcode rcode = DNS_RCODE_NOERROR;
	struct decoy_hits hits = {};

	decoys_search(resolver->decoys, bytes, len, &hits);
	for (size_t i = 0; i < query->questions_cnt; i++) {
		const struct dns_question *question = &query->questions[i];
		uint8_t family = question_family(question);
		struct endpoint address;
		bool found = family &&
			     names_address(resolver->names, question->name, family, &address) == 0;

		/* No address left: the asker is told so, and the question is recorded. */
		if (family && !found)
			rcode = DNS_RCODE_SERVFAIL;
		if (found) {
			answers[i].family = family;
			memcpy(answers[i].address, address.address, sizeof(answers[i].address));
		}
		question_record(resolver, exchange, question, found ? &address : NULL, len, hits);
	}
	return dns_reply_build(bytes, query, answers, rcode, buf, size);
}

void record_malformed(struct record_log *log, const struct dns_exchange *exchange,
		      const char *protocol, uint64_t len, const char *why)
{
	struct record record = record_begin("malformed", &exchange->t);

	record_flow(&record, &exchange->src, &exchange->dst);
	record_text(&record, "proto", exchange->proto);
	record_text(&record, "protocol", protocol);
	record_number(&record, "bytes", len);
	record_text(&record, "why", why);
	record_write(log, &record);
}
