/* SPDX-License-Identifier: Apache-2.0 */
/* Rule files: docs/rules.md. Read strictly: whatever is not understood is an error. */
#ifndef QP_RULES_RULESET_H
#define QP_RULES_RULESET_H

#include "base/error.h"
#include "rules/condition.h"
#include "rules/verdict.h"

#include <stddef.h>

#define RULESET_BYTES_MAX (1U << 20)
#define RULESET_RULES_MAX 128

struct rule {
	char *id, *text;
	enum verdict_level tier; /* review or do-not-install */
	struct condition when;
};

struct ruleset {
	struct pattern_sets sets;
	struct rule *rules;
	size_t cnt;
};

/*
 * Compiles the rule file of @len bytes at @text; @file is its name in errors. -EINVAL with
 * file, line and column in @err for an unknown key, a bad pattern, a duplicate id and
 * anything else that is wrong; -EFBIG past RULESET_BYTES_MAX; -ENOMEM.
 */
int ruleset_parse(const char *text, size_t len, const char *file, struct ruleset **ret_ruleset,
		  struct qp_error *err);

void ruleset_free(struct ruleset *ruleset);

/* rules/default.json as it was when qp was built; NUL-terminated, lives forever. */
const char *ruleset_default_text(void);

#endif
