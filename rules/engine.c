// SPDX-License-Identifier: Apache-2.0
/* Every rule asked of every observation, each once. */
#include "rules/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PID_TEXT_SIZE 24

/* An object with the strings of @list as its keys. */
static json_t *set_of(const json_t *list)
{
	json_t *set = json_object(), *item;
	size_t i;

	json_array_foreach (list, i, item) {
		if (json_is_string(item) &&
		    json_object_set_new_nocheck(set, json_string_value(item), json_true())) {
			json_decref(set);
			return NULL;
		}
	}
	return set;
}

static void subject_clear(struct condition_subject *subject)
{
	for (int i = 0; i < RUN_SET_CNT; i++)
		json_decref(subject->run.items[i]);
}

/* The areas and the sets of the run, as far as its evidence names them. */
static int subject_init(struct condition_subject *subject, const struct run_facts *facts)
{
	static const char *const areas[] = {
		[GLOB_WORK] = "work",
		[GLOB_TMP] = "tmp",
		[GLOB_HOME] = "home",
		[GLOB_SHM] = "shm",
	};
	const json_t *given = json_object_get(facts->preamble, "areas");

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++)
		subject->values.values[i] = json_string_value(json_object_get(given, areas[i]));
	subject->run.items[RUN_SET_DECOY_FILES] = set_of(json_object_get(facts->decoys, "files"));
	subject->run.items[RUN_SET_DECOY_NAMES] =
		set_of(json_object_get(facts->decoys, "envNames"));
	subject->run.items[RUN_SET_MADE_FILES] = json_object();
	for (int i = 0; i < RUN_SET_CNT; i++)
		if (!subject->run.items[i])
			return -ENOMEM;
	return 0;
}

/* What the package makes here is its own for all that follows. */
static int made_note(struct condition_subject *subject)
{
	const struct observation *observation = subject->observation;
	const char *made = NULL;

	if (observation->actor != ACTOR_PACKAGE || observation->outcome != OUTCOME_EFFECTED)
		return 0;
	if (observation->kind == OBSERVATION_FILE_CREATE)
		made = observation->path;
	else if (observation->kind == OBSERVATION_FILE_RENAME ||
		 observation->kind == OBSERVATION_FILE_LINK)
		made = observation->path2;
	if (!made)
		return 0;
	return json_object_set_new_nocheck(subject->run.items[RUN_SET_MADE_FILES], made,
					   json_true())
		       ? -ENOMEM
		       : 0;
}

static int fired_add(struct fired_rule *fired, size_t observation)
{
	/* Grown at powers of two, so that no count of what is allocated is needed. */
	if (!(fired->cnt & (fired->cnt - 1))) {
		size_t *grown = reallocarray(fired->observations, fired->cnt ? fired->cnt * 2 : 1,
					     sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		fired->observations = grown;
	}
	fired->observations[fired->cnt++] = observation;
	return 0;
}

static int observation_judge(const struct ruleset *ruleset, struct condition_subject *subject,
			     size_t index, struct fired_rule *fired)
{
	char pid[PID_TEXT_SIZE];
	int r = 0;

	snprintf(pid, sizeof(pid), "%" PRId64, subject->observation->pid);
	subject->values.values[GLOB_PID] = subject->observation->pid >= 0 ? pid : NULL;
	subject->values.values[GLOB_PACKAGE] = subject->observation->package;
	for (size_t i = 0; !r && i < ruleset->cnt; i++)
		if (condition_holds(&ruleset->rules[i].when, subject))
			r = fired_add(&fired[i], index);
	return r;
}

/* Names the rules that fired, drops the others, and finds the level. */
static void verdict_close(const struct ruleset *ruleset, const struct run_facts *facts,
			  struct verdict *verdict)
{
	size_t kept = 0;

	for (size_t i = 0; i < ruleset->cnt; i++) {
		struct fired_rule *fired = &verdict->fired[i];
		const struct rule *rule = &ruleset->rules[i];

		if (!fired->cnt)
			continue;
		fired->id = rule->id;
		fired->text = rule->text;
		fired->tier = rule->tier;
		if (rule->tier > verdict->level)
			verdict->level = rule->tier;
		verdict->fired[kept++] = *fired;
	}
	verdict->fired_cnt = kept;
	for (int i = 0; i < MARKER_CNT; i++)
		if (!facts->markers[i].ok && verdict->level == VERDICT_INSTALL)
			verdict->level = VERDICT_REVIEW;
}

int engine_judge(const struct ruleset *ruleset, const struct run_facts *facts,
		 struct verdict *ret_verdict)
{
	struct verdict verdict = {.level = VERDICT_INSTALL, .fired_cnt = ruleset->cnt};
	__attribute__((cleanup(subject_clear))) struct condition_subject subject = {0};
	int r = subject_init(&subject, facts);

	verdict.fired = calloc(ruleset->cnt ? ruleset->cnt : 1, sizeof(*verdict.fired));
	if (!verdict.fired)
		return -ENOMEM;
	for (size_t i = 0; !r && i < facts->observations.cnt; i++) {
		subject.observation = &facts->observations.items[i];
		r = observation_judge(ruleset, &subject, i, verdict.fired);
		if (!r)
			r = made_note(&subject);
	}
	if (r) {
		verdict_clear(&verdict);
		return r;
	}
	verdict_close(ruleset, facts, &verdict);
	*ret_verdict = verdict;
	return 0;
}
