// SPDX-License-Identifier: Apache-2.0
/* Receipt to facts: observations, the rules that fired, what was installed. */
#include "tools/diff/facts.h"

#include "base/cleanup.h"
#include "rules/canon.h"
#include "tools/diff/entry.h"
#include "tools/show/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_FIRST 64

DEFINE_CLEANUP(fold, struct fold *, fold_free);

const char *section_name(enum fact_section section)
{
	static const char *const names[SECTION_CNT] = {
		[SECTION_RULES] = "rules", [SECTION_PACKAGES] = "packages",
		[SECTION_FILES] = "files", [SECTION_PROCESSES] = "processes",
		[SECTION_NAMES] = "names", [SECTION_NETWORK] = "network",
		[SECTION_ENV] = "env",	   [SECTION_OTHER] = "other",
	};

	return names[section];
}

static void fact_clear(struct fact *fact)
{
	json_decref(fact->entry);
	json_decref(fact->aside);
	free(fact->key);
	free(fact->loose);
}

static int room_make(struct facts *facts)
{
	size_t allocated = facts->allocated ? facts->allocated * 2 : FACTS_FIRST;
	struct fact *items;

	if (facts->cnt < facts->allocated)
		return 0;
	items = reallocarray(facts->items, allocated, sizeof(*items));
	if (!items)
		return -ENOMEM;
	facts->items = items;
	facts->allocated = allocated;
	return 0;
}

/* Several questions of one query may come to one fact. */
static int id_add(struct fact *fact, const char *id)
{
	json_t *ids = json_object_get(fact->aside, "observationIds");
	size_t cnt = json_array_size(ids);
	const char *last = cnt ? json_string_value(json_array_get(ids, cnt - 1)) : "";

	if (!*id || !strcmp(id, last))
		return 0;
	if (ids)
		return json_array_append_new(ids, json_string(id)) ? -ENOMEM : 0;
	ids = json_pack("[s]", id);
	return json_object_set_new(fact->aside, "observationIds", ids) ? -ENOMEM : 0;
}

/* Takes over @entry and @loose. A fact that is there already only gets the id. */
static int add_take(struct facts *facts, enum fact_section section, json_t *entry, json_t *loose,
		    const char *id)
{
	struct fact fact = {section, entry, json_object(), NULL, NULL, false};
	const json_t *known;
	size_t len;
	int r = entry && loose && fact.aside ? canon_dump(entry, &fact.key, &len) : -ENOMEM;

	if (!r)
		r = canon_dump(loose, &fact.loose, &len);
	json_decref(loose);
	known = r ? NULL : json_object_get(facts->index, fact.key);
	if (known) {
		r = id_add(&facts->items[json_integer_value(known)], id);
		fact_clear(&fact);
		return r;
	}
	if (!r)
		r = id_add(&fact, id);
	if (!r)
		r = room_make(facts);
	if (!r && json_object_set_new(facts->index, fact.key, json_integer((json_int_t)facts->cnt)))
		r = -ENOMEM;
	if (r) {
		fact_clear(&fact);
		return r;
	}
	facts->items[facts->cnt++] = fact;
	return 0;
}

static int observations_read(const struct fold *fold, const json_t *receipt, struct facts *facts)
{
	const json_t *observation;
	size_t i;

	json_array_foreach (json_object_get(receipt, "observations"), i, observation) {
		for (size_t n = 0; n < entry_cnt(observation); n++) {
			int r = add_take(facts, entry_section(observation),
					 entry_build(fold, observation, n, false),
					 entry_build(fold, observation, n, true),
					 member_text(observation, "id"));

			if (r)
				return r;
		}
	}
	return 0;
}

static int plain_add(struct facts *facts, enum fact_section section, json_t *entry)
{
	return add_take(facts, section, entry, entry ? json_incref(entry) : NULL, "");
}

/* A rule's words may change while it stays the same rule. */
static int rules_read(const json_t *receipt, struct facts *facts)
{
	const json_t *rule;
	size_t i;

	json_array_foreach (json_object_get(receipt, "rulesFired"), i, rule) {
		int r = plain_add(facts, SECTION_RULES,
				  json_pack("{s:s, s:s}", "id", member_text(rule, "id"), "tier",
					    member_text(rule, "tier")));

		if (r)
			return r;
		if (json_object_set_new(facts->items[facts->cnt - 1].aside, "text",
					json_string(member_text(rule, "text"))))
			return -ENOMEM;
	}
	return 0;
}

/* A package that was refused has no inventory: the checks say what it asked for. */
static int sources_read(const json_t *receipt, struct facts *facts)
{
	static const char *const checks[] = {"precheck", "lockcheck", "inventory"};
	const json_t *download = json_object_get(receipt, "download"), *item;
	size_t i;

	for (size_t check = 0; check < sizeof(checks) / sizeof(checks[0]); check++) {
		const json_t *found = json_object_get(download, checks[check]);

		json_array_foreach (json_object_get(found, "nonRegistry"), i, item) {
			int r = plain_add(facts, SECTION_PACKAGES,
					  json_pack("{s:s, s:s}", "nonRegistry",
						    member_text(item, "name"), "spec",
						    member_text(item, "spec")));

			if (r)
				return r;
		}
	}
	return 0;
}

/* Install scripts and sources other than the registry are what a receipt tells of a tree,
 * and how many packages it has. */
static int packages_read(const struct fold *fold, const json_t *receipt, struct facts *facts)
{
	const json_t *inventory =
		json_object_get(json_object_get(receipt, "download"), "inventory");
	const json_t *count = json_object_get(inventory, "packageCount"), *item;
	size_t i;
	int r = 0;

	if (json_is_integer(count))
		r = plain_add(facts, SECTION_PACKAGES,
			      json_pack("{s:I}", "count", json_integer_value(count)));
	json_array_foreach (json_object_get(inventory, "installScripts"), i, item) {
		const char *path = json_is_string(item) ? json_string_value(item) : "";
		_cleanup_free_ char *folded = fold_text(fold, path, FOLD_PATH, false);

		if (r || !folded)
			return r ? r : -ENOMEM;
		r = plain_add(facts, SECTION_PACKAGES, json_pack("{s:s}", "installScript", folded));
	}
	return r ? r : sources_read(receipt, facts);
}

int facts_read(const json_t *receipt, struct facts *ret_facts)
{
	_cleanup_(fold) struct fold *fold = NULL;
	int r;

	*ret_facts = (struct facts){.index = json_object()};
	if (!ret_facts->index)
		return -ENOMEM;
	r = fold_new(receipt, &fold);
	if (!r)
		r = rules_read(receipt, ret_facts);
	if (!r)
		r = packages_read(fold, receipt, ret_facts);
	return r ? r : observations_read(fold, receipt, ret_facts);
}

void facts_clear(struct facts *facts)
{
	for (size_t i = 0; i < facts->cnt; i++)
		fact_clear(&facts->items[i]);
	free(facts->items);
	json_decref(facts->index);
	*facts = (struct facts){0};
}
