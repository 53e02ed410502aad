/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a JSON value holds text that looks like a credential. */
#ifndef QP_RULES_SECRETSCAN_H
#define QP_RULES_SECRETSCAN_H

#include <jansson.h>

#define SECRETSCAN_HITS_MAX 1000

/*
 * Looks through every string and key of @value. *ret_scan becomes {"pass": bool, "hits":
 * [{"pointer", "pattern"}]}: where (RFC 6901) and what kind, never the text itself. Hits
 * past SECRETSCAN_HITS_MAX are left out; "pass" is false all the same. -ENOMEM, or -ELOOP
 * past 256 levels.
 */
int secretscan_json(const json_t *value, json_t **ret_scan);

/* The name of the first credential pattern found in the text, or NULL. */
const char *secretscan_text(const char *text, size_t len);

#endif
