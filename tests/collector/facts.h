/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a log: finding observations, and comparing what they say. */
#ifndef QP_TESTS_COLLECTOR_FACTS_H
#define QP_TESTS_COLLECTOR_FACTS_H

#include "collector/decode.h"

#include <criterion/criterion.h>
#include <string.h>

static inline size_t count(const struct run_facts *facts, enum observation_kind kind)
{
	size_t cnt = 0;

	for (size_t i = 0; i < facts->observations.cnt; i++)
		cnt += facts->observations.items[i].kind == kind;
	return cnt;
}

/* The @nth observation of that kind, from 0. */
static inline const struct observation *nth(const struct run_facts *facts,
					    enum observation_kind kind, size_t n)
{
	for (size_t i = 0; i < facts->observations.cnt; i++)
		if (facts->observations.items[i].kind == kind && !n--)
			return &facts->observations.items[i];
	cr_assert_fail("no such observation of kind %s", observation_kind_name(kind));
	return NULL;
}

static inline const struct observation *only(const struct run_facts *facts,
					     enum observation_kind kind)
{
	cr_assert_eq(count(facts, kind), 1, "%zu of kind %s", count(facts, kind),
		     observation_kind_name(kind));
	return nth(facts, kind, 0);
}

/* Compares with JSON text in which ' stands for ". */
static inline void assert_json(const json_t *value, const char *expected)
{
	char text[2048];
	json_t *wanted;
	size_t len = strlen(expected);

	cr_assert_lt(len, sizeof(text));
	memcpy(text, expected, len + 1);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\'')
			text[i] = '"';
	wanted = json_loads(text, JSON_DECODE_ANY, NULL);
	cr_assert(wanted, "%s", text);
	if (!json_equal(value, wanted)) {
		char *got = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

		cr_assert_fail("got %s, wanted %s", got ? got : "nothing", text);
	}
	json_decref(wanted);
}

static inline const json_t *extra(const struct observation *observation, const char *key)
{
	return json_object_get(observation->extra, key);
}

#endif
