// SPDX-License-Identifier: Apache-2.0
/* Questions to answers. */
#include "sinkhole/resolver.h"

#include "sinkhole/answers.h"
#include "sinkhole/dns_data.h"

#include <string.h>

static void record_exchange(struct record *record, const struct dns_exchange *exchange)
{
	record_flow(record, &exchange->src, &exchange->dst);
	record_text(record, "proto", exchange->proto);
	if (exchange->tls)
		record_set(record, "inTls", json_incref(exchange->tls));
}

/* What the name itself carries; decoys are told of by record_decoys. */
static void data_member(struct record *record, const char *name)
{
	struct dns_data data;
	json_t *by = json_array();

	if (!dns_data_find(name, &data)) {
		json_decref(by);
		return;
	}
	if ((data.by_length && json_array_append_new(by, json_string("length")) < 0) ||
	    (data.by_entropy && json_array_append_new(by, json_string("entropy")) < 0))
		record->failed = true;
	record_set(record, "carries",
		   json_pack("{s:I, s:I, s:o}", "chars", (json_int_t)data.chars, "entropyCentibits",
			     (json_int_t)data.entropy, "by", by));
}

static void question_record(struct resolver *resolver, const struct dns_exchange *exchange,
			    const struct dns_question *question, const char *answer, size_t len,
			    struct decoy_hits hits)
{
	struct record record = record_begin("dns", &exchange->t);

	record_exchange(&record, exchange);
	record_text(&record, "name", question->name);
	record_number(&record, "qtype", question->type);
	record_text(&record, "answer", *answer ? answer : NULL);
	record_number(&record, "bytes", len);
	data_member(&record, question->name);
	decoys_search_name(resolver->decoys, question->name, strlen(question->name), &hits);
	record_decoys(&record, resolver->decoys, &hits, false);
	record_write(resolver->log, &record);
}

size_t resolver_answer(struct resolver *resolver, const struct dns_exchange *exchange,
		       const uint8_t *bytes, size_t len, const struct dns_query *query,
		       uint8_t *buf, size_t size)
{
	struct dns_answer answers[DNS_QUESTIONS_MAX];
	enum dns_rcode rcode = DNS_RCODE_NOERROR;
	struct decoy_hits hits = {};

	decoys_search(resolver->decoys, bytes, len, &hits);
	for (size_t i = 0; i < query->questions_cnt; i++) {
		const struct dns_question *question = &query->questions[i];
		char text[ANSWER_TEXT_SIZE];
		enum dns_rcode its = answer_make(resolver->names, question, &answers[i], text);

		/* No address left: the asker is told so, and the question is recorded. One
		 * name that is not there does not make the others so. */
		if (its == DNS_RCODE_SERVFAIL || query->questions_cnt == 1)
			rcode = its;
		question_record(resolver, exchange, question, text, len, hits);
	}
	return dns_reply_build(bytes, query, answers, rcode, buf, size);
}

void record_malformed(struct record_log *log, const struct dns_exchange *exchange,
		      const char *protocol, uint64_t len, const char *why)
{
	struct record record = record_begin("malformed", &exchange->t);

	record_exchange(&record, exchange);
	record_text(&record, "protocol", protocol);
	record_number(&record, "bytes", len);
	record_text(&record, "why", why);
	record_write(log, &record);
}
