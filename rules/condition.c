// SPDX-License-Identifier: Apache-2.0
/* Whether a condition holds of an observation. condition_read.c makes conditions. */
#include "rules/condition.h"

#include <stdlib.h>

static const char *field_text(const struct observation *observation, enum condition_field field)
{
	switch (field) {
	case FIELD_PATH:
		return observation->path;
	case FIELD_PATH2:
		return observation->path2;
	case FIELD_EXE:
		return observation->exe;
	case FIELD_ASKED:
		return observation->asked;
	case FIELD_PACKAGE:
		return observation->package;
	case FIELD_DEST:
		return observation->dest;
	case FIELD_ORIG_DEST:
		return observation->orig_dest;
	case FIELD_SNI:
		return observation->sni;
	case FIELD_PROTO:
		return observation->proto;
	case FIELD_CNT:
		break;
	}
	return NULL;
}

static bool in_mask(uint32_t mask, int value)
{
	return !mask || (mask & UINT32_C(1) << value);
}

static bool ports_hold(const struct condition *condition, int64_t port)
{
	for (size_t i = 0; i < condition->ports_cnt; i++)
		if (port >= condition->ports[i].first && port <= condition->ports[i].last)
			return true;
	return !condition->ports_cnt;
}

static bool value_holds(const struct member_test *test, const json_t *value,
			const struct condition_subject *subject)
{
	if (json_is_string(value))
		return pattern_list_match(&test->patterns, json_string_value(value),
					  &subject->values, &subject->run);
	for (size_t i = 0; i < json_array_size(test->values); i++)
		if (json_equal(json_array_get(test->values, i), value))
			return true;
	return false;
}

/* Of an array any element may be the right one. A member that is not there is like null. */
static bool member_holds(const struct member_test *test, const struct condition_subject *subject)
{
	json_t *value = json_object_get(subject->observation->extra, test->name);
	json_t *null = json_null();

	if (!json_is_array(value))
		return value_holds(test, value ? value : null, subject);
	for (size_t i = 0; i < json_array_size(value); i++)
		if (value_holds(test, json_array_get(value, i), subject))
			return true;
	return false;
}

static bool fields_hold(const struct condition *condition, const struct condition_subject *subject)
{
	for (int i = 0; i < FIELD_CNT; i++) {
		const char *text = field_text(subject->observation, (enum condition_field)i);

		if ((condition->has & UINT32_C(1) << i) && !text)
			return false;
		if (condition->fields[i].given &&
		    !pattern_list_match(&condition->fields[i], text, &subject->values,
					&subject->run))
			return false;
	}
	return true;
}

static bool branches_hold(const struct condition *condition,
			  const struct condition_subject *subject)
{
	bool any = !condition->any_cnt;

	if (condition->negated && condition_holds(condition->negated, subject))
		return false;
	for (size_t i = 0; i < condition->all_cnt; i++)
		if (!condition_holds(&condition->all[i], subject))
			return false;
	for (size_t i = 0; !any && i < condition->any_cnt; i++)
		any = condition_holds(&condition->any[i], subject);
	return any;
}

bool condition_holds(const struct condition *condition, const struct condition_subject *subject)
{
	const struct observation *observation = subject->observation;

	if (!in_mask(condition->kinds, observation->kind) ||
	    !in_mask(condition->actors, observation->actor) ||
	    !in_mask(condition->outcomes, observation->outcome) ||
	    !in_mask(condition->blocked, observation->blocked) ||
	    !in_mask(condition->payload, observation->payload) ||
	    !ports_hold(condition, observation->port))
		return false;
	for (size_t i = 0; i < condition->members_cnt; i++)
		if (!member_holds(&condition->members[i], subject))
			return false;
	return fields_hold(condition, subject) && branches_hold(condition, subject);
}

static void branches_clear(struct condition *branches, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		condition_clear(&branches[i]);
	free(branches);
}

void condition_clear(struct condition *condition)
{
	for (int i = 0; i < FIELD_CNT; i++)
		pattern_list_clear(&condition->fields[i]);
	for (size_t i = 0; i < condition->members_cnt; i++) {
		free(condition->members[i].name);
		json_decref(condition->members[i].values);
		pattern_list_clear(&condition->members[i].patterns);
	}
	free(condition->members);
	free(condition->ports);
	branches_clear(condition->all, condition->all_cnt);
	branches_clear(condition->any, condition->any_cnt);
	branches_clear(condition->negated, condition->negated ? 1 : 0);
	*condition = (struct condition){0};
}
