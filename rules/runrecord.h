/* SPDX-License-Identifier: Apache-2.0 */
/* The run record, qp-run-record/1: what was sent, what came back, which sandbox ran it.
 * docs/signed-receipts.md */
#ifndef QP_RULES_RUNRECORD_H
#define QP_RULES_RUNRECORD_H

#include "rules/derive.h"

#include <jansson.h>
#include <stdbool.h>

/* What one log says, judged: all that a record and a statement are made of. */
struct claim_source {
	const struct run_facts *facts;
	const json_t *receipt;
	const char *rules_name;	  /* NULL: the built-in ones */
	const char *rules_sha256; /* of the rule file's text */
};

/*
 * The record of the run whose log @source was made of. @previous is the SHA-256 of the
 * bundle's line before, 64 zeros for its first. A pure function; NULL when out of memory.
 */
json_t *runrecord_build(const struct claim_source *source, const char *previous);

/* "sha512-<base64>" of an integrity to 128 lowercase hex digits. False when it has none. */
bool integrity_sha512(const char *integrity, char ret_hex[static 129]);

#endif
