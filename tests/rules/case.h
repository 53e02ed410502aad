/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a run, from the JSON of a test case. */
#ifndef QP_TESTS_RULES_CASE_H
#define QP_TESTS_RULES_CASE_H

#include "rules/derive.h"

#include <criterion/criterion.h>
#include <string.h>

static inline char *case_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? strdup(text) : NULL;
}

static inline enum tristate case_tristate(const json_t *value)
{
	if (!json_is_boolean(value))
		return TRISTATE_NULL;
	return json_is_true(value) ? TRISTATE_TRUE : TRISTATE_FALSE;
}

static inline int case_name(const json_t *object, const char *key, int (*parse)(const char *))
{
	const char *name = json_string_value(json_object_get(object, key));
	int value = name ? parse(name) : 0;

	cr_assert(value >= 0, "unknown %s \"%s\"", key, name);
	return value;
}

/* An observation in the receipt's form; members that no kind shares go into extra. */
static inline void case_observation(const json_t *object, struct observation *observation)
{
	static const char *const shared[] = {"id",	  "kind", "actor", "outcome", "package",
					     "t",	  "pid",  "exe",   "asked",   "dest",
					     "orig_dest", "port", "sni",   "proto",   "blocked",
					     "payload",	  "path", "path2", "nonce"};
	const json_t *port = json_object_get(object, "port"), *pid = json_object_get(object, "pid");

	observation_init(observation);
	observation->kind =
		(enum observation_kind)case_name(object, "kind", observation_kind_parse);
	observation->actor =
		(enum observation_actor)case_name(object, "actor", observation_actor_parse);
	observation->outcome =
		(enum observation_outcome)case_name(object, "outcome", observation_outcome_parse);
	observation->t_ns = (uint64_t)json_integer_value(json_object_get(object, "t"));
	observation->pid = json_is_integer(pid) ? json_integer_value(pid) : -1;
	observation->port = json_is_integer(port) ? json_integer_value(port) : -1;
	observation->exe = case_text(object, "exe");
	observation->asked = case_text(object, "asked");
	observation->package = case_text(object, "package");
	observation->path = case_text(object, "path");
	observation->path2 = case_text(object, "path2");
	observation->dest = case_text(object, "dest");
	observation->orig_dest = case_text(object, "orig_dest");
	observation->sni = case_text(object, "sni");
	observation->proto = case_text(object, "proto");
	observation->blocked = case_tristate(json_object_get(object, "blocked"));
	observation->payload = case_tristate(json_object_get(object, "payload"));
	observation->extra = json_deep_copy(object);
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		json_object_del(observation->extra, shared[i]);
}

static inline json_t *case_load(const char *path)
{
	json_error_t error;
	json_t *value = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	cr_assert(value, "%s:%d:%d: %s", path, error.line, error.column, error.text);
	return value;
}

/*
 * {"observations": [...], "preamble": {...}, "decoys": {...}, "falseMarkers": [names]}; the
 * preamble has the usual areas unless the case gives its own.
 */
static inline void case_facts(const json_t *input, struct run_facts *facts)
{
	const json_t *observations = json_object_get(input, "observations"), *item;
	json_t *preamble = json_object_get(input, "preamble");
	size_t i;

	*facts = (struct run_facts){0};
	facts->preamble =
		preamble ? json_deep_copy(preamble)
			 : json_pack("{s:{s:s, s:s, s:s, s:s}}", "areas", "work", "/work", "tmp",
				     "/tmp", "home", "/home/alice", "shm", "/dev/shm");
	facts->decoys = json_deep_copy(json_object_get(input, "decoys"));
	for (int m = 0; m < MARKER_CNT; m++)
		facts->markers[m].ok = 1;
	json_array_foreach (json_object_get(input, "falseMarkers"), i, item) {
		for (int m = 0; m < MARKER_CNT; m++)
			if (!strcmp(marker_name((enum marker)m), json_string_value(item)))
				facts->markers[m].ok = 0;
	}
	json_array_foreach (observations, i, item) {
		struct observation observation;

		case_observation(item, &observation);
		cr_assert_eq(observations_add_take(&facts->observations, &observation), 0);
	}
}

#endif
