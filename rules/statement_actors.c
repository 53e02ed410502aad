// SPDX-License-Identifier: Apache-2.0
/* Who did what: processes and sides grouped by actor and package, inside the signed claim. */
#include "rules/statement.h"

#include "base/json.h"
#include "rules/receipt_parts.h"

#include <errno.h>
#include <string.h>

/* Something of a group: a process of monitorLog.process, or an observation with a side. */
struct member {
	enum observation_actor actor;
	const char *package; /* "": none. Borrowed. */
	bool is_process;
	size_t index;
};

static int member_compare(const void *a_void, const void *b_void)
{
	const struct member *a = a_void, *b = b_void;
	int names;

	if (a->actor != b->actor)
		return a->actor < b->actor ? -1 : 1;
	names = strcmp(a->package, b->package);
	if (names)
		return names;
	if (a->is_process != b->is_process)
		return a->is_process ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static struct member *members_find(const struct run_facts *facts, size_t *ret_cnt)
{
	size_t processes = json_array_size(facts->processes), cnt = 0, i;
	struct member *members = calloc(processes + facts->observations.cnt + 1, sizeof(*members));
	json_t *process;

	if (!members)
		return NULL;
	json_array_foreach (facts->processes, i, process) {
		int actor = observation_actor_parse(text_of(process, "actor"));

		members[cnt++] =
			(struct member){actor < 0 ? ACTOR_NONE : (enum observation_actor)actor,
					text_of(process, "package"), true, i};
	}
	for (i = 0; i < facts->observations.cnt; i++) {
		const struct observation *observation = &facts->observations.items[i];

		if (statement_has_side(observation))
			members[cnt++] = (struct member){
				observation->actor,
				observation->package ? observation->package : "", false, i};
	}
	qsort(members, cnt, sizeof(*members), member_compare);
	*ret_cnt = cnt;
	return members;
}

static json_t *group_new(const struct member *member)
{
	const char *actor = observation_actor_name(member->actor);

	return json_pack("{s:s?, s:s?, s:[], s:[], s:[], s:[]}", "actor", actor, "package",
			 *member->package ? member->package : NULL, "processes", "effected",
			 "attempted", "undetermined");
}

static int group_add(json_t *group, const struct run_facts *facts, const struct member *member)
{
	const struct observation *observation;

	if (member->is_process)
		return json_array_append_new(json_object_get(group, "processes"),
					     json_integer((json_int_t)member->index));
	observation = &facts->observations.items[member->index];
	return json_array_append_new(json_object_get(group, statement_side(observation)),
				     json_sprintf("o%zu", member->index + 1));
}

json_t *statement_actors(const struct claim_source *source)
{
	size_t cnt;
	_cleanup_free_ struct member *members = members_find(source->facts, &cnt);
	_cleanup_json_ json_t *groups = json_array();
	json_t *group = NULL;

	if (!members)
		return NULL;
	for (size_t i = 0; i < cnt; i++) {
		const struct member *before = i ? &members[i - 1] : NULL;

		if (!before || before->actor != members[i].actor ||
		    strcmp(before->package, members[i].package) != 0) {
			group = group_new(&members[i]);
			if (json_array_append_new(groups, group))
				return NULL;
		}
		if (group_add(group, source->facts, &members[i]))
			return NULL;
	}
	return json_incref(groups);
}
