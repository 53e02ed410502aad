/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of servers, made when a client asks for one and kept for the next. */
#ifndef QP_SINKHOLE_LEAF_H
#define QP_SINKHOLE_LEAF_H

#include "base/authority.h"
#include "sinkhole/endpoint.h"

#include <stdint.h>

#define LEAVES_MAX 256 /* kept; the oldest goes */

/* For whom a certificate is to be. */
struct leaf_subject {
	const void *name; /* what the client calls it, any bytes; NULL: nothing */
	size_t name_len;
	const char *known_as; /* the name that was answered with its address, or NULL */
	const struct endpoint *address;
};

struct leaf {
	EVP_PKEY *key;
	X509 *certificate;
	char *text; /* by which it is found */
};

struct leaves {
	const struct authority *authority; /* borrowed */
	struct leaf items[LEAVES_MAX];
	size_t next;
};

void leaves_clear(struct leaves *leaves);

/*
 * The certificate for @subject: its name where it is one that a certificate can have, else
 * its address, and what it is known as. It lives until LEAVES_MAX others were made. NULL
 * when it cannot be made.
 */
const struct leaf *leaf_for(struct leaves *leaves, const struct leaf_subject *subject);

#endif
