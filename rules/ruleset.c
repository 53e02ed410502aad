// SPDX-License-Identifier: Apache-2.0
/* The frame of a rule file: schema, sets and rules. Conditions are condition_read.c's. */
#include "rules/ruleset.h"

#include "base/json.h"
#include "rules/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA		    "qp-rules/1"
#define ID_BYTES_MAX	    32
#define RULE_TEXT_BYTES_MAX 512

DEFINE_CLEANUP(ruleset, struct ruleset *, ruleset_free);

/* @allowed ends with NULL. */
static int keys_check(struct reader *reader, const json_t *object, const char *const *allowed)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)object, name, value) {
		size_t i = 0;
		int r;

		while (allowed[i] && strcmp(allowed[i], name) != 0)
			i++;
		if (allowed[i])
			continue;
		reader_enter_key(reader, name);
		r = reader_fail(reader, READER_AT_KEY, "unknown key \"%s\"", name);
		reader_leave(reader);
		return r;
	}
	return 0;
}

static int member_fail(struct reader *reader, const char *key, const char *text)
{
	int r;

	reader_enter_key(reader, key);
	r = reader_fail(reader, READER_AT_VALUE, "%s", text);
	reader_leave(reader);
	return r;
}

static int id_check(struct reader *reader, const struct ruleset *ruleset, const char *id)
{
	size_t len = strlen(id);

	if (len > ID_BYTES_MAX || strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
		return member_fail(reader, "id", "an id is 1 to 32 of a-z, 0-9 and \"-\"");
	for (size_t i = 0; i < ruleset->cnt; i++)
		if (ruleset->rules[i].id && !strcmp(ruleset->rules[i].id, id))
			return member_fail(reader, "id", "this id is taken by an earlier rule");
	return 0;
}

static int tier_read(struct reader *reader, const json_t *value, enum verdict_level *ret_tier)
{
	const char *name;
	int tier, r;

	r = reader_string(reader, value, "tier", &name);
	if (r)
		return r;
	tier = verdict_level_parse(name);
	if (tier != VERDICT_REVIEW && tier != VERDICT_DO_NOT_INSTALL)
		return member_fail(reader, "tier", "a tier is \"review\" or \"do-not-install\"");
	*ret_tier = (enum verdict_level)tier;
	return 0;
}

static int when_read(struct reader *reader, const json_t *value, const struct pattern_sets *sets,
		     struct condition *ret_when)
{
	const json_t *when = json_object_get(value, "when");
	int r;

	if (!when)
		return reader_fail(reader, READER_AT_VALUE, "\"when\" is missing");
	reader_enter_key(reader, "when");
	r = condition_read(reader, when, sets, ret_when);
	reader_leave(reader);
	return r;
}

/* The reader stands on @value; @ruleset holds the rules before it and its place. */
static int rule_read(struct reader *reader, const json_t *value, struct ruleset *ruleset)
{
	static const char *const allowed[] = {"id", "tier", "text", "when", NULL};
	struct rule *rule = &ruleset->rules[ruleset->cnt];
	const char *id, *text;
	int r;

	if (!json_is_object(value))
		return reader_fail(reader, READER_AT_VALUE, "a rule must be an object");
	r = keys_check(reader, value, allowed);
	if (!r)
		r = reader_string(reader, value, "id", &id);
	if (!r)
		r = id_check(reader, ruleset, id);
	if (!r)
		r = tier_read(reader, value, &rule->tier);
	if (!r)
		r = reader_string(reader, value, "text", &text);
	if (!r && strlen(text) > RULE_TEXT_BYTES_MAX)
		r = member_fail(reader, "text", "a text of more than 512 bytes");
	if (!r)
		r = when_read(reader, value, &ruleset->sets, &rule->when);
	ruleset->cnt++;
	if (r)
		return r;
	rule->id = strdup(id);
	rule->text = strdup(text);
	return rule->id && rule->text ? 0 : -ENOMEM;
}

static int rules_read(struct reader *reader, const json_t *value, struct ruleset *ruleset)
{
	size_t cnt = json_array_size(value);
	int r = 0;

	if (!cnt || cnt > RULESET_RULES_MAX)
		return reader_fail(reader, READER_AT_VALUE,
				   "\"rules\" must be an array of 1 to %d rules",
				   RULESET_RULES_MAX);
	ruleset->rules = calloc(cnt, sizeof(*ruleset->rules));
	if (!ruleset->rules)
		return -ENOMEM;
	for (size_t i = 0; !r && i < cnt; i++) {
		reader_enter_index(reader, i);
		r = rule_read(reader, json_array_get(value, i), ruleset);
		reader_leave(reader);
	}
	return r;
}

static int root_read(struct reader *reader, const json_t *root, struct ruleset *ruleset)
{
	static const char *const allowed[] = {"schema", "sets", "rules", NULL};
	const json_t *sets = json_object_get(root, "sets"), *rules = json_object_get(root, "rules");
	const char *schema;
	int r = keys_check(reader, root, allowed);

	if (!r)
		r = reader_string(reader, root, "schema", &schema);
	if (!r && strcmp(schema, SCHEMA) != 0)
		r = member_fail(reader, "schema", "the schema of a rule file is \"" SCHEMA "\"");
	if (!r && sets) {
		reader_enter_key(reader, "sets");
		r = pattern_sets_read(reader, sets, &ruleset->sets);
		reader_leave(reader);
	}
	if (!r && !rules)
		r = reader_fail(reader, READER_AT_VALUE, "\"rules\" is missing");
	if (!r) {
		reader_enter_key(reader, "rules");
		r = rules_read(reader, rules, ruleset);
		reader_leave(reader);
	}
	return r;
}

/*
 * jansson names the place where it stopped reading; the token that it choked on, which its
 * text quotes when it is short, began before that.
 */
static int syntax_fail(const char *text, size_t len, const char *file, const json_error_t *error,
		       struct qp_error *err)
{
	size_t at = error->position > 0 ? (size_t)error->position : 0;
	const char *near = strstr(error->text, " near '");
	size_t near_len = near ? strlen(near + 7) - 1 : 0;
	struct place place = {error->line, error->column};

	if (json_error_code(error) == json_error_duplicate_key && at >= 2 && at <= len) {
		at -= 2;
		while (at && text[at] != '"')
			at--;
		place = place_at(text, len, at);
	} else if (near_len && near_len <= at && at <= len &&
		   !memcmp(text + at - near_len, near + 7, near_len)) {
		place = place_at(text, len, at - near_len);
	}
	return qp_error_at(err, -EINVAL, file, place.line, place.column, "%s", error->text);
}

int ruleset_parse(const char *text, size_t len, const char *file, struct ruleset **ret_ruleset,
		  struct qp_error *err)
{
	_cleanup_(ruleset) struct ruleset *ruleset = NULL;
	_cleanup_(json) json_t *root = NULL;
	struct reader reader = {.text = text, .len = len, .file = file, .err = err};
	json_error_t error;
	int r;

	if (len > RULESET_BYTES_MAX)
		return qp_error_at(err, -EFBIG, file, 0, 0, "a rule file has at most %u bytes",
				   RULESET_BYTES_MAX);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!root)
		return syntax_fail(text, len, file, &error, err);
	if (!json_is_object(root))
		return reader_fail(&reader, READER_AT_VALUE, "a rule file must be an object");
	ruleset = calloc(1, sizeof(*ruleset));
	if (!ruleset)
		return -ENOMEM;
	r = root_read(&reader, root, ruleset);
	if (r)
		return r;
	*ret_ruleset = steal_ptr(ruleset);
	return 0;
}

void ruleset_free(struct ruleset *ruleset)
{
	if (!ruleset)
		return;
	for (size_t i = 0; i < ruleset->cnt; i++) {
		free(ruleset->rules[i].id);
		free(ruleset->rules[i].text);
		condition_clear(&ruleset->rules[i].when);
	}
	free(ruleset->rules);
	pattern_sets_clear(&ruleset->sets);
	free(ruleset);
}
