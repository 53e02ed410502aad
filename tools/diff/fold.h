/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs from run to run without anything being different: names, numbers and
 * addresses that the sandbox or the clock made up. Folding puts a word in braces in their
 * place, so that two receipts can be compared as text. Nothing here knows observations.
 */
#ifndef QP_TOOLS_DIFF_FOLD_H
#define QP_TOOLS_DIFF_FOLD_H

#include <jansson.h>
#include <stdbool.h>

/* What one receipt says of its own run. */
struct fold;

enum fold_as {
	FOLD_PATH, /* a path as a whole, spaces and all */
	FOLD_TEXT, /* a word of a command, a URL: paths in it end at a space, a quote or ':' */
	FOLD_NAME, /* a host name */
};

/* Reads home, user, package, addresses and names out of @receipt, whoever made it; what is
 * missing there is not folded. The receipt must outlive *ret_fold. 0 or -ENOMEM. */
int fold_new(const json_t *receipt, struct fold **ret_fold);
void fold_free(struct fold *fold);

/*
 * @text with everything of its run folded; a new string of the caller's, NULL when out of
 * memory. With @loose, whatever could be a random part of a temporary name counts as one;
 * otherwise only what can hardly be anything else.
 */
char *fold_text(const struct fold *fold, const char *text, enum fold_as as, bool loose);

/* "address:port" or "[address]:port", with the address alone folded. As fold_text. */
char *fold_address(const struct fold *fold, const char *endpoint);

/* The name of the package the receipt is of, or "". Borrowed. */
const char *fold_package(const struct fold *fold);

/* Whether @address belongs to the sandbox's own network, or is a loopback address. */
bool fold_is_local(const struct fold *fold, const char *address);

#endif
