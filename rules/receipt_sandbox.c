// SPDX-License-Identifier: Apache-2.0
/* What the receipt says of the sandbox: what it was, how it ended, what ran in it. */
#include "rules/receipt_parts.h"

#include <errno.h>
#include <string.h>

json_int_t facts_round(const struct run_facts *facts)
{
	const json_t *round = json_object_get(facts->sandbox, "round");

	return json_is_integer(round) ? json_integer_value(round) : 1;
}

bool facts_have_sandbox(const struct run_facts *facts)
{
	return facts->sandbox || json_object_get(facts->end, "endedBy");
}

json_t *seconds_json(const struct run_facts *facts)
{
	const json_t *ms = json_object_get(facts->end, "milliseconds");
	const json_t *seconds = json_object_get(facts->end, "seconds");

	if (json_is_integer(ms))
		return json_real((double)json_integer_value(ms) / 1000);
	return json_is_number(seconds) ? json_real(json_number_value(seconds)) : json_null();
}

/* A copy of @object that has every member of @keys, null where it had none. */
static json_t *with_members(const json_t *object, const char *const *keys, int *r)
{
	json_t *copy = object_copy(object);

	for (; *keys; keys++)
		if (!json_object_get(copy, *keys))
			member_set(copy, *keys, json_null(), r);
	return copy;
}

static json_t *tracer_json(const struct run_facts *facts, int *r)
{
	static const char *const keys[] = {"container", "hardening", NULL};
	json_t *tracer = with_members(json_object_get(facts->sandbox, "tracer"), keys, r);

	member_set(tracer, "traceBytes", json_integer((json_int_t)facts->log_bytes), r);
	member_set(tracer, "truncated",
		   json_boolean(!json_is_true(json_object_get(facts->trailer, "complete"))), r);
	return tracer;
}

static json_t *sinkhole_json(const struct run_facts *facts, int *r)
{
	static const char *const keys[] = {"container", "ip", "hardening", NULL};
	json_t *sinkhole = with_members(json_object_get(facts->sandbox, "sinkhole"), keys, r);

	member_set(sinkhole, "records",
		   json_integer((json_int_t)json_array_size(facts->sinkhole_log)), r);
	/* None but the sandbox can reach the sinkhole: there is nothing to take out again. */
	member_set(sinkhole, "controlRecords", json_integer(0), r);
	member_set(sinkhole, "flushed",
		   json_boolean(json_is_true(json_object_get(facts->sinkhole_end, "flushed"))), r);
	return sinkhole;
}

static json_t *roles_json(const struct run_facts *facts, int *r)
{
	static const char *const keys[] = {"stagePid", "npmPid", "harnessPid", "scanPid", NULL};

	return with_members(facts->roles, keys, r);
}

static json_t *area_writes_json(const struct run_facts *facts)
{
	return json_pack("{s:I, s:I}", "total", (json_int_t)facts->area_writes_total, "omitted",
			 (json_int_t)facts->area_writes_omitted);
}

/* How it ended, which a run says too. */
static void end_set(json_t *object, const struct run_facts *facts, int *r)
{
	const json_t *limits = json_object_get(facts->end, "limitsHit");

	member_set(object, "seconds", seconds_json(facts), r);
	member_set(object, "exitCode", member_or_null(facts->end, "exitCode"), r);
	member_set(object, "endedBy", member_or_null(facts->end, "endedBy"), r);
	member_set(object, "limitsHit",
		   json_is_array(limits) ? json_deep_copy(limits) : json_array(), r);
}

json_t *receipt_sandbox(const struct run_facts *facts)
{
	static const char *const keys[] = {"container", "containerId", "hardening", NULL};
	static const char *const network[] = {"name", "internal", "subnet", "enableIPv6", NULL};
	json_t *sandbox;
	int r = 0;

	if (!facts_have_sandbox(facts))
		return json_null();
	sandbox = with_members(facts->sandbox, keys, &r);
	/* It is the receipt's network.tls. */
	json_object_del(sandbox, "tls");
	member_set(sandbox, "round", json_integer(facts_round(facts)), &r);
	if (!json_object_get(sandbox, "fresh"))
		member_set(sandbox, "fresh", json_true(), &r);
	end_set(sandbox, facts, &r);
	if (json_is_integer(json_object_get(facts->end, "signal")))
		member_set(sandbox, "signal", member_or_null(facts->end, "signal"), &r);
	member_set(sandbox, "tracer", tracer_json(facts, &r), &r);
	member_set(sandbox, "sinkhole", sinkhole_json(facts, &r), &r);
	member_set(sandbox, "network",
		   with_members(json_object_get(facts->sandbox, "network"), network, &r), &r);
	member_set(sandbox, "roles", roles_json(facts, &r), &r);
	member_set(sandbox, "allowedAreaWrites", area_writes_json(facts), &r);
	/* Made up for the run: who compares two of them must know it. */
	member_set(sandbox, "hostName",
		   member_or_null(json_object_get(facts->preamble, "host"), "name"), &r);
	/* There is no preload that could be forged. */
	member_set(sandbox, "preloadForeignRecords", json_integer(0), &r);
	if (!r)
		return sandbox;
	json_decref(sandbox);
	return NULL;
}

json_t *receipt_runs(const struct run_facts *facts)
{
	json_t *runs = json_array(), *run;
	int r = 0;

	if (!facts_have_sandbox(facts))
		return runs;
	run = json_object();
	member_set(run, "round", json_integer(facts_round(facts)), &r);
	member_set(run, "harness", facts->load ? json_string("fallback") : json_null(), &r);
	member_set(run, "mode", member_or_null(facts->load, "mode"), &r);
	member_set(run, "modelHarness", json_null(), &r);
	member_set(run, "container", member_or_null(facts->sandbox, "container"), &r);
	end_set(run, facts, &r);
	member_set(run, "observations", json_integer((json_int_t)facts->observations.cnt), &r);
	member_set(run, "traceFile", json_null(), &r);
	if (!r && !json_array_append_new(runs, run))
		return runs;
	if (r)
		json_decref(run);
	json_decref(runs);
	return NULL;
}

json_t *receipt_harness(const struct run_facts *facts)
{
	const char *mode = json_string_value(json_object_get(facts->preamble, "mode"));
	bool run = mode && !strcmp(mode, "run");

	return json_pack("{s:s, s:b, s:{s:o, s:o, s:o}, s:{s:b, s:b, s:n, s:n, s:s}}", "mode",
			 run ? "require, or import where the package asks for it"
			     : "none: a command ran instead",
			 "loaded", json_is_true(json_object_get(facts->load, "ok")), "detail",
			 "mode", member_or_null(facts->load, "mode"), "error",
			 member_or_null(facts->load, "error"), "resolved",
			 member_or_null(facts->load, "resolved"), "model", "staged", 0, "ran", 0,
			 "ok", "error", "fallback", "no model is configured");
}

json_t *receipt_completeness(const struct run_facts *facts)
{
	json_t *markers = json_object();
	int r = 0;

	for (int i = 0; i < MARKER_CNT; i++) {
		const struct marker_state *state = &facts->markers[i];
		json_t *detail = state->detail ? json_incref(state->detail) : json_object();

		member_set(markers, marker_name((enum marker)i),
			   json_pack("{s:b, s:[{s:I, s:b, s:o}]}", "ok", state->ok, "runs", "round",
				     facts_round(facts), "ok", state->ok, "detail", detail),
			   &r);
	}
	if (!r)
		return markers;
	json_decref(markers);
	return NULL;
}

static bool strings_hold(const json_t *strings, const json_t *string)
{
	const json_t *item;
	size_t i;

	json_array_foreach (strings, i, item) {
		if (json_equal(item, string))
			return true;
	}
	return false;
}

/* The decoys are there to be found; any other name that looks like a key's is not. */
static json_t *names_without_decoys(const json_t *names, const json_t *decoys)
{
	json_t *left = json_array(), *name;
	size_t i;

	json_array_foreach (names, i, name) {
		if (!strings_hold(decoys, name) && json_array_append(left, name)) {
			json_decref(left);
			return NULL;
		}
	}
	return left;
}

static json_t *array_or_empty(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_array(value) ? json_incref(value) : json_array();
}

json_t *receipt_sandbox_scan(const struct run_facts *facts)
{
	const json_t *decoys = json_object_get(facts->decoys, "envNames");
	json_t *names =
		names_without_decoys(json_object_get(facts->scan, "keyLikeEnvNames"), decoys);
	json_t *sockets = array_or_empty(facts->scan, "dockerSockPresent");
	bool pass = facts->scan && !json_array_size(names) && !json_array_size(sockets);

	return json_pack("{s:o, s:[], s:o, s:o, s:o, s:I, s:b}", "keyLikeEnvNames", names,
			 "ignoredImageVars", "ignoredDecoyVars",
			 array_or_empty(facts->decoys, "envNames"), "dockerSockPresent", sockets,
			 "mounts", array_or_empty(facts->scan, "mounts"), "envNamesScanned",
			 (json_int_t)json_array_size(json_object_get(facts->scan, "envNames")),
			 "pass", pass);
}
