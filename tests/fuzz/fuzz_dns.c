// SPDX-License-Identifier: Apache-2.0
/* Queries: whatever parses must also be answered within its bounds. */
#include "sinkhole/answers.h"
#include "sinkhole/dns_data.h"
#include "sinkhole/resolver.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct dns_answer answers[DNS_QUESTIONS_MAX];
	static struct names *names;
	enum dns_rcode rcode = DNS_RCODE_NOERROR;
	char text[ANSWER_TEXT_SIZE];
	struct dns_data data;
	struct dns_query query;
	const char *why = NULL;
	uint8_t reply[RESOLVER_REPLY_MAX];

	names = names ? names : names_new();
	require(names != NULL);

	if (dns_query_parse(bytes, len, &query, &why) < 0) {
		require(why != NULL);
		return 0;
	}
	require(dns_looks_like_query(bytes, len));
	require(query.questions_cnt >= 1 && query.questions_cnt <= DNS_QUESTIONS_MAX);
	require(query.questions_end <= len);
	for (size_t i = 0; i < query.questions_cnt; i++) {
		require(strlen(query.questions[i].name) < DNS_NAME_TEXT_SIZE);
		rcode = answer_make(names, &query.questions[i], &answers[i], text);
		require(answers[i].size <= DNS_RDATA_MAX && strlen(text) < sizeof(text));
		require(!answers[i].size == !*text);
		dns_data_find(query.questions[i].name, &data);
	}
	for (size_t size = 0; size < sizeof(reply); size += 61) {
		uint8_t *exact = malloc(size);

		require(exact != NULL);
		require(dns_reply_build(bytes, &query, answers, rcode, exact, size) <= size);
		free(exact);
	}
	return 0;
}
