/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS messages (RFC 1035, EDNS0 of RFC 6891): queries are parsed strictly, so that nothing
 * rides along unseen, and answered. No state, no sockets.
 */
#ifndef QP_SINKHOLE_DNS_H
#define QP_SINKHOLE_DNS_H

#include "sinkhole/endpoint.h"

#include <stddef.h>

#define DNS_HEADER_SIZE	   12
#define DNS_MESSAGE_MAX	   65535
#define DNS_QUESTIONS_MAX  16
#define DNS_NAME_MAX	   255 /* on the wire, RFC 1035 section 2.3.4 */
#define DNS_NAME_TEXT_SIZE (DNS_NAME_MAX * 4 + 1)
/* The smallest query: a header, the root's name, type and class. */
#define DNS_QUERY_MIN (DNS_HEADER_SIZE + 1 + 4)

#define DNS_TYPE_A     1
#define DNS_TYPE_NS    2
#define DNS_TYPE_CNAME 5
#define DNS_TYPE_PTR   12
#define DNS_TYPE_MX    15
#define DNS_TYPE_TXT   16
#define DNS_TYPE_AAAA  28
#define DNS_TYPE_SRV   33
#define DNS_TYPE_OPT   41
#define DNS_TYPE_HTTPS 65 /* RFC 9460 */
#define DNS_CLASS_IN   1

struct dns_question {
	size_t offset; /* of its name in the message */
	uint16_t type, class;
	/* Labels joined by dots, "." for the root. All but printable ASCII, and a backslash
	 * or a dot within a label, is spelt \xHH. */
	char name[DNS_NAME_TEXT_SIZE];
};

struct dns_query {
	uint16_t id, flags;
	struct dns_question questions[DNS_QUESTIONS_MAX];
	size_t questions_cnt; /* at least 1 */
	size_t questions_end; /* offset behind the last question */
	bool has_opt;
	uint8_t opt_version;
	uint16_t opt_payload; /* the UDP size that the client takes */
	uint16_t opt_flags;
};

/* Whether @bytes begin as a query does: long enough, no response, opcode QUERY, 1 to
 * DNS_QUESTIONS_MAX questions, no answers. */
bool dns_looks_like_query(const uint8_t *bytes, size_t len);

/*
 * Parses one whole query. 0, or -EBADMSG with *ret_why a literal that says what is wrong:
 * cut short, bytes left over, a name that is too long or points forward, a response, an
 * opcode other than QUERY, no question or more than DNS_QUESTIONS_MAX, answers or
 * authorities in a query, a second OPT.
 */
int dns_query_parse(const uint8_t *bytes, size_t len, struct dns_query *ret_query,
		    const char **ret_why);

#define DNS_RDATA_MAX (6 + DNS_NAME_MAX)
/* Two records: an alias, and what it stands for. All of 16 questions and answers are within
 * reach of a pointer's 14 bits. */
#define DNS_ANSWER_MAX (2 * 12 + DNS_NAME_MAX + DNS_RDATA_MAX)

/* What answers the question of the same index, of its type; size 0: no answer. */
struct dns_answer {
	size_t size;
	uint8_t data[DNS_RDATA_MAX];
	size_t alias_size; /* not 0: the name is an alias of this one, which has the data */
	uint8_t alias[DNS_NAME_MAX];
};

enum dns_rcode {
	DNS_RCODE_NOERROR = 0,
	DNS_RCODE_SERVFAIL = 2,
	DNS_RCODE_NXDOMAIN = 3,
};

/*
 * Writes the reply to @query, whose bytes were @bytes, into @buf. @size limits the reply:
 * when it does not fit, the reply has the questions, as long as they fit, and the TC bit. An EDNS
 * version other than 0 is answered BADVERS. Returns the length, 0 if not even a header fits.
 */
size_t dns_reply_build(const uint8_t *bytes, const struct dns_query *query,
		       const struct dns_answer answers[static DNS_QUESTIONS_MAX],
		       enum dns_rcode rcode, uint8_t *buf, size_t size);

/* The reply to what dns_query_parse refused: a header that says FORMERR, or NOTIMP for
 * another opcode. Its length, 0 for what needs none: a response, less than a header. */
size_t dns_refusal_build(const uint8_t *bytes, size_t len, uint8_t buf[static DNS_HEADER_SIZE]);

#endif
