/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of patterns: the named sets of a rule file, and what a condition asks of a field. */
#ifndef QP_RULES_PATTERNS_H
#define QP_RULES_PATTERNS_H

#include "rules/glob.h"
#include "rules/reader.h"

#include <stdbool.h>

#define SETS_MAX	   64
#define SET_PATTERNS_MAX   1024 /* of one set or list */
#define SET_NAME_BYTES_MAX 64

struct pattern_set {
	char *name;
	struct glob **globs;
	size_t cnt;
};

struct pattern_sets {
	struct pattern_set *items;
	size_t cnt;
};

/* The sets whose members a run's evidence names, literally. */
enum run_set {
	RUN_SET_DECOY_FILES, /* "@decoy-files" */
	RUN_SET_DECOY_NAMES, /* "@decoy-names" */
	RUN_SET_MADE_FILES,  /* "@made-files": that the package made earlier in the run */
	RUN_SET_CNT,
};

/* Each an object whose keys are the set's members, or NULL. */
struct run_sets {
	json_t *items[RUN_SET_CNT];
};

/* One pattern, or a list: a text matches when any of it does. */
struct pattern_list {
	struct glob **globs;
	size_t globs_cnt;
	const struct pattern_set **sets; /* borrowed */
	size_t sets_cnt;
	bool run_sets[RUN_SET_CNT];
	bool given;
};

/* Reads the object "sets" that the reader stands on. 0, -ENOMEM or -EINVAL. */
int pattern_sets_read(struct reader *reader, const json_t *value, struct pattern_sets *ret_sets);

/* Reads one string or an array of them, each a pattern or "@" and a set's name. */
int pattern_list_read(struct reader *reader, const json_t *value, const struct pattern_sets *sets,
		      struct pattern_list *ret_list);

/* A NULL text matches nothing. */
bool pattern_list_match(const struct pattern_list *list, const char *text,
			const struct glob_values *values, const struct run_sets *run);

void pattern_sets_clear(struct pattern_sets *sets);
void pattern_list_clear(struct pattern_list *list);

#endif
