// SPDX-License-Identifier: Apache-2.0
/* The default rules: one folder of tests/cases/rules for each situation. */
#include "rules/engine.h"

#include "tests/rules/case.h"

#include <dirent.h>
#include <stdio.h>

#define CASES "tests/cases/rules"

static struct ruleset *default_rules(void)
{
	struct ruleset *rules = NULL;
	struct qp_error err = {0};
	const char *text = ruleset_default_text();
	char line[2048];

	cr_assert_eq(ruleset_parse(text, strlen(text), "default.json", &rules, &err), 0, "%s",
		     qp_error_format(&err, line, sizeof(line)));
	return rules;
}

/* {"verdict", "rulesFired": {"a": ["o1", ...], ...}} */
static json_t *verdict_json(const struct verdict *verdict)
{
	json_t *fired = json_object();

	for (size_t i = 0; i < verdict->fired_cnt; i++) {
		json_t *ids = json_array();

		for (size_t j = 0; j < verdict->fired[i].cnt; j++)
			json_array_append_new(
				ids, json_sprintf("o%zu", verdict->fired[i].observations[j] + 1));
		json_object_set_new(fired, verdict->fired[i].id, ids);
	}
	return json_pack("{s:s, s:o}", "verdict", verdict_level_name(verdict->level), "rulesFired",
			 fired);
}

static void check_case(const struct ruleset *rules, const char *name)
{
	struct run_facts facts;
	struct verdict verdict;
	char path[512], *seen_text, *wanted_text;
	json_t *input, *wanted, *seen;

	snprintf(path, sizeof(path), CASES "/%s/observations.json", name);
	input = case_load(path);
	snprintf(path, sizeof(path), CASES "/%s/expected.json", name);
	wanted = case_load(path);
	case_facts(input, &facts);
	cr_assert_eq(engine_judge(rules, &facts, &verdict), 0);
	seen = verdict_json(&verdict);
	seen_text = json_dumps(seen, JSON_SORT_KEYS);
	wanted_text = json_dumps(wanted, JSON_SORT_KEYS);
	cr_expect(json_equal(seen, wanted), "%s: wanted %s, got %s", name, wanted_text, seen_text);
	free(seen_text);
	free(wanted_text);
	verdict_clear(&verdict);
	run_facts_clear(&facts);
	json_decref(input);
	json_decref(wanted);
	json_decref(seen);
}

Test(engine, default_rules_judge_every_case_as_written)
{
	struct ruleset *rules = default_rules();
	DIR *dir = opendir(CASES);
	size_t cnt = 0;

	cr_assert(dir);
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		if (entry->d_name[0] == '.')
			continue;
		check_case(rules, entry->d_name);
		cnt++;
	}
	closedir(dir);
	ruleset_free(rules);
	cr_assert_geq(cnt, 20);
}

Test(engine, fired_rules_come_in_the_order_of_the_file_with_their_texts)
{
	static const char text[] = "{\"schema\": \"qp-rules/1\", \"rules\": ["
				   "{\"id\": \"z\", \"tier\": \"review\", \"text\": \"Z\", "
				   "\"when\": {\"kind\": \"limit\"}},"
				   "{\"id\": \"n\", \"tier\": \"review\", \"text\": \"N\", "
				   "\"when\": {\"kind\": \"load\"}},"
				   "{\"id\": \"b\", \"tier\": \"do-not-install\", \"text\": \"B\", "
				   "\"when\": {\"kind\": "
				   "[\"limit\", \"tamper\"]}}]}";
	json_t *input = json_pack("{s:[{s:s}, {s:s}, {s:s}]}", "observations", "kind", "tamper",
				  "kind", "limit", "kind", "spawn");
	struct ruleset *rules = NULL;
	struct run_facts facts;
	struct verdict verdict;

	cr_assert_eq(ruleset_parse(text, strlen(text), "x", &rules, NULL), 0);
	case_facts(input, &facts);
	cr_assert_eq(engine_judge(rules, &facts, &verdict), 0);
	cr_assert_eq(verdict.level, VERDICT_DO_NOT_INSTALL);
	cr_assert_eq(verdict.fired_cnt, 2);
	cr_assert_str_eq(verdict.fired[0].id, "z");
	cr_assert_str_eq(verdict.fired[0].text, "Z");
	cr_assert_eq(verdict.fired[0].cnt, 1);
	cr_assert_eq(verdict.fired[0].observations[0], 1);
	cr_assert_str_eq(verdict.fired[1].id, "b");
	cr_assert_eq(verdict.fired[1].cnt, 2);
	cr_assert_eq(verdict.fired[1].observations[0], 0);
	cr_assert_eq(verdict.fired[1].observations[1], 1);
	verdict_clear(&verdict);
	run_facts_clear(&facts);
	ruleset_free(rules);
	json_decref(input);
}

Test(engine, nothing_seen_and_nothing_known_is_never_install)
{
	struct ruleset *rules = default_rules();
	struct run_facts facts = {0};
	struct verdict verdict;

	cr_assert_eq(engine_judge(rules, &facts, &verdict), 0);
	cr_assert_eq(verdict.level, VERDICT_REVIEW);
	verdict_clear(&verdict);
	for (int wrong = 0; wrong < MARKER_CNT; wrong++) {
		for (int i = 0; i < MARKER_CNT; i++)
			facts.markers[i].ok = i != wrong;
		cr_assert_eq(engine_judge(rules, &facts, &verdict), 0);
		cr_assert_eq(verdict.level, VERDICT_REVIEW, "%s", marker_name((enum marker)wrong));
		verdict_clear(&verdict);
	}
	for (int i = 0; i < MARKER_CNT; i++)
		facts.markers[i].ok = 1;
	cr_assert_eq(engine_judge(rules, &facts, &verdict), 0);
	cr_assert_eq(verdict.level, VERDICT_INSTALL);
	verdict_clear(&verdict);
	ruleset_free(rules);
}

Test(engine, an_area_that_the_run_does_not_name_allows_nothing)
{
	static const char *const areas[] = {NULL, "", "/", "work", "/tmp"};
	struct ruleset *rules = default_rules();

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		json_t *input =
			json_pack("{s:{s:{s:s*}}, s:[{s:s, s:s, s:s, s:s}]}", "preamble", "areas",
				  "work", areas[i], "observations", "kind", "file-write", "actor",
				  "package", "outcome", "effected", "path", "/work/x");
		struct run_facts facts;
		struct verdict verdict;

		case_facts(input, &facts);
		cr_assert_eq(engine_judge(rules, &facts, &verdict), 0);
		cr_expect_eq(verdict.level, VERDICT_DO_NOT_INSTALL, "area \"%s\"",
			     areas[i] ? areas[i] : "(none)");
		verdict_clear(&verdict);
		run_facts_clear(&facts);
		json_decref(input);
	}
	ruleset_free(rules);
}
