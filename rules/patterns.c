// SPDX-License-Identifier: Apache-2.0
/* Sets and lists of patterns, as a rule file gives them. */
#include "rules/patterns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const run_set_names[RUN_SET_CNT] = {
	[RUN_SET_DECOY_FILES] = "decoy-files",
	[RUN_SET_DECOY_NAMES] = "decoy-names",
	[RUN_SET_MADE_FILES] = "made-files",
};

static int run_set_find(const char *name)
{
	for (int i = 0; i < RUN_SET_CNT; i++)
		if (!strcmp(run_set_names[i], name))
			return i;
	return -1;
}

static const struct pattern_set *set_find(const struct pattern_sets *sets, const char *name)
{
	for (size_t i = 0; i < sets->cnt; i++)
		if (!strcmp(sets->items[i].name, name))
			return &sets->items[i];
	return NULL;
}

/* The reader stands on @value. */
static int glob_read(struct reader *reader, const json_t *value, struct glob **ret_glob)
{
	const char *reason;
	int r;

	if (!json_is_string(value))
		return reader_fail(reader, READER_AT_VALUE, "a pattern must be a string");
	r = glob_parse(json_string_value(value), json_string_length(value), ret_glob, &reason);
	return r == -EINVAL ? reader_fail(reader, READER_AT_VALUE, "bad pattern: %s", reason) : r;
}

/* The name of a set in the file, on whose key the reader stands. */
static int set_name_check(struct reader *reader, const char *name)
{
	size_t len = strlen(name);

	if (!len || len > SET_NAME_BYTES_MAX ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
		return reader_fail(reader, READER_AT_KEY,
				   "a set's name is 1 to %d of a-z, 0-9 and \"-\"",
				   SET_NAME_BYTES_MAX);
	if (run_set_find(name) >= 0)
		return reader_fail(reader, READER_AT_KEY,
				   "the set \"%s\" is made from each run and cannot be given",
				   name);
	return 0;
}

static int set_read(struct reader *reader, const char *name, const json_t *value,
		    struct pattern_set *set)
{
	size_t cnt = json_array_size(value);
	int r = set_name_check(reader, name);

	if (r)
		return r;
	if (!cnt || cnt > SET_PATTERNS_MAX)
		return reader_fail(reader, READER_AT_VALUE,
				   "a set must be an array of 1 to %d patterns", SET_PATTERNS_MAX);
	set->name = strdup(name);
	set->globs = calloc(cnt, sizeof(*set->globs));
	if (!set->name || !set->globs)
		return -ENOMEM;
	for (size_t i = 0; !r && i < cnt; i++) {
		reader_enter_index(reader, i);
		r = glob_read(reader, json_array_get(value, i), &set->globs[i]);
		reader_leave(reader);
		set->cnt += !r;
	}
	return r;
}

int pattern_sets_read(struct reader *reader, const json_t *value, struct pattern_sets *ret_sets)
{
	struct pattern_sets sets = {0};
	const char *name;
	json_t *patterns;
	int r = 0;

	if (!json_is_object(value) || json_object_size(value) > SETS_MAX)
		return reader_fail(reader, READER_AT_VALUE,
				   "\"sets\" must be an object of at most %d sets", SETS_MAX);
	if (!json_object_size(value))
		return 0;
	sets.items = calloc(json_object_size(value), sizeof(*sets.items));
	if (!sets.items)
		return -ENOMEM;
	json_object_foreach ((json_t *)value, name, patterns) {
		reader_enter_key(reader, name);
		r = set_read(reader, name, patterns, &sets.items[sets.cnt++]);
		reader_leave(reader);
		if (r) {
			pattern_sets_clear(&sets);
			return r;
		}
	}
	*ret_sets = sets;
	return 0;
}

static int list_add(struct reader *reader, const json_t *value, const struct pattern_sets *sets,
		    struct pattern_list *list)
{
	const char *text = json_string_value(value);
	const struct pattern_set *set;
	int run_set, r;

	if (!text || text[0] != '@') {
		r = glob_read(reader, value, &list->globs[list->globs_cnt]);
		list->globs_cnt += !r;
		return r;
	}
	run_set = run_set_find(text + 1);
	set = set_find(sets, text + 1);
	if (run_set >= 0)
		list->run_sets[run_set] = true;
	else if (set)
		list->sets[list->sets_cnt++] = set;
	else
		return reader_fail(reader, READER_AT_VALUE, "unknown set \"%s\"", text);
	return 0;
}

int pattern_list_read(struct reader *reader, const json_t *value, const struct pattern_sets *sets,
		      struct pattern_list *ret_list)
{
	size_t cnt = json_is_array(value) ? json_array_size(value) : 1;
	struct pattern_list list = {.given = true};
	int r = 0;

	if (!cnt || cnt > SET_PATTERNS_MAX)
		return reader_fail(reader, READER_AT_VALUE, "a list must hold 1 to %d patterns",
				   SET_PATTERNS_MAX);
	list.globs = calloc(cnt, sizeof(*list.globs));
	list.sets = calloc(cnt, sizeof(*list.sets));
	if (!list.globs || !list.sets)
		r = -ENOMEM;
	if (!r && !json_is_array(value))
		r = list_add(reader, value, sets, &list);
	for (size_t i = 0; !r && json_is_array(value) && i < cnt; i++) {
		reader_enter_index(reader, i);
		r = list_add(reader, json_array_get(value, i), sets, &list);
		reader_leave(reader);
	}
	if (r)
		pattern_list_clear(&list);
	else
		*ret_list = list;
	return r;
}

static bool globs_match(struct glob *const *globs, size_t cnt, const char *text,
			const struct glob_values *values)
{
	for (size_t i = 0; i < cnt; i++)
		if (glob_match(globs[i], text, values))
			return true;
	return false;
}

bool pattern_list_match(const struct pattern_list *list, const char *text,
			const struct glob_values *values, const struct run_sets *run)
{
	if (!text)
		return false;
	if (globs_match(list->globs, list->globs_cnt, text, values))
		return true;
	for (size_t i = 0; i < list->sets_cnt; i++)
		if (globs_match(list->sets[i]->globs, list->sets[i]->cnt, text, values))
			return true;
	for (int i = 0; i < RUN_SET_CNT; i++)
		if (list->run_sets[i] && json_object_get(run->items[i], text))
			return true;
	return false;
}

void pattern_sets_clear(struct pattern_sets *sets)
{
	for (size_t i = 0; i < sets->cnt; i++) {
		for (size_t j = 0; j < sets->items[i].cnt; j++)
			glob_free(sets->items[i].globs[j]);
		free(sets->items[i].globs);
		free(sets->items[i].name);
	}
	free(sets->items);
	*sets = (struct pattern_sets){0};
}

void pattern_list_clear(struct pattern_list *list)
{
	for (size_t i = 0; i < list->globs_cnt; i++)
		glob_free(list->globs[i]);
	free(list->globs);
	free(list->sets);
	*list = (struct pattern_list){0};
}
