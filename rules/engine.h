/* SPDX-License-Identifier: Apache-2.0 */
/* The judge: rules and facts in, a verdict out; no clock, no host, no order but theirs. */
#ifndef QP_RULES_ENGINE_H
#define QP_RULES_ENGINE_H

#include "rules/derive.h"
#include "rules/ruleset.h"
#include "rules/verdict.h"

/*
 * Asks every rule of every observation. The level is the worst tier among the rules that
 * fired; VERDICT_INSTALL only when none did and every completeness marker is ok, otherwise
 * VERDICT_REVIEW. The caller clears *ret_verdict, whose texts are @ruleset's. 0 or -ENOMEM.
 */
int engine_judge(const struct ruleset *ruleset, const struct run_facts *facts,
		 struct verdict *ret_verdict);

#endif
