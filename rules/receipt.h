/* SPDX-License-Identifier: Apache-2.0 */
/* The receipt, qp-receipt/1: docs/receipt.schema.json. */
#ifndef QP_RULES_RECEIPT_H
#define QP_RULES_RECEIPT_H

#include "base/error.h"
#include "rules/derive.h"
#include "rules/ruleset.h"

#include <jansson.h>

/*
 * Judges @facts by @ruleset and builds the whole receipt, a function of the two and nothing
 * else. A run that was not completed is never VERDICT_INSTALL. The receipt may share values with
 * @facts: change neither while both are in use. The caller writes canon_dump(receipt) and a
 * newline. -ENOMEM, or -EBADMSG when the facts have no preamble.
 */
int receipt_build(const struct run_facts *facts, const struct ruleset *ruleset,
		  json_t **ret_receipt, struct qp_error *err);

#endif
