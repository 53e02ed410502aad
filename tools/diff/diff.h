/* SPDX-License-Identifier: Apache-2.0 */
/* What one receipt tells that another does not: as JSON, and in words. */
#ifndef QP_TOOLS_DIFF_DIFF_H
#define QP_TOOLS_DIFF_DIFF_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Compares the receipts @a and @b, whoever made them: the object of docs/diff.md, a function
 * of the two and nothing else. 0, -ENOMEM, or what canon_dump returns.
 */
int diff_build(const json_t *a, const json_t *b, json_t **ret_diff);

/* Whether diff_build found no difference. */
bool diff_is_same(const json_t *diff);

struct diff_options {
	bool color;
	bool all; /* no list cut short */
};

/* Prints it: a section for each kind of thing, "-" for what only A has, "+" for B. */
void diff_print(FILE *out, const json_t *diff, const struct diff_options *options);

#endif
