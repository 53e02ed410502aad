/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the folding share. */
#ifndef QP_TOOLS_DIFF_FOLD_INTERNAL_H
#define QP_TOOLS_DIFF_FOLD_INTERNAL_H

#include "tools/diff/fold.h"

#include <netinet/in.h>
#include <stddef.h>

struct fold {
	const char *package, *version; /* borrowed from the receipt, "" where it has none */
	const char *host;	       /* likewise */
	const char *home, *user;       /* likewise; user is the home's last name */
	char uid[24];
	struct in_addr subnet, mask; /* host byte order; a mask of 0: none known */
	json_t *temporary; /* set of the paths of files that were made and went away again */
	json_t *names;	   /* address as inet_ntop spells it -> name it was given for */
};

#define ADDRESS_SIZE (INET6_ADDRSTRLEN + 2)

/* What is written instead of @address: the name it was given for, in braces what it is, or
 * NULL when it is to stay. Borrowed from @fold. */
const char *fold_address_word(const struct fold *fold, const char *address);

/* The word for the address that begins at @text, its length in *ret_len; NULL if none does,
 * or if it is to stay. */
const char *fold_address_at(const struct fold *fold, const char *text, size_t *ret_len);

#endif
