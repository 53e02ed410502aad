// SPDX-License-Identifier: Apache-2.0
/* Queries: whatever parses must also be answered within its bounds. */
#include "sinkhole/dns.h"

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
	struct dns_query query;
	const char *why = NULL;
	uint8_t reply[8192];

	if (dns_query_parse(bytes, len, &query, &why) < 0) {
		require(why != NULL);
		return 0;
	}
	require(dns_looks_like_query(bytes, len));
	require(query.questions_cnt >= 1 && query.questions_cnt <= DNS_QUESTIONS_MAX);
	require(query.questions_end <= len);
	for (size_t i = 0; i < query.questions_cnt; i++) {
		require(strlen(query.questions[i].name) < DNS_NAME_TEXT_SIZE);
		answers[i].family = query.questions[i].type % 2 ? AF_INET : AF_INET6;
		memset(answers[i].address, 1, sizeof(answers[i].address));
	}
	for (size_t size = 0; size < sizeof(reply); size += 61) {
		uint8_t *exact = malloc(size);

		require(exact != NULL);
		require(dns_reply_build(bytes, &query, answers, DNS_RCODE_NOERROR, exact, size) <=
			size);
		free(exact);
	}
	return 0;
}
