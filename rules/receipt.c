// SPDX-License-Identifier: Apache-2.0
/* The receipt as a whole: what its members are, and which part builds each. */
#include "rules/receipt.h"

#include "base/json.h"
#include "rules/engine.h"
#include "rules/limitations.h"
#include "rules/receipt_parts.h"
#include "rules/secretscan.h"

#include <errno.h>
#include <string.h>

void member_set(json_t *object, const char *key, json_t *value, int *r)
{
	if (json_object_set_new(object, key, value) && !*r)
		*r = -ENOMEM;
}

json_t *member_or_null(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value ? json_incref(value) : json_null();
}

json_t *object_copy(const json_t *object)
{
	return json_is_object(object) ? json_deep_copy(object) : json_object();
}

static bool was_refused(const struct run_facts *facts)
{
	static const char *const checks[] = {"precheck", "lockcheck"};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (json_is_false(
			    json_object_get(json_object_get(facts->download, checks[i]), "ok")))
			return true;
	return false;
}

/* Who only collects has no sandbox whose end could be told. */
static bool has_ended(const struct run_facts *facts)
{
	const char *mode = json_string_value(json_object_get(facts->preamble, "mode"));

	return json_is_string(json_object_get(facts->end, "endedBy")) ||
	       (mode && !strcmp(mode, "collect") && !facts->end);
}

/* Completed: the sandbox came to an end, no part of qp failed, the log has its trailer. */
static const char *status_name(const struct run_facts *facts)
{
	if (was_refused(facts))
		return "refused";
	if (!has_ended(facts) || json_array_size(facts->errors) ||
	    !json_is_true(json_object_get(facts->trailer, "complete")))
		return "incomplete";
	return "completed";
}

static json_t *package_json(const struct run_facts *facts)
{
	const json_t *inventory = json_object_get(facts->download, "inventory");
	json_t *package = object_copy(json_object_get(facts->preamble, "package"));
	int r = 0;

	if (!json_object_get(package, "requested"))
		member_set(package, "requested", json_null(), &r);
	if (!json_object_get(package, "source"))
		member_set(package, "source", member_or_null(facts->preamble, "mode"), &r);
	member_set(package, "name", member_or_null(inventory, "name"), &r);
	member_set(package, "version", member_or_null(inventory, "version"), &r);
	if (!r)
		return package;
	json_decref(package);
	return NULL;
}

/* What ran, as far as each part of the evidence knows. */
static json_t *versions_json(const struct run_facts *facts)
{
	json_t *versions = object_copy(json_object_get(facts->preamble, "versions"));
	json_t *const later[] = {json_object_get(facts->download, "versions"),
				 json_object_get(facts->sandbox, "versions")};

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (later[i] && json_object_update(versions, later[i])) {
			json_decref(versions);
			return NULL;
		}
	}
	return versions;
}

/* No image is pulled or built: what stands in the seeds' place is what the evidence says of
 * the sandbox's root, and the versions that ran in it. */
static json_t *images_json(const struct run_facts *facts)
{
	const json_t *hardening = json_object_get(facts->sandbox, "hardening");

	return json_pack("{s:n, s:o, s:n, s:o}", "tag", "sandbox",
			 member_or_null(hardening, "image"), "sinkhole", "versions",
			 versions_json(facts));
}

static const char *tier_name(const struct run_facts *facts)
{
	const char *tier = json_string_value(json_object_get(facts->sandbox, "tier"));

	return tier ? tier : json_string_value(json_object_get(facts->preamble, "tier"));
}

json_t *receipt_evidence(const struct run_facts *facts)
{
	const json_t *given = json_object_get(facts->trailer, "counters");
	const char *tier = tier_name(facts);
	json_t *counters = json_null();

	if (given)
		counters = json_pack("{s:o, s:o, s:o, s:o*}", "syscalls",
				     member_or_null(given, "syscalls"), "events",
				     member_or_null(given, "events"), "calls",
				     member_or_null(given, "calls"), "uring",
				     json_incref(json_object_get(given, "uring")));
	return json_pack("{s:{s:s, s:I, s:I}, s:o, s:o}", "log", "sha256", facts->log_sha256,
			 "bytes", (json_int_t)facts->log_bytes, "records",
			 (json_int_t)facts->log_records, "tier",
			 tier ? json_string(tier) : json_null(), "counters", counters);
}

static json_t *fired_json(const struct verdict *verdict)
{
	json_t *list = json_array();

	for (size_t i = 0; i < verdict->fired_cnt; i++) {
		const struct fired_rule *fired = &verdict->fired[i];
		json_t *ids = json_array();
		int r = 0;

		for (size_t j = 0; !r && j < fired->cnt; j++)
			r = json_array_append_new(ids,
						  json_sprintf("o%zu", fired->observations[j] + 1));
		if (r || json_array_append_new(
				 list, json_pack("{s:s, s:s, s:s, s:O}", "id", fired->id, "tier",
						 verdict_level_name(fired->tier), "text",
						 fired->text, "observationIds", ids)))
			r = -1;
		json_decref(ids);
		if (r) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Who ran what, when, and the answer. */
static void head_set(json_t *receipt, const struct run_facts *facts, const struct verdict *verdict,
		     int *r)
{
	static const char *const told[] = {"taskId", "runPrefix", "nonce", "startedAt", "limits"};

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		member_set(receipt, told[i], member_or_null(facts->preamble, told[i]), r);
	member_set(receipt, "schema", json_string("qp-receipt/1"), r);
	member_set(receipt, "finishedAt", member_or_null(facts->end, "finishedAt"), r);
	member_set(receipt, "status", json_string(status_name(facts)), r);
	member_set(receipt, "verdict", json_string(verdict_level_name(verdict->level)), r);
	member_set(receipt, "rulesFired", fired_json(verdict), r);
	member_set(receipt, "package", package_json(facts), r);
	member_set(receipt, "images", images_json(facts), r);
}

static json_t *or_null(json_t *value)
{
	return value ? json_incref(value) : json_null();
}

/* "refuse" for evidence that says nothing of it: there was no other mode then. */
static const char *tls_mode(const struct run_facts *facts)
{
	const char *mode = json_string_value(json_object_get(facts->preamble, "tls"));

	return mode ? mode : "refuse";
}

/* `tls` says how TLS was answered; evidence of before there was a choice has none. */
static json_t *network_json(const struct run_facts *facts)
{
	json_t *mode = json_object_get(facts->preamble, "tls");
	json_t *tls = json_object_get(facts->sandbox, "tls");
	json_t *log = facts->sinkhole_log;
	json_t *network = json_pack("{s:o}", "sinkholeLog", log ? json_incref(log) : json_array());

	if (json_is_string(mode) &&
	    json_object_set_new(network, "tls",
				json_is_object(tls) ? json_incref(tls)
						    : json_pack("{s:O}", "mode", mode))) {
		json_decref(network);
		return NULL;
	}
	return network;
}

/* What was done and seen. */
static void body_set(json_t *receipt, const struct run_facts *facts, int *r)
{
	member_set(receipt, "download", or_null(facts->download), r);
	member_set(receipt, "sandbox", receipt_sandbox(facts), r);
	member_set(receipt, "harness", receipt_harness(facts), r);
	member_set(receipt, "explanation", receipt_explanation(), r);
	member_set(receipt, "model", receipt_model(), r);
	member_set(receipt, "predictionVsObserved", receipt_prediction(facts), r);
	member_set(receipt, "completeness", receipt_completeness(facts), r);
	member_set(receipt, "observations", receipt_observations(facts), r);
	member_set(receipt, "network", network_json(facts), r);
	member_set(receipt, "hostProbe", json_null(), r);
	member_set(receipt, "teardown", or_null(facts->teardown), r);
	member_set(receipt, "knownLimitations",
		   limitations_json(tier_name(facts), tls_mode(facts),
				    json_object_get(facts->sandbox, "envLibraries")),
		   r);
	member_set(receipt, "logs",
		   json_pack("{s:s}", "sandboxOutput", facts->output ? facts->output : ""), r);
	member_set(receipt, "runs", receipt_runs(facts), r);
	member_set(receipt, "errors", facts->errors ? json_incref(facts->errors) : json_array(), r);
	member_set(receipt, "evidence", receipt_evidence(facts), r);
}

/* Last, since it looks at all the rest. */
static int scan_set(json_t *receipt, const struct run_facts *facts)
{
	json_t *scan;
	int r = secretscan_json(receipt, &scan);

	if (r)
		return r;
	member_set(receipt, "secretScan",
		   json_pack("{s:o, s:o, s:{s:b, s:o}}", "sandbox", receipt_sandbox_scan(facts),
			     "receipt", scan, "log", "pass", !facts->log_has_secret, "hits",
			     facts->log_hits ? json_incref(facts->log_hits) : json_array()),
		   &r);
	return r;
}

int receipt_build(const struct run_facts *facts, const struct ruleset *ruleset,
		  json_t **ret_receipt, struct qp_error *err)
{
	__attribute__((cleanup(verdict_clear))) struct verdict verdict = {0};
	_cleanup_json_ json_t *receipt = NULL;
	int r;

	if (!facts->preamble)
		return qp_error_set(err, -EBADMSG,
				    "the log does not say what run it is of: it has no preamble");
	r = engine_judge(ruleset, facts, &verdict);
	if (r)
		return r;
	/* Whatever the markers say: of a run that was not whole nobody knows enough. */
	if (verdict.level == VERDICT_INSTALL && strcmp(status_name(facts), "completed") != 0)
		verdict.level = VERDICT_REVIEW;
	receipt = json_object();
	head_set(receipt, facts, &verdict, &r);
	body_set(receipt, facts, &r);
	if (!r)
		r = scan_set(receipt, facts);
	if (r)
		return qp_error_set(err, r,
				    r == -ENOMEM ? "out of memory for the receipt"
						 : "the evidence is nested too deep");
	*ret_receipt = json_incref(receipt);
	return 0;
}
