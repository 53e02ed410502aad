/* SPDX-License-Identifier: Apache-2.0 */
/* A receipt as one HTML file: no scripts, nothing loaded from anywhere. */
#ifndef QP_TOOLS_SHOW_HTML_H
#define QP_TOOLS_SHOW_HTML_H

#include <jansson.h>
#include <stdio.h>

/* Prints the whole document. The receipt may be anyone's: all of its text comes out inert.
 * 0 or -ENOMEM; errors of @out are left to the caller. */
int html_print(FILE *out, const json_t *receipt);

#endif
