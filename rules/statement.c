// SPDX-License-Identifier: Apache-2.0
/* The statement as a whole: subjects, and the members of the predicate. */
#include "rules/statement.h"

#include "rules/receipt_parts.h"

#include <errno.h>
#include <string.h>

static json_t *subject_json(const char *name, const char *algorithm, const char *hex)
{
	return json_pack("{s:s, s:{s:s}}", "name", name, "digest", algorithm, hex);
}

/* The package as it was fetched, when it was, then the evidence. */
static json_t *subjects_json(const struct claim_source *source, const char *record_sha256)
{
	const json_t *package = json_object_get(source->receipt, "package");
	const char *name = json_string_value(json_object_get(package, "name"));
	const char *version = json_string_value(json_object_get(package, "version"));
	const char *integrity =
		json_string_value(json_object_get(source->facts->download, "integrity"));
	json_t *subjects = json_array();
	char sha512[129];
	int r = 0;

	if (name && version && integrity_sha512(integrity, sha512)) {
		json_t *full = json_sprintf("%s@%s", name, version);

		r = json_array_append_new(
			subjects,
			full ? subject_json(json_string_value(full), "sha512", sha512) : NULL);
		json_decref(full);
	}
	r |= json_array_append_new(
		subjects, subject_json(STATEMENT_LOG_NAME, "sha256", source->facts->log_sha256));
	r |= json_array_append_new(subjects,
				   subject_json(STATEMENT_RECORD_NAME, "sha256", record_sha256));
	if (!r)
		return subjects;
	json_decref(subjects);
	return NULL;
}

static json_t *monitor_json(const struct claim_source *source)
{
	const json_t *versions =
		json_object_get(json_object_get(source->receipt, "images"), "versions");
	const json_t *evidence = json_object_get(source->receipt, "evidence");

	return json_pack("{s:s, s:{s:s, s:{s:s}}, s:{s:o, s:o, s:o}}", "type",
			 STATEMENT_MONITOR_TYPE, "configSource", "name",
			 source->rules_name ? source->rules_name : "default.json", "digest",
			 "sha256", source->rules_sha256, "tracePolicy", "tier",
			 member_or_null(evidence, "tier"), "qp", member_or_null(versions, "qp"),
			 "kernel", member_or_null(versions, "kernel"));
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* The host by its boot, the task by what is unique to it. */
static json_t *monitored_process_json(const struct claim_source *source)
{
	const json_t *preamble = source->facts->preamble;

	return json_pack("{s:o, s:s, s:o}", "hostID",
			 json_sprintf("urn:uuid:%s", text_of(preamble, "bootId")), "type",
			 STATEMENT_SANDBOX_TYPE, "event",
			 json_sprintf("%s/%s/%s", text_of(preamble, "mode"),
				      text_of(preamble, "taskId"), text_of(preamble, "nonce")));
}

/* Whether everything was seen: each marker holds, and the run came to its end. */
static bool is_complete(const struct claim_source *source)
{
	if (strcmp(text_of(source->receipt, "status"), "completed") != 0)
		return false;
	for (int i = 0; i < MARKER_CNT; i++)
		if (!source->facts->markers[i].ok)
			return false;
	return true;
}

/* What the monitor's log leaves out, by number: a reader must not take it for all. */
static json_t *omitted_json(const struct run_facts *facts)
{
	size_t listed = json_array_size(facts->processes);

	return json_pack(
		"{s:I, s:I}", "fileChanges", (json_int_t)facts->area_writes_omitted, "processes",
		facts->processes_total > listed ? (json_int_t)(facts->processes_total - listed)
						: (json_int_t)0);
}

static json_t *predicate_json(const struct claim_source *source)
{
	json_t *predicate = json_object();
	int r = 0;

	member_set(predicate, "monitor", monitor_json(source), &r);
	member_set(predicate, "monitoredProcess", monitored_process_json(source), &r);
	member_set(predicate, "monitorLog", statement_monitor_log(source), &r);
	member_set(predicate, "metadata",
		   json_pack("{s:o, s:o}", "buildStartedOn",
			     member_or_null(source->receipt, "startedAt"), "buildFinishedOn",
			     member_or_null(source->receipt, "finishedAt")),
		   &r);
	member_set(predicate, "actors", statement_actors(source), &r);
	member_set(predicate, "omitted", omitted_json(source->facts), &r);
	member_set(predicate, "verdict", member_or_null(source->receipt, "verdict"), &r);
	member_set(predicate, "complete", json_boolean(is_complete(source)), &r);
	member_set(predicate, "knownLimitations",
		   member_or_null(source->receipt, "knownLimitations"), &r);
	member_set(predicate, "receipt", json_incref((json_t *)source->receipt), &r);
	if (!r)
		return predicate;
	json_decref(predicate);
	return NULL;
}

json_t *statement_build(const struct claim_source *source, const char *record_sha256)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "_type", STATEMENT_TYPE, "predicateType",
			 STATEMENT_PREDICATE_TYPE, "subject", subjects_json(source, record_sha256),
			 "predicate", predicate_json(source));
}
