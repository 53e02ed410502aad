/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are asked for to carry something, not to be answered. */
#ifndef QP_SINKHOLE_DNS_DATA_H
#define QP_SINKHOLE_DNS_DATA_H

#include <stdbool.h>
#include <stddef.h>

/* Characters of the labels below the last two from which on nobody made them for a host. */
#define DNS_DATA_LENGTH_MIN 100
/* The same of labels that look like encoded bytes. */
#define DNS_DATA_RANDOM_MIN 40
/* Hundredths of a bit for each character: forty hexadecimal digits of text have some 330, of
 * random bytes 380. */
#define DNS_DATA_ENTROPY_MIN 300

struct dns_data {
	size_t chars;	  /* of the labels below the last two, dots left out */
	unsigned entropy; /* of the one that has most, in hundredths of a bit a character */
	bool by_length, by_entropy;
};

/* @name as dns_query_parse spells it. True when it carries data. */
bool dns_data_find(const char *name, struct dns_data *ret_data);

#endif
