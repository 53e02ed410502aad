/* SPDX-License-Identifier: Apache-2.0 */
/* The receipt's larger members, each built by a file of its own. NULL: out of memory. */
#ifndef QP_RULES_RECEIPT_PARTS_H
#define QP_RULES_RECEIPT_PARTS_H

#include "rules/derive.h"

#include <jansson.h>
#include <stdbool.h>

/* Sets @key of @object and takes @value over. A NULL value or object sets *r to -ENOMEM. */
void member_set(json_t *object, const char *key, json_t *value, int *r);

/* A new reference to @key of @object, a new null when it is not there. */
json_t *member_or_null(const json_t *object, const char *key);

/* A copy of @object, which may be NULL or no object: then an empty one. */
json_t *object_copy(const json_t *object);

/* Round of the sandbox that the facts are of, from 1. */
json_int_t facts_round(const struct run_facts *facts);

/* Whether the run came to the sandbox at all. */
bool facts_have_sandbox(const struct run_facts *facts);

/* Wall time of the sandbox in seconds, to the millisecond; null when it is not known. */
json_t *seconds_json(const struct run_facts *facts);

json_t *receipt_sandbox(const struct run_facts *facts); /* null without a sandbox */
json_t *receipt_runs(const struct run_facts *facts);
json_t *receipt_harness(const struct run_facts *facts);
json_t *receipt_completeness(const struct run_facts *facts);
json_t *receipt_sandbox_scan(const struct run_facts *facts); /* secretScan.sandbox */
json_t *receipt_observations(const struct run_facts *facts);
json_t *receipt_explanation(void);
json_t *receipt_model(void);
json_t *receipt_prediction(const struct run_facts *facts);
json_t *receipt_evidence(const struct run_facts *facts);

#endif
