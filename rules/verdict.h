/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a run, and which rules led to it. */
#ifndef QP_RULES_VERDICT_H
#define QP_RULES_VERDICT_H

#include <stddef.h>

enum verdict_level {
	VERDICT_INSTALL,
	VERDICT_REVIEW,
	VERDICT_DO_NOT_INSTALL,
	VERDICT_LEVEL_CNT,
};

/* "install", "review", "do-not-install" */
const char *verdict_level_name(enum verdict_level level);

/* The level of that name, or -1. */
int verdict_level_parse(const char *name);

/* The exit code of `qp run`: 0, 10, 20. */
int verdict_exit_code(enum verdict_level level);

/* One rule that fired. */
struct fired_rule {
	const char *id, *text; /* the ruleset's; live as long as it does */
	enum verdict_level tier;
	size_t *observations; /* indices in the run's observations, ascending */
	size_t cnt;
};

struct verdict {
	enum verdict_level level;
	struct fired_rule *fired; /* in the order of the rule file */
	size_t fired_cnt;
};

void verdict_clear(struct verdict *verdict);

#endif
