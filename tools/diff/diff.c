// SPDX-License-Identifier: Apache-2.0
/* Two sets of facts against each other. */
#include "tools/diff/diff.h"

#include "base/cleanup.h"
#include "tools/diff/facts.h"
#include "tools/show/summary.h"

#include <errno.h>
#include <string.h>

static struct fact *find(const struct facts *facts, const char *key)
{
	const json_t *index = json_object_get(facts->index, key);

	return index ? &facts->items[json_integer_value(index)] : NULL;
}

/*
 * What both have is matched. A name that is random by its looks on one side also matches
 * one that only could be: six letters of mkdtemp's may happen to look like a word.
 */
static void match(struct facts *from, const struct facts *with)
{
	for (size_t i = 0; i < from->cnt; i++) {
		struct fact *fact = &from->items[i];
		struct fact *other = find(with, fact->key);

		if (!other)
			other = find(with, fact->loose);
		if (!other)
			continue;
		fact->matched = true;
		other->matched = true;
	}
}

static int unmatched_add(json_t *list, const struct fact *fact)
{
	json_t *copy = json_copy(fact->entry);

	if (!copy || json_object_update(copy, fact->aside)) {
		json_decref(copy);
		return -ENOMEM;
	}
	return json_array_append_new(list, copy) ? -ENOMEM : 0;
}

/* The facts of @section that the other side lacks; NULL when out of memory. */
static json_t *unmatched(const struct facts *facts, enum fact_section section)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < facts->cnt; i++) {
		const struct fact *fact = &facts->items[i];

		if (fact->matched || fact->section != section)
			continue;
		if (unmatched_add(list, fact)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *text_json(const json_t *object, const char *name)
{
	const char *text = member_text(object, name);

	return *text ? json_string(text) : json_null();
}

static json_t *subject_json(const json_t *receipt)
{
	const json_t *package = json_object_get(receipt, "package");

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", text_json(package, "name"), "version",
			 text_json(package, "version"), "requested",
			 text_json(package, "requested"), "verdict", text_json(receipt, "verdict"),
			 "status", text_json(receipt, "status"));
}

/* {"a", "b"} where the two differ, otherwise null. */
static json_t *change_json(const json_t *a, const json_t *b, const char *name)
{
	if (!strcmp(member_text(a, name), member_text(b, name)))
		return json_null();
	return json_pack("{s:o, s:o}", "a", text_json(a, name), "b", text_json(b, name));
}

static const json_t *marker_ok(const json_t *receipt, const char *name)
{
	const json_t *marker = json_object_get(json_object_get(receipt, "completeness"), name);
	const json_t *ok = json_object_get(marker, "ok");

	return json_is_boolean(ok) ? ok : NULL;
}

static json_t *state_json(const json_t *ok)
{
	return ok ? json_boolean(json_is_true(ok)) : json_null();
}

static bool is_same_state(const json_t *a, const json_t *b)
{
	return !a == !b && json_is_true(a) == json_is_true(b);
}

/* Appends the markers that @names lists and that stand otherwise in the other receipt; those
 * of B only where A has none of that name. */
static int markers_add(json_t *list, const json_t *names, const json_t *a, const json_t *b)
{
	json_t *marker;
	const char *name;

	json_object_foreach (json_object_get(names, "completeness"), name, marker) {
		const json_t *of_a = marker_ok(a, name), *of_b = marker_ok(b, name);

		if (is_same_state(of_a, of_b) || (names == b && of_a))
			continue;
		if (json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "marker", name, "a",
							  state_json(of_a), "b", state_json(of_b))))
			return -ENOMEM;
	}
	return 0;
}

static json_t *completeness_json(const json_t *a, const json_t *b)
{
	json_t *list = json_array();

	if (markers_add(list, a, a, b) || (b != a && markers_add(list, b, a, b))) {
		json_decref(list);
		return NULL;
	}
	return list;
}

static int sections_set(json_t *diff, const struct facts *a, const struct facts *b, bool *same)
{
	for (int i = 0; i < SECTION_CNT; i++) {
		json_t *removed = unmatched(a, (enum fact_section)i);
		json_t *added = unmatched(b, (enum fact_section)i);

		*same = *same && !json_array_size(removed) && !json_array_size(added);
		if (json_object_set_new(
			    diff, section_name((enum fact_section)i),
			    json_pack("{s:o, s:o}", "added", added, "removed", removed)))
			return -ENOMEM;
	}
	return 0;
}

static int head_set(json_t *diff, const json_t *a, const json_t *b, bool *same)
{
	json_t *const values[] = {subject_json(a), subject_json(b), change_json(a, b, "verdict"),
				  change_json(a, b, "status"), completeness_json(a, b)};
	static const char *const names[] = {"a", "b", "verdict", "status", "completeness"};
	int r = 0;

	*same = json_is_null(values[2]) && json_is_null(values[3]) && !json_array_size(values[4]);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (json_object_set_new(diff, names[i], values[i]))
			r = -ENOMEM;
	return r;
}

int diff_build(const json_t *a, const json_t *b, json_t **ret_diff)
{
	__attribute__((cleanup(facts_clear))) struct facts of_a = {0}, of_b = {0};
	json_t *diff;
	bool same = false;
	int r;

	r = facts_read(a, &of_a);
	if (!r)
		r = facts_read(b, &of_b);
	if (r)
		return r;
	match(&of_a, &of_b);
	match(&of_b, &of_a);
	diff = json_pack("{s:s}", "schema", "qp-diff/1");
	r = head_set(diff, a, b, &same);
	if (!r)
		r = sections_set(diff, &of_a, &of_b, &same);
	if (!r && json_object_set_new(diff, "same", json_boolean(same)))
		r = -ENOMEM;
	if (r) {
		json_decref(diff);
		return r;
	}
	*ret_diff = diff;
	return 0;
}

bool diff_is_same(const json_t *diff)
{
	return json_is_true(json_object_get(diff, "same"));
}
