// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/dns.h"
#include "tests/sinkhole/exact.h"

#include <criterion/criterion.h>

/* A query for A and AAAA of www.example, the second name a pointer to the first (RFC 1035
 * section 4.1.4), with RD and an OPT record that offers 4096 bytes (RFC 6891). */
static const uint8_t two_questions[] = {
	0x12, 0x34, 0x01, 0x00, 0, 2,	0,   0,	  0,   0,    0,	   1, /* header */
	3,    'w',  'w',  'w',	7, 'e', 'x', 'a', 'm', 'p',  'l',  'e', 0, 0, 1, 0, 1,
	0xc0, 12,   0,	  28,	0, 1,	0,   0,	  41,  0x10, 0x00, 0,	0, 0, 0, 0, 0,
};

/* The same name and type as the first, nothing else. */
static const uint8_t plain[] = {
	0xab, 0xcd, 0x01, 0x00, 0,   1,	  0,   0,   0,	 0, 0, 0, 3, 'w', 'w',
	'w',  7,    'e',  'x',	'a', 'm', 'p', 'l', 'e', 0, 0, 1, 0, 1,
};

static int parse(const void *bytes, size_t len, struct dns_query *query)
{
	_cleanup_free_ uint8_t *copy = exact_copy(bytes, len);
	const char *why = NULL;
	int r = dns_query_parse(copy, len, query, &why);

	cr_expect_eq(r < 0, why != NULL);
	return r;
}

Test(dns, reads_every_question_and_the_opt_record)
{
	struct dns_query query;

	cr_assert_eq(parse(two_questions, sizeof(two_questions), &query), 0);
	cr_expect_eq(query.id, 0x1234);
	cr_assert_eq(query.questions_cnt, 2);
	cr_expect_str_eq(query.questions[0].name, "www.example");
	cr_expect_eq(query.questions[0].type, 1);
	cr_expect_eq(query.questions[0].class, 1);
	cr_expect_str_eq(query.questions[1].name, "www.example");
	cr_expect_eq(query.questions[1].type, 28);
	cr_expect_eq(query.questions_end, 35);
	cr_expect(query.has_opt);
	cr_expect_eq(query.opt_payload, 4096);
}

Test(dns, refuses_every_truncation)
{
	struct dns_query query;

	for (size_t len = 0; len < sizeof(two_questions); len++)
		cr_expect_eq(parse(two_questions, len, &query), -EBADMSG, "%zu bytes", len);
}

/* Data could ride behind a query unseen. */
Test(dns, refuses_bytes_behind_the_message)
{
	uint8_t longer[sizeof(plain) + 1] = {};
	struct dns_query query;

	memcpy(longer, plain, sizeof(plain));
	cr_expect_eq(parse(longer, sizeof(longer), &query), -EBADMSG);
	cr_expect_eq(parse(plain, sizeof(plain), &query), 0);
}

static int parse_changed(size_t at, uint8_t value)
{
	uint8_t changed[sizeof(plain)];
	struct dns_query query;

	memcpy(changed, plain, sizeof(plain));
	changed[at] = value;
	return parse(changed, sizeof(changed), &query);
}

Test(dns, refuses_what_is_no_query)
{
	cr_expect_eq(parse_changed(2, 0x81), -EBADMSG, "a response");
	cr_expect_eq(parse_changed(2, 0x29), -EBADMSG, "opcode UPDATE");
	cr_expect_eq(parse_changed(5, 0), -EBADMSG, "no question");
	cr_expect_eq(parse_changed(4, 1), -EBADMSG, "257 questions");
	cr_expect_eq(parse_changed(7, 1), -EBADMSG, "an answer");
	cr_expect_eq(parse_changed(9, 1), -EBADMSG, "an authority");
	cr_expect_eq(parse_changed(12, 0x43), -EBADMSG, "label type 01");
}

Test(dns, refuses_pointers_that_do_not_lead_back)
{
	/* To itself, forward, into the header. */
	for (unsigned target = 0; target < 24; target++) {
		uint8_t bytes[] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 1, 0, 1};
		struct dns_query query;

		bytes[13] = (uint8_t)target;
		cr_expect_eq(parse(bytes, sizeof(bytes), &query), -EBADMSG, "to %u", target);
	}
	/* Two names that point at each other: the second may lead back only once. */
	uint8_t loop[] = {0,   0,    0,	 0, 0, 2, 0, 0,	   0,  0, 0, 0, 1,
			  'a', 0xc0, 12, 0, 1, 0, 1, 0xc0, 14, 0, 1, 0, 1};
	struct dns_query query;

	cr_expect_eq(parse(loop, sizeof(loop), &query), -EBADMSG);
}

/* RFC 1035 section 2.3.4: 255 bytes with the lengths and the root's. */
Test(dns, takes_names_of_255_bytes_and_no_more)
{
	uint8_t bytes[12 + 256 + 4] = {0, 0, 0, 0, 0, 1};
	struct dns_query query;
	size_t at = 12;

	for (int i = 0; i < 3; i++) {
		bytes[at++] = 63;
		memset(bytes + at, 'a' + i, 63);
		at += 63;
	}
	bytes[at++] = 61;
	memset(bytes + at, 'z', 61);
	at += 61;
	bytes[at++] = 0;
	cr_assert_eq(at - 12, 255);
	bytes[at + 1] = 1;
	bytes[at + 3] = 1;
	cr_expect_eq(parse(bytes, at + 4, &query), 0);
	cr_expect_eq(strlen(query.questions[0].name), 253);

	bytes[12 + 3 * 64] = 62;
	bytes[at - 1] = 'z';
	memset(bytes + at, 0, 5);
	bytes[at + 2] = 1;
	bytes[at + 4] = 1;
	cr_expect_eq(parse(bytes, at + 5, &query), -EBADMSG);
}

Test(dns, spells_hostile_labels_reversibly)
{
	const uint8_t bytes[] = {0,   0,   0,	 0,    0,    1,	  0, 0,	  0, 0, 0,  0, 6,
				 'a', '.', '\\', '\n', 0xff, 'B', 1, ' ', 0, 0, 16, 0, 1};
	const uint8_t root[] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1};
	struct dns_query query;

	cr_assert_eq(parse(bytes, sizeof(bytes), &query), 0);
	cr_expect_str_eq(query.questions[0].name, "a\\x2e\\x5c\\x0a\\xffB.\\x20");
	cr_assert_eq(parse(root, sizeof(root), &query), 0);
	cr_expect_str_eq(query.questions[0].name, ".");
}

Test(dns, replies_with_an_address_for_each_question)
{
	static const uint8_t expected[] = {
		0x12, 0x34, 0x81, 0x80, 0,  2,	 0,    2,    0,	  0,   0,   1, /* QR RD, RA */
		3,    'w',  'w',  'w',	7,  'e', 'x',  'a',  'm', 'p', 'l', 'e', 0, 0, 1, 0,
		1,    0xc0, 12,	  0,	28, 0,	 1,    0xc0, 12,  0,   1,   0,	 1, 0, 0, 0,
		60,   0,    4,	  198,	18, 0,	 1,    0xc0, 29,  0,   28,  0,	 1, 0, 0, 0,
		60,   0,    16,	  0xfd, 0,  0,	 0,    0,    0,	  0,   0,   0,	 0, 0, 0, 0xc6,
		0x12, 0,    1,	  0,	0,  41,	 0x04, 0xd0, 0,	  0,   0,   0,	 0, 0,
	};
	struct dns_answer answers[DNS_QUESTIONS_MAX] = {
		{4, {198, 18, 0, 1}, 0, {}},
		{16, {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc6, 0x12, 0, 1}, 0, {}},
	};
	uint8_t reply[sizeof(expected)];
	struct dns_query query;

	cr_assert_eq(parse(two_questions, sizeof(two_questions), &query), 0);
	cr_assert_eq(dns_reply_build(two_questions, &query, answers, DNS_RCODE_NOERROR, reply,
				     sizeof(reply)),
		     sizeof(expected));
	cr_expect_arr_eq(reply, expected, sizeof(expected));
	/* One byte less: the TC bit, and the client asks again over TCP, once it has seen its
	 * questions (RFC 2181 section 9: what is cut is the answers). */
	cr_assert_eq(dns_reply_build(two_questions, &query, answers, DNS_RCODE_NOERROR, reply,
				     sizeof(reply) - 1),
		     sizeof(two_questions));
	cr_expect_arr_eq(reply, "\x12\x34\x83\x80\0\2\0\0\0\0\0\1", DNS_HEADER_SIZE);
	cr_expect_arr_eq(reply + DNS_HEADER_SIZE, two_questions + DNS_HEADER_SIZE, 23);
	/* No room even for these. */
	cr_assert_eq(dns_reply_build(two_questions, &query, answers, DNS_RCODE_NOERROR, reply,
				     sizeof(two_questions) - 1),
		     DNS_HEADER_SIZE + 11);
	cr_expect_arr_eq(reply, "\x12\x34\x83\x80\0\0\0\0\0\0\0\1", DNS_HEADER_SIZE);
}

Test(dns, replies_empty_noerror_without_an_answer)
{
	struct dns_answer answers[DNS_QUESTIONS_MAX] = {};
	uint8_t reply[64];
	struct dns_query query;

	cr_assert_eq(parse(plain, sizeof(plain), &query), 0);
	cr_assert_eq(
		dns_reply_build(plain, &query, answers, DNS_RCODE_NOERROR, reply, sizeof(reply)),
		sizeof(plain));
	cr_expect_eq(reply[3], 0x80, "RA, rcode 0");
	cr_expect_eq(reply[7], 0, "no answer");
	cr_expect_eq(
		dns_reply_build(plain, &query, answers, DNS_RCODE_SERVFAIL, reply, sizeof(reply)),
		sizeof(plain));
	cr_expect_eq(reply[3], 0x82);
	cr_expect_eq(dns_reply_build(plain, &query, answers, DNS_RCODE_NOERROR, reply, 11), 0);
}

/* RFC 6891 section 6.1.3: BADVERS is 16, split over header and OPT. */
Test(dns, answers_an_unknown_edns_version_badvers)
{
	uint8_t bytes[sizeof(two_questions)], reply[128];
	struct dns_answer answers[DNS_QUESTIONS_MAX] = {{4, {198, 18, 0, 1}, 0, {}}};
	struct dns_query query;
	size_t n;

	memcpy(bytes, two_questions, sizeof(bytes));
	bytes[sizeof(bytes) - 5] = 1;
	cr_assert_eq(parse(bytes, sizeof(bytes), &query), 0);
	n = dns_reply_build(bytes, &query, answers, DNS_RCODE_NOERROR, reply, sizeof(reply));
	cr_assert_eq(n, sizeof(bytes));
	cr_expect_eq(reply[3] & 15, 0);
	cr_expect_eq(reply[7], 0, "no answer");
	cr_expect_eq(reply[n - 6], 1, "the upper bits of 16");
}

/* RFC 3225 section 3. */
Test(dns, repeats_the_do_bit_as_it_was_sent)
{
	struct dns_answer answers[DNS_QUESTIONS_MAX] = {};
	uint8_t bytes[sizeof(two_questions)], reply[128];
	struct dns_query query;
	size_t n;

	memcpy(bytes, two_questions, sizeof(bytes));
	bytes[sizeof(bytes) - 4] = 0xff;
	cr_assert_eq(parse(bytes, sizeof(bytes), &query), 0);
	n = dns_reply_build(bytes, &query, answers, DNS_RCODE_NOERROR, reply, sizeof(reply));
	cr_assert_eq(n, sizeof(bytes));
	cr_expect_eq(reply[n - 4], 0x80);
	cr_expect_eq(reply[n - 3], 0);
}

/* RFC 1035 section 4.1.1: 1, format error; 4, not implemented. */
Test(dns, refuses_with_a_header_what_it_cannot_read)
{
	static const struct {
		const char *query, *reply;
		size_t len;
	} cases[] = {
		{"\xab\xcd\x01\x00\x00\x01\0\0\0\0\0\0\x03", "\xab\xcd\x81\x81\0\0\0\0\0\0\0\0",
		 13},
		{"\xab\xcd\x00\x00\x00\x00\0\0\0\0\0\0", "\xab\xcd\x80\x81\0\0\0\0\0\0\0\0", 12},
		{"\xab\xcd\x24\x00\x00\x01\0\0\0\0\0\0", "\xab\xcd\xa0\x84\0\0\0\0\0\0\0\0", 12},
		{"\xab\xcd\x81\x00\x00\x01\0\0\0\0\0\0", NULL, 12},
		{"\xab\xcd\x01\x00\x00\x01\0\0\0\0\0", NULL, 11},
		{"", NULL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_free_ uint8_t *query = exact_copy(cases[i].query, cases[i].len);
		uint8_t reply[DNS_HEADER_SIZE];
		size_t n = dns_refusal_build(query, cases[i].len, reply);

		cr_assert_eq(n, cases[i].reply ? DNS_HEADER_SIZE : 0, "case %zu", i);
		if (n)
			cr_expect_arr_eq(reply, cases[i].reply, n, "case %zu", i);
	}
}

Test(dns, tells_queries_by_their_header)
{
	/* The first packet of QUIC (RFC 9001 appendix A.2) has 264 "questions". */
	static const uint8_t quic[] = {0xc3, 0,	   0,	 0,    1,    0x08, 0x83, 0x94, 0xc8,
				       0xf0, 0x3e, 0x51, 0x57, 0x08, 0,	   0,	 0x44, 0x9e};

	cr_expect_not(dns_looks_like_query(quic, sizeof(quic)));
	cr_expect(dns_looks_like_query(plain, sizeof(plain)));
	cr_expect_not(dns_looks_like_query(plain, 16));
	cr_expect_not(dns_looks_like_query((const uint8_t *)"hello, this is text", 19));
}
