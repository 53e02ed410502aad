/* SPDX-License-Identifier: Apache-2.0 */
/* What a question is answered with, as a name server of an ordinary domain might. */
#ifndef QP_SINKHOLE_ANSWERS_H
#define QP_SINKHOLE_ANSWERS_H

#include "sinkhole/dns.h"
#include "sinkhole/names.h"

/* The answer as people write it, escaped as names are. */
#define ANSWER_TEXT_SIZE (DNS_NAME_TEXT_SIZE + 32)

/*
 * A and AAAA: the name's own address. PTR: the name that has the address. MX, NS, TXT, SRV,
 * HTTPS: made from the name. Names that begin with "www." are aliases (CNAME) of the rest, which
 * is what they answer for. Any other type or class, and a name that leaves no room, gets none:
 * size 0 and an empty text.
 *
 * DNS_RCODE_NOERROR; DNS_RCODE_SERVFAIL when no address is left, DNS_RCODE_NXDOMAIN for an
 * address that no name has.
 */
enum dns_rcode answer_make(struct names *names, const struct dns_question *question,
			   struct dns_answer *ret_answer, char ret_text[static ANSWER_TEXT_SIZE]);

#endif
