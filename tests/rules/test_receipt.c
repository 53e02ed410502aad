// SPDX-License-Identifier: Apache-2.0
/* Receipts of the older path, taken apart into the facts of a run and built again: what is
 * not about its containers and its model must come out as it was. */
#include "rules/receipt.h"

#include "rules/canon.h"
#include "tests/rules/seed.h"

#include <errno.h>

/* Every member of @wanted is in @seen; what @seen has beyond that is fine. */
static void expect_within(const json_t *wanted, const json_t *seen, const char *where)
{
	char at[512];
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_object(wanted)) {
		json_object_foreach ((json_t *)wanted, key, item) {
			snprintf(at, sizeof(at), "%s/%s", where, key);
			cr_expect(json_object_get(seen, key), "%s is missing", at);
			expect_within(item, json_object_get(seen, key), at);
		}
	} else if (json_is_array(wanted)) {
		cr_expect_eq(json_array_size(wanted), json_array_size(seen), "%s", where);
		json_array_foreach (wanted, i, item) {
			snprintf(at, sizeof(at), "%s/%zu", where, i);
			expect_within(item, json_array_get(seen, i), at);
		}
	} else {
		cr_expect(json_equal(wanted, seen), "%s differs", where);
	}
}

/* Every key of @wanted is in @seen, whatever it holds. */
static void expect_shape(const json_t *wanted, const json_t *seen, const char *where)
{
	char at[512];
	const char *key;
	json_t *item;

	json_object_foreach ((json_t *)wanted, key, item) {
		snprintf(at, sizeof(at), "%s/%s", where, key);
		cr_expect(json_object_get(seen, key), "%s is missing", at);
		if (json_is_object(json_object_get(seen, key)))
			expect_shape(item, json_object_get(seen, key), at);
	}
}

static void check_seed(const char *name)
{
	static const char *const same[] = {
		"schema",     "taskId",	   "runPrefix", "nonce",	"startedAt",
		"finishedAt", "status",	   "verdict",	"rulesFired",	"package",
		"limits",     "download",  "sandbox",	"completeness", "observations",
		"network",    "hostProbe", "teardown",	"logs",
	};
	static const char *const alike[] = {"images", "harness",    "explanation",     "model",
					    "runs",   "secretScan", "knownLimitations"};
	struct ruleset *rules = default_rules();
	json_t *seed = seed_load(name), *receipt = NULL, *other;
	struct run_facts facts;
	struct qp_error err = {0};
	size_t i;

	seed_facts(seed, &facts);
	cr_assert_eq(receipt_build(&facts, rules, &receipt, &err), 0, "%s", err.text);
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		expect_within(json_object_get(seed, same[i]), json_object_get(receipt, same[i]),
			      same[i]);
	for (i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
		cr_expect(json_object_get(receipt, alike[i]), "%s is missing", alike[i]);
		expect_shape(json_object_get(seed, alike[i]), json_object_get(receipt, alike[i]),
			     alike[i]);
	}
	json_array_foreach (json_object_get(seed, "predictionVsObserved"), i, other) {
		const json_t *ours =
			json_array_get(json_object_get(receipt, "predictionVsObserved"), i);
		json_t *picked = pick(other, "dimension observed observedDetail observationIds "
					     "package");

		expect_within(picked, ours, "predictionVsObserved");
		json_decref(picked);
	}
	other = pick(json_array_get(json_object_get(seed, "runs"), 0),
		     "round mode container seconds exitCode endedBy limitsHit observations "
		     "traceFile");
	expect_within(other, json_array_get(json_object_get(receipt, "runs"), 0), "runs/0");
	json_decref(other);
	run_facts_clear(&facts);
	json_decref(seed);
	json_decref(receipt);
	ruleset_free(rules);
}

Test(receipt, the_fastify_receipt_of_the_older_path_is_built_again)
{
	check_seed("fastify");
}

Test(receipt, the_netbenign_receipt_of_the_older_path_is_built_again)
{
	check_seed("netbenign");
}

/* What the seed's run would be, with one thing changed. */
static json_t *build_changed(void (*change)(struct run_facts *facts))
{
	struct ruleset *rules = default_rules();
	json_t *seed = seed_load("fastify"), *receipt = NULL;
	struct run_facts facts;

	seed_facts(seed, &facts);
	change(&facts);
	cr_assert_eq(receipt_build(&facts, rules, &receipt, NULL), 0);
	run_facts_clear(&facts);
	json_decref(seed);
	ruleset_free(rules);
	return receipt;
}

static const char *text_of(const json_t *receipt, const char *key)
{
	return json_string_value(json_object_get(receipt, key));
}

static void drop_trailer(struct run_facts *facts)
{
	json_decref(facts->trailer);
	facts->trailer = NULL;
}

static void add_error(struct run_facts *facts)
{
	json_array_append_new(facts->errors,
			      json_pack("{s:s, s:s}", "part", "sinkhole", "text", "it ended"));
}

static void drop_end(struct run_facts *facts)
{
	json_decref(facts->end);
	facts->end = NULL;
}

static void refuse(struct run_facts *facts)
{
	json_object_set_new(json_object_get(facts->download, "precheck"), "ok", json_false());
	json_decref(facts->sandbox);
	facts->sandbox = NULL;
	drop_end(facts);
	for (int i = 0; i < MARKER_CNT; i++)
		facts->markers[i].ok = 0;
}

Test(receipt, a_run_that_was_not_whole_says_so_and_is_never_install)
{
	void (*const changes[])(struct run_facts *) = {drop_trailer, add_error, drop_end};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		json_t *receipt = build_changed(changes[i]);

		cr_expect_str_eq(text_of(receipt, "status"), "incomplete", "change %zu", i);
		cr_expect_str_eq(text_of(receipt, "verdict"), "review", "change %zu", i);
		json_decref(receipt);
	}
}

Test(receipt, a_refused_download_has_no_sandbox_and_is_never_install)
{
	json_t *receipt = build_changed(refuse);

	cr_expect_str_eq(text_of(receipt, "status"), "refused");
	cr_expect_str_eq(text_of(receipt, "verdict"), "review");
	cr_expect(json_is_null(json_object_get(receipt, "sandbox")));
	cr_expect_eq(json_array_size(json_object_get(receipt, "runs")), 0);
	json_decref(receipt);
}

static void only_collect(struct run_facts *facts)
{
	json_object_set_new(facts->preamble, "mode", json_string("collect"));
	json_decref(facts->sandbox);
	facts->sandbox = NULL;
	drop_end(facts);
}

Test(receipt, collecting_without_a_sandbox_can_be_complete)
{
	json_t *receipt = build_changed(only_collect);

	cr_expect_str_eq(text_of(receipt, "status"), "completed");
	cr_expect_str_eq(text_of(receipt, "verdict"), "install");
	cr_expect(json_is_null(json_object_get(receipt, "sandbox")));
	json_decref(receipt);
}

static void print_token(struct run_facts *facts)
{
	free(facts->output);
	facts->output = strdup("token npm_abcdefghijklmnopqrstuvwxyz0123456789 sent\n");
}

Test(receipt, a_credential_in_the_receipt_is_a_hit_that_names_its_place)
{
	json_t *receipt = build_changed(print_token);
	json_t *wanted = json_pack("{s:b, s:[{s:s, s:s}]}", "pass", 0, "hits", "pointer",
				   "/logs/sandboxOutput", "pattern", "npm-token");

	cr_expect(json_equal(json_object_get(json_object_get(receipt, "secretScan"), "receipt"),
			     wanted));
	json_decref(wanted);
	json_decref(receipt);
}

static void plant_decoys(struct run_facts *facts)
{
	facts->decoys = json_pack("{s:[], s:[s]}", "files", "envNames", "AWS_SECRET_ACCESS_KEY");
	json_object_set_new(facts->scan, "keyLikeEnvNames",
			    json_pack("[s]", "AWS_SECRET_ACCESS_KEY"));
}

static void leak_name(struct run_facts *facts)
{
	plant_decoys(facts);
	json_object_set_new(facts->scan, "keyLikeEnvNames",
			    json_pack("[s, s]", "AWS_SECRET_ACCESS_KEY", "CI_TOKEN"));
}

Test(receipt, decoys_are_no_leak_into_the_sandbox_but_other_names_are)
{
	json_t *receipt = build_changed(plant_decoys);
	const json_t *scan = json_object_get(json_object_get(receipt, "secretScan"), "sandbox");

	cr_expect(json_is_true(json_object_get(scan, "pass")));
	json_decref(receipt);
	receipt = build_changed(leak_name);
	scan = json_object_get(json_object_get(receipt, "secretScan"), "sandbox");
	cr_expect(json_is_false(json_object_get(scan, "pass")));
	cr_expect_str_eq(
		json_string_value(json_array_get(json_object_get(scan, "keyLikeEnvNames"), 0)),
		"CI_TOKEN");
	json_decref(receipt);
}

static void forge_members(struct run_facts *facts)
{
	struct observation *observation = &facts->observations.items[0];

	json_object_set_new(observation->extra, "actor", json_string("stage"));
	json_object_set_new(observation->extra, "id", json_string("o99"));
}

Test(receipt, the_host_name_that_was_made_up_is_told)
{
	struct ruleset *rules = default_rules();
	struct run_facts facts = {0};
	json_t *receipt = NULL;

	facts.preamble = json_pack("{s:s, s:{s:s}}", "nonce", "0", "host", "name", "build-85");
	facts.sandbox = json_pack("{s:i}", "round", 1);
	cr_assert_eq(receipt_build(&facts, rules, &receipt, NULL), 0);
	cr_assert_str_eq(
		json_string_value(json_object_get(json_object_get(receipt, "sandbox"), "hostName")),
		"build-85");
	json_decref(receipt);
	json_decref(facts.preamble);
	json_decref(facts.sandbox);
	ruleset_free(rules);
}

Test(receipt, members_of_a_kind_never_replace_those_of_all)
{
	json_t *receipt = build_changed(forge_members);
	const json_t *first = json_array_get(json_object_get(receipt, "observations"), 0);

	cr_expect_str_eq(text_of(first, "actor"), "harness");
	cr_expect_str_eq(text_of(first, "id"), "o1");
	json_decref(receipt);
}

static void change_nothing(struct run_facts *facts)
{
	(void)facts;
}

Test(receipt, the_same_facts_give_the_same_bytes)
{
	json_t *a = build_changed(change_nothing), *b = build_changed(change_nothing);
	char *a_text, *b_text;
	size_t a_len, b_len;

	cr_assert_eq(canon_dump(a, &a_text, &a_len), 0);
	cr_assert_eq(canon_dump(b, &b_text, &b_len), 0);
	cr_expect_str_eq(a_text, b_text);
	cr_expect(strstr(a_text, "\"seconds\":9.092,"));
	free(a_text);
	free(b_text);
	json_decref(a);
	json_decref(b);
}

Test(receipt, facts_without_a_preamble_are_an_error)
{
	struct ruleset *rules = default_rules();
	struct run_facts facts = {0};
	struct qp_error err = {0};
	json_t *receipt;

	cr_assert_eq(receipt_build(&facts, rules, &receipt, &err), -EBADMSG);
	cr_assert(err.text[0]);
	ruleset_free(rules);
}

Test(receipt, a_preamble_alone_gives_a_whole_receipt_that_claims_nothing)
{
	struct ruleset *rules = default_rules();
	struct run_facts facts = {.preamble = json_pack("{s:s}", "taskId", "0123456789")};
	json_t *receipt = NULL, *seed = seed_load("fastify");

	cr_assert_eq(receipt_build(&facts, rules, &receipt, NULL), 0);
	cr_expect_str_eq(text_of(receipt, "verdict"), "review");
	cr_expect_str_eq(text_of(receipt, "status"), "incomplete");
	expect_shape(seed, receipt, "");
	run_facts_clear(&facts);
	json_decref(receipt);
	json_decref(seed);
	ruleset_free(rules);
}
