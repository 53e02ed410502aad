/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the HTML document, and how text gets into it. */
#ifndef QP_TOOLS_SHOW_HTML_PARTS_H
#define QP_TOOLS_SHOW_HTML_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * The only ways for a receipt's text into the document. Markup is escaped, and every control
 * character, character that reorders text or byte that is no UTF-8 is spelt \xHH. Text longer
 * than a bound is cut with an ellipsis.
 */
int html_text(FILE *out, const char *text);
int html_lines(FILE *out, const char *text); /* newlines and tabs stay */

/* A string, a number or a boolean as text, compact JSON of all else, a dash for null. */
int html_value(FILE *out, const json_t *value);

/* A table cell with that value; @label is its column's name, a constant. */
int html_cell(FILE *out, const char *label, const json_t *value);

/* Whether @id is "o" and digits: such a text may be an anchor. */
bool html_is_anchor(const char *id);

/* A link to the observation @id, or its text where it is no anchor. */
int html_link(FILE *out, const char *id);

/* One class name of the style sheet for a verdict or a rule's tier. */
const char *html_verdict_class(const char *verdict);

/* The sections, each with its heading. 0 or -ENOMEM. */
int html_rules(FILE *out, const json_t *receipt);
int html_observations(FILE *out, const json_t *receipt);
int html_network(FILE *out, const json_t *receipt);
int html_completeness(FILE *out, const json_t *receipt);
int html_sandbox(FILE *out, const json_t *receipt);
int html_evidence(FILE *out, const json_t *receipt);
int html_limitations(FILE *out, const json_t *receipt);
int html_output(FILE *out, const json_t *receipt);

/* The style sheet. */
extern const char html_style[];

#endif
