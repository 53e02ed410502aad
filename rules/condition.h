/* SPDX-License-Identifier: Apache-2.0 */
/* The condition of a rule: read from the rule file, asked of one observation at a time. */
#ifndef QP_RULES_CONDITION_H
#define QP_RULES_CONDITION_H

#include "rules/observation.h"
#include "rules/patterns.h"

#define CONDITION_DEPTH_MAX    8
#define CONDITION_BRANCHES_MAX 64
#define CONDITION_MEMBERS_MAX  16
#define CONDITION_PORTS_MAX    64

/* The texts of an observation that patterns are asked of. */
enum condition_field {
	FIELD_PATH,
	FIELD_PATH2,
	FIELD_EXE,
	FIELD_ASKED,
	FIELD_PACKAGE,
	FIELD_DEST,
	FIELD_ORIG_DEST,
	FIELD_SNI,
	FIELD_PROTO,
	FIELD_CNT,
};

struct port_range {
	uint16_t first, last;
};

/* What is asked of a member that only some kinds have. */
struct member_test {
	char *name;
	json_t *values; /* array: numbers, booleans and nulls that are right */
	struct pattern_list patterns;
};

/* Everything that is given must hold. Masks have a bit per enum value; 0: not given. */
struct condition {
	uint32_t kinds, actors, outcomes, blocked, payload, has;
	struct pattern_list fields[FIELD_CNT];
	struct port_range *ports;
	size_t ports_cnt;
	struct member_test *members;
	size_t members_cnt;
	struct condition *all, *any; /* arrays */
	size_t all_cnt, any_cnt;
	struct condition *negated;
};

/* What a condition is asked about. */
struct condition_subject {
	const struct observation *observation;
	struct glob_values values;
	struct run_sets run;
};

/* Reads the object that the reader stands on. 0, -ENOMEM or -EINVAL. */
int condition_read(struct reader *reader, const json_t *value, const struct pattern_sets *sets,
		   struct condition *ret_condition);

bool condition_holds(const struct condition *condition, const struct condition_subject *subject);

void condition_clear(struct condition *condition);

#endif
