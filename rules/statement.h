/* SPDX-License-Identifier: Apache-2.0 */
/* The signed claim: an in-toto Statement v1. docs/signed-receipts.md,
 * docs/statement.schema.json */
#ifndef QP_RULES_STATEMENT_H
#define QP_RULES_STATEMENT_H

#include "rules/runrecord.h"

#define STATEMENT_TYPE		 "https://in-toto.io/Statement/v1"
#define STATEMENT_PREDICATE_TYPE "https://qp.example/receipt/v1"
#define STATEMENT_MONITOR_TYPE	 "https://qp.example/monitor/v1"
#define STATEMENT_SANDBOX_TYPE	 "https://qp.example/sandbox/v1"
#define STATEMENT_LOG_NAME	 "run.qplog"
#define STATEMENT_RECORD_NAME	 "run-record"

/*
 * The statement about the log that @source was made of and the run record of that digest.
 * A pure function; may share values with the receipt. NULL when out of memory.
 */
json_t *statement_build(const struct claim_source *source, const char *record_sha256);

/* The parts, in statement_log.c and statement_actors.c. NULL: out of memory. */
json_t *statement_monitor_log(const struct claim_source *source);
json_t *statement_actors(const struct claim_source *source);

/* Whether an observation is an open for writing, a file change or a network call. */
bool statement_has_side(const struct observation *observation);

/* The side it is on: of what is not known to have ended either way, undetermined. */
const char *statement_side(const struct observation *observation);

#endif
