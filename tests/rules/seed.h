/* SPDX-License-Identifier: Apache-2.0 */
/* A receipt of the older path, taken apart into the facts of a run. */
#ifndef QP_TESTS_RULES_SEED_H
#define QP_TESTS_RULES_SEED_H

#include "rules/ruleset.h"
#include "tests/rules/case.h"

static inline struct ruleset *default_rules(void)
{
	const char *text = ruleset_default_text();
	struct ruleset *rules = NULL;

	cr_assert_eq(ruleset_parse(text, strlen(text), "default.json", &rules, NULL), 0);
	return rules;
}

static inline json_t *seed_load(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "tests/cases/receipts/seed-%s.json", name);
	return case_load(path);
}

/* A new object of the members @keys, separated by spaces, of @object. */
static inline json_t *pick(const json_t *object, const char *keys)
{
	json_t *picked = json_object();
	char *copy = strdup(keys), *rest = copy, *key;

	while ((key = strsep(&rest, " ")))
		json_object_set(picked, key, json_object_get(object, key));
	free(copy);
	return picked;
}

static inline json_t *seed_preamble(const json_t *seed)
{
	json_t *preamble = pick(seed, "taskId runPrefix nonce startedAt limits");

	json_object_set_new(preamble, "package",
			    pick(json_object_get(seed, "package"), "requested source"));
	json_object_set_new(preamble, "mode", json_string("run"));
	json_object_set_new(preamble, "tier", json_string("base"));
	json_object_set_new(preamble, "areas",
			    json_pack("{s:s, s:s, s:s, s:s}", "work", "/work", "tmp", "/tmp",
				      "home", "/home/qp", "shm", "/dev/shm"));
	return preamble;
}

static inline json_t *seed_end(const json_t *seed)
{
	const json_t *sandbox = json_object_get(seed, "sandbox");
	json_t *end = pick(sandbox, "exitCode endedBy limitsHit");
	double seconds = json_number_value(json_object_get(sandbox, "seconds"));

	json_object_set_new(end, "milliseconds", json_integer((json_int_t)(seconds * 1000 + 0.5)));
	json_object_set(end, "finishedAt", json_object_get(seed, "finishedAt"));
	return end;
}

static inline json_t *seed_sandbox(const json_t *seed)
{
	const json_t *whole = json_object_get(seed, "sandbox");
	json_t *sandbox = pick(whole, "container round fresh containerId hardening network");

	json_object_set_new(sandbox, "tracer",
			    pick(json_object_get(whole, "tracer"), "container hardening"));
	json_object_set_new(sandbox, "sinkhole",
			    pick(json_object_get(whole, "sinkhole"), "container ip hardening"));
	return sandbox;
}

static inline json_t *seed_scan(const json_t *seed)
{
	const json_t *whole = json_object_get(json_object_get(seed, "secretScan"), "sandbox");
	json_t *scan = pick(whole, "keyLikeEnvNames dockerSockPresent mounts");
	json_t *names = json_array();
	json_int_t cnt = json_integer_value(json_object_get(whole, "envNamesScanned"));

	for (json_int_t i = 0; i < cnt; i++)
		json_array_append_new(names, json_sprintf("NAME%d", (int)i));
	json_object_set_new(scan, "envNames", names);
	return scan;
}

static inline json_t *seed_load_record(const json_t *seed)
{
	const json_t *harness = json_object_get(seed, "harness");
	json_t *load = json_deep_copy(json_object_get(harness, "detail"));

	json_object_set(load, "ok", json_object_get(harness, "loaded"));
	return load;
}

static inline void seed_facts(const json_t *seed, struct run_facts *facts)
{
	const json_t *sandbox = json_object_get(seed, "sandbox"), *marker;
	json_t *input = json_object();

	json_object_set(input, "observations", json_object_get(seed, "observations"));
	json_object_set_new(input, "preamble", seed_preamble(seed));
	case_facts(input, facts);
	json_decref(input);
	facts->download = json_deep_copy(json_object_get(seed, "download"));
	facts->sandbox = seed_sandbox(seed);
	facts->scan = seed_scan(seed);
	facts->load = seed_load_record(seed);
	facts->end = seed_end(seed);
	facts->teardown = json_deep_copy(json_object_get(seed, "teardown"));
	facts->sinkhole_end = json_pack("{s:b}", "flushed", 1);
	facts->sinkhole_log =
		json_deep_copy(json_object_get(json_object_get(seed, "network"), "sinkholeLog"));
	facts->errors = json_array();
	facts->roles = json_deep_copy(json_object_get(sandbox, "roles"));
	facts->trailer = json_pack("{s:b, s:{s:i, s:{s:i, s:i, s:i}, s:{s:i}, s:[]}}", "complete",
				   1, "counters", "syscalls", 12, "events", "produced", 5,
				   "delivered", 5, "lost", 0, "calls", "openat", 12, "byCpu");
	facts->output = strdup(
		json_string_value(json_object_get(json_object_get(seed, "logs"), "sandboxOutput")));
	facts->log_bytes = (uint64_t)json_integer_value(
		json_object_get(json_object_get(sandbox, "tracer"), "traceBytes"));
	facts->log_records = 7;
	memset(facts->log_sha256, 'a', 64);
	for (int i = 0; i < MARKER_CNT; i++) {
		marker = json_object_get(json_object_get(seed, "completeness"),
					 marker_name((enum marker)i));
		cr_assert(marker, "%s", marker_name((enum marker)i));
		facts->markers[i].ok = json_is_true(json_object_get(marker, "ok"));
		facts->markers[i].detail = json_deep_copy(json_object_get(
			json_array_get(json_object_get(marker, "runs"), 0), "detail"));
	}
}

#endif
