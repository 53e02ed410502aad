// SPDX-License-Identifier: Apache-2.0
/* The builder of DNS replies. */
#include "sinkhole/dns.h"

#include <string.h>

#define FLAG_QR	      0x8000
#define FLAG_TC	      0x0200
#define FLAG_RD	      0x0100
#define FLAG_RA	      0x0080
#define FLAG_DO	      0x8000 /* of an OPT record */
#define OPCODE_MASK   0x7800
#define RCODE_FORMERR 1
#define RCODE_NOTIMP  4
#define TTL_SECONDS   60
#define OUR_UDP_SIZE  1232 /* what DNS Flag Day 2020 settled on */
#define OPT_SIZE      11
#define ANSWER_FIXED  12 /* pointer, type, class, TTL, length */
#define RCODE_BADVERS 16 /* RFC 6891 section 9; its upper bits go into the OPT record */
#define POINTER	      0xc000

static uint8_t *put16(uint8_t *out, unsigned value)
{
	out[0] = (uint8_t)(value >> 8);
	out[1] = (uint8_t)value;
	return out + 2;
}

static uint8_t *header_put(uint8_t *out, const struct dns_query *query, unsigned flags,
			   unsigned questions, unsigned answers)
{
	out = put16(out, query->id);
	out = put16(out, FLAG_QR | FLAG_RA | (query->flags & FLAG_RD) | flags);
	out = put16(out, questions);
	out = put16(out, answers);
	out = put16(out, 0);
	return put16(out, query->has_opt);
}

static uint8_t *record_put(uint8_t *out, size_t owner, uint16_t type, uint16_t class,
			   const uint8_t *data, size_t size)
{
	out = put16(out, (unsigned)(POINTER | owner));
	out = put16(out, type);
	out = put16(out, class);
	out = put16(out, 0);
	out = put16(out, TTL_SECONDS);
	out = put16(out, (unsigned)size);
	memcpy(out, data, size);
	return out + size;
}

/* The answer into the message that begins at @buf; *cnt grows by the records. */
static uint8_t *answer_put(uint8_t *buf, uint8_t *out, const struct dns_question *question,
			   const struct dns_answer *answer, unsigned *cnt)
{
	size_t owner = question->offset;

	if (answer->alias_size) {
		/* The alias is the owner of what follows: its data lies behind the fixed part. */
		size_t alias_at = (size_t)(out - buf) + ANSWER_FIXED;

		out = record_put(out, owner, DNS_TYPE_CNAME, question->class, answer->alias,
				 answer->alias_size);
		owner = alias_at;
		++*cnt;
	}
	++*cnt;
	return record_put(out, owner, question->type, question->class, answer->data, answer->size);
}

static uint8_t *opt_put(uint8_t *out, const struct dns_query *query, unsigned rcode)
{
	*out++ = 0; /* the root's name */
	out = put16(out, DNS_TYPE_OPT);
	out = put16(out, OUR_UDP_SIZE);
	*out++ = (uint8_t)(rcode >> 4);
	*out++ = 0;				      /* version */
	out = put16(out, query->opt_flags & FLAG_DO); /* RFC 3225 section 3: as it was asked */
	return put16(out, 0);
}

/* Resolvers drop a reply that does not repeat what they asked, the TC bit or not. */
static size_t truncated_build(const uint8_t *bytes, const struct dns_query *query, unsigned code,
			      uint8_t *buf, size_t size)
{
	size_t opt_size = query->has_opt ? OPT_SIZE : 0;
	bool repeats = query->questions_end + opt_size <= size;
	size_t questions_size = repeats ? query->questions_end - DNS_HEADER_SIZE : 0;
	uint8_t *out;

	if (DNS_HEADER_SIZE + opt_size > size)
		return 0;
	out = header_put(buf, query, FLAG_TC | (code & 15),
			 repeats ? (unsigned)query->questions_cnt : 0, 0);
	memcpy(out, bytes + DNS_HEADER_SIZE, questions_size);
	out += questions_size;
	return (size_t)((query->has_opt ? opt_put(out, query, code) : out) - buf);
}

size_t dns_reply_build(const uint8_t *bytes, const struct dns_query *query,
		       const struct dns_answer answers[static DNS_QUESTIONS_MAX],
		       enum dns_rcode rcode, uint8_t *buf, size_t size)
{
	size_t opt_size = query->has_opt ? OPT_SIZE : 0;
	size_t questions_size = query->questions_end - DNS_HEADER_SIZE;
	size_t needed = query->questions_end + opt_size;
	bool bad_version = query->has_opt && query->opt_version != 0;
	unsigned code = bad_version ? RCODE_BADVERS : (unsigned)rcode;
	unsigned cnt = 0;
	uint8_t *out;

	for (size_t i = 0; i < query->questions_cnt && !code; i++) {
		if (!answers[i].size)
			continue;
		needed += ANSWER_FIXED + answers[i].size;
		if (answers[i].alias_size)
			needed += ANSWER_FIXED + answers[i].alias_size;
	}
	if (needed > size)
		return truncated_build(bytes, query, code, buf, size);
	out = buf + DNS_HEADER_SIZE;
	memcpy(out, bytes + DNS_HEADER_SIZE, questions_size);
	out += questions_size;
	for (size_t i = 0; i < query->questions_cnt && !code; i++)
		if (answers[i].size)
			out = answer_put(buf, out, &query->questions[i], &answers[i], &cnt);
	header_put(buf, query, code & 15, (unsigned)query->questions_cnt, cnt);
	if (query->has_opt)
		out = opt_put(out, query, code);
	return (size_t)(out - buf);
}

size_t dns_refusal_build(const uint8_t *bytes, size_t len, uint8_t buf[static DNS_HEADER_SIZE])
{
	unsigned flags = len < DNS_HEADER_SIZE ? FLAG_QR : (unsigned)bytes[2] << 8 | bytes[3];

	if (flags & FLAG_QR)
		return 0;
	memset(buf, 0, DNS_HEADER_SIZE);
	memcpy(buf, bytes, 2);
	put16(buf + 2, FLAG_QR | FLAG_RA | (flags & (OPCODE_MASK | FLAG_RD)) |
			       (flags & OPCODE_MASK ? RCODE_NOTIMP : RCODE_FORMERR));
	return DNS_HEADER_SIZE;
}
