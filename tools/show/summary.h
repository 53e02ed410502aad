/* SPDX-License-Identifier: Apache-2.0 */
/* A receipt for people: the verdict, why, what was not seen, where the files are. */
#ifndef QP_TOOLS_SHOW_SUMMARY_H
#define QP_TOOLS_SHOW_SUMMARY_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct summary_options {
	bool color;
	bool all;	       /* every observation, not only those of the rules that fired */
	const char *folder;    /* where the files are, or NULL not to say */
	const char *signature; /* whose it is, or that there is none; NULL not to say */
};

void summary_print(FILE *out, const json_t *receipt, const struct summary_options *options);

/*
 * One observation in a line, without the newline: who did what to what, and with which
 * outcome. Text in a receipt is escaped already; what a package chose is cut at a bound.
 */
void observation_describe(FILE *out, const json_t *observation);

/* The same without who did it. */
void observation_deed(FILE *out, const json_t *observation);

/* Prints text of a receipt: what moves the cursor or hides text as '?', cut with an ellipsis at a
 * bound. */
void text_print(FILE *out, const char *text);

/* Reads a receipt file, whoever made it. -EBADMSG with the place when it is no receipt. */
int receipt_read(const char *path, json_t **ret_receipt, struct qp_error *err);

/* The observation with that id, or NULL; it stays the receipt's. */
const json_t *receipt_observation(const json_t *receipt, const char *id);

/* The string member @name of @object, or "" where it is missing, null or no string. */
const char *member_text(const json_t *object, const char *name);

#endif
