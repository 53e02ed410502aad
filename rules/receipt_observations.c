// SPDX-License-Identifier: Apache-2.0
/* Observations as the receipt has them, and what they say to a prediction. */
#include "rules/receipt_parts.h"

#include "base/json.h"

#include <errno.h>
#include <string.h>

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *tristate_json(enum tristate value)
{
	return value == TRISTATE_NULL ? json_null() : json_boolean(value == TRISTATE_TRUE);
}

static json_t *number_json(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *observation_json(const struct observation *observation, size_t index,
				const char *nonce)
{
	json_t *object = json_object();
	int r = 0;

	member_set(object, "id", json_sprintf("o%zu", index + 1), &r);
	member_set(object, "kind", json_string(observation_kind_name(observation->kind)), &r);
	member_set(object, "actor", text_json(observation_actor_name(observation->actor)), &r);
	member_set(object, "outcome", text_json(observation_outcome_name(observation->outcome)),
		   &r);
	member_set(object, "package", text_json(observation->package), &r);
	member_set(object, "t", json_integer((json_int_t)observation->t_ns), &r);
	member_set(object, "pid", number_json(observation->pid), &r);
	member_set(object, "exe", text_json(observation->exe), &r);
	member_set(object, "asked", text_json(observation->asked), &r);
	member_set(object, "dest", text_json(observation->dest), &r);
	member_set(object, "orig_dest", text_json(observation->orig_dest), &r);
	member_set(object, "port", number_json(observation->port), &r);
	member_set(object, "sni", text_json(observation->sni), &r);
	member_set(object, "proto", text_json(observation->proto), &r);
	member_set(object, "blocked", tristate_json(observation->blocked), &r);
	member_set(object, "payload", tristate_json(observation->payload), &r);
	member_set(object, "path", text_json(observation->path), &r);
	member_set(object, "path2", text_json(observation->path2), &r);
	member_set(object, "nonce", text_json(nonce), &r);
	/* What only this kind has never takes the place of what all have. */
	if (!r && observation->extra && json_object_update_missing(object, observation->extra))
		r = -ENOMEM;
	if (!r)
		return object;
	json_decref(object);
	return NULL;
}

json_t *receipt_observations(const struct run_facts *facts)
{
	const char *nonce = json_string_value(json_object_get(facts->preamble, "nonce"));
	json_t *list = json_array();

	for (size_t i = 0; list && i < facts->observations.cnt; i++) {
		if (json_array_append_new(
			    list, observation_json(&facts->observations.items[i], i, nonce))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = folder ? strlen(folder) : 0;

	return path && len && !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

/* What of an observation answers a dimension: a text, or NULL when it does not. */
typedef const char *(*detail_func)(const struct observation *observation, const char *work);

static const char *network_detail(const struct observation *observation, const char *work)
{
	(void)work;
	if (observation->kind < OBSERVATION_NET_DNS || observation->kind > OBSERVATION_NET_LISTEN)
		return NULL;
	if (observation->dest)
		return observation->dest;
	return observation->orig_dest ?: observation->path ?: "";
}

static const char *file_detail(const struct observation *observation, const char *work)
{
	if (observation->kind < OBSERVATION_FILE_WRITE || observation->kind > OBSERVATION_FILE_META)
		return NULL;
	if (observation->path2 && !is_below(observation->path2, work))
		return observation->path2;
	if (observation->path && is_below(observation->path, work))
		return NULL;
	return observation->path ?: "";
}

static const char *process_detail(const struct observation *observation, const char *work)
{
	(void)work;
	return observation->kind == OBSERVATION_SPAWN ? observation->exe ?: "" : NULL;
}

/* Appends @text unless it is the empty one or there already. */
static int detail_add(json_t *set, json_t *list, const char *text)
{
	if (!*text || json_object_get(set, text))
		return 0;
	if (json_object_set_new(set, text, json_true()) ||
	    json_array_append_new(list, json_string(text)))
		return -ENOMEM;
	return 0;
}

static json_t *dimension_json(const struct run_facts *facts, const char *name, detail_func detail)
{
	const char *work = json_string_value(
		json_object_get(json_object_get(facts->preamble, "areas"), "work"));
	json_t *details = json_array(), *ids = json_array();
	_cleanup_json_ json_t *seen = json_object();
	int r = 0;

	for (size_t i = 0; !r && i < facts->observations.cnt; i++) {
		const struct observation *observation = &facts->observations.items[i];
		const char *text;

		if (observation->actor != ACTOR_PACKAGE)
			continue;
		text = detail(observation, work);
		if (!text)
			continue;
		r = detail_add(seen, details, text);
		if (!r && json_array_append_new(ids, json_sprintf("o%zu", i + 1)))
			r = -ENOMEM;
	}
	if (r) {
		json_decref(details);
		json_decref(ids);
		return NULL;
	}
	return json_pack("{s:s, s:n, s:[], s:b, s:o, s:o, s:s, s:o}", "dimension", name,
			 "predicted", "predictedDetail", "observed", json_array_size(ids) > 0,
			 "observedDetail", details, "observationIds", ids, "status", "missing",
			 "package",
			 member_or_null(json_object_get(facts->download, "inventory"), "name"));
}

json_t *receipt_prediction(const struct run_facts *facts)
{
	return json_pack("[o, o, o]", dimension_json(facts, "network", network_detail),
			 dimension_json(facts, "filesOutsidePackage", file_detail),
			 dimension_json(facts, "childProcesses", process_detail));
}

json_t *receipt_explanation(void)
{
	return json_pack("{s:s, s:s, s:s, s:n, s:s}", "label", "explanation", "status", "missing",
			 "source", "none", "text", "note",
			 "The verdict is computed by deterministic rules from the observations; "
			 "this explanation never changes it.");
}

json_t *receipt_model(void)
{
	return json_pack("{s:s, s:[s, s, s], s:[], s:n, s:n, s:n, s:{s:s, s:i, s:n, s:n}}",
			 "status", "missing", "missing", "prediction", "explanation", "harness",
			 "attempts", "model", "prediction", "explanation", "harness", "source",
			 "fallback", "retries", 0, "firstError", "finalError");
}
