/* SPDX-License-Identifier: Apache-2.0 */
/* From an evidence log to the facts of its run. */
#ifndef QP_COLLECTOR_DECODE_H
#define QP_COLLECTOR_DECODE_H

#include "base/error.h"
#include "collector/log.h"
#include "rules/derive.h"

/*
 * Reads @reader to its end. *ret_facts, whatever it held, is set on success only and then
 * the caller's (run_facts_clear). A pure function of the log's bytes; what is wrong with
 * them makes markers false, not errors. 0 or -ENOMEM.
 */
int decode_log(struct log_reader *reader, struct run_facts *ret_facts, struct qp_error *err);

#endif
