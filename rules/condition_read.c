// SPDX-License-Identifier: Apache-2.0
/* Reading conditions from a rule file: one table row per key, nothing else is allowed. */
#include "rules/condition.h"

#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PORT_MAX 65535

static const char *const field_names[FIELD_CNT] = {
	[FIELD_PATH] = "path",		 [FIELD_PATH2] = "path2",     [FIELD_EXE] = "exe",
	[FIELD_ASKED] = "asked",	 [FIELD_PACKAGE] = "package", [FIELD_DEST] = "dest",
	[FIELD_ORIG_DEST] = "orig_dest", [FIELD_SNI] = "sni",	      [FIELD_PROTO] = "proto",
};

struct context {
	struct reader *reader;
	const struct pattern_sets *sets;
	int depth;
};

/* Calls @read for a value alone, or for each element of an array that is not empty. */
static int each(struct context *context, const json_t *value, struct condition *condition,
		int (*read)(struct context *context, const json_t *value,
			    struct condition *condition))
{
	int r = 0;

	if (!json_is_array(value))
		return read(context, value, condition);
	if (!json_array_size(value))
		return reader_fail(context->reader, READER_AT_VALUE, "an empty list never matches");
	for (size_t i = 0; !r && i < json_array_size(value); i++) {
		reader_enter_index(context->reader, i);
		r = read(context, json_array_get(value, i), condition);
		reader_leave(context->reader);
	}
	return r;
}

static int name_read(struct context *context, const json_t *value, const char *what,
		     int (*parse)(const char *name), bool nullable, uint32_t *mask)
{
	int found = -1;

	if (json_is_string(value))
		found = parse(json_string_value(value));
	else if (nullable && json_is_null(value))
		found = 0;
	else
		return reader_fail(context->reader, READER_AT_VALUE, "%s must be a string%s", what,
				   nullable ? " or null" : "");
	if (found < 0)
		return reader_fail(context->reader, READER_AT_VALUE, "unknown %s \"%s\"", what,
				   json_string_value(value));
	*mask |= UINT32_C(1) << found;
	return 0;
}

static int kind_read(struct context *context, const json_t *value, struct condition *condition)
{
	return name_read(context, value, "kind", observation_kind_parse, false, &condition->kinds);
}

static int actor_read(struct context *context, const json_t *value, struct condition *condition)
{
	return name_read(context, value, "actor", observation_actor_parse, true,
			 &condition->actors);
}

static int outcome_read(struct context *context, const json_t *value, struct condition *condition)
{
	return name_read(context, value, "outcome", observation_outcome_parse, true,
			 &condition->outcomes);
}

static int has_read(struct context *context, const json_t *value, struct condition *condition)
{
	const char *name = json_string_value(value);

	for (int i = 0; name && i < FIELD_CNT; i++) {
		if (!strcmp(field_names[i], name)) {
			condition->has |= UINT32_C(1) << i;
			return 0;
		}
	}
	return reader_fail(context->reader, READER_AT_VALUE,
			   "\"has\" must name a text of the observation, such as \"path2\"");
}

static int tristate_read(struct context *context, const json_t *value, uint32_t *mask)
{
	if (!json_is_boolean(value) && !json_is_null(value))
		return reader_fail(context->reader, READER_AT_VALUE, "must be true, false or null");
	if (json_is_null(value))
		*mask |= UINT32_C(1) << TRISTATE_NULL;
	else
		*mask |= UINT32_C(1) << (json_is_true(value) ? TRISTATE_TRUE : TRISTATE_FALSE);
	return 0;
}

static int blocked_read(struct context *context, const json_t *value, struct condition *condition)
{
	return tristate_read(context, value, &condition->blocked);
}

static int payload_read(struct context *context, const json_t *value, struct condition *condition)
{
	return tristate_read(context, value, &condition->payload);
}

/* "8000-8999" */
static bool range_parse(const char *text, struct port_range *range)
{
	const char *dash = strchr(text, '-');
	uint64_t first, last;
	char head[8];

	if (!dash || (size_t)(dash - text) >= sizeof(head))
		return false;
	memcpy(head, text, (size_t)(dash - text));
	head[dash - text] = '\0';
	if (number_parse(head, 0, PORT_MAX, &first) ||
	    number_parse(dash + 1, first, PORT_MAX, &last))
		return false;
	*range = (struct port_range){(uint16_t)first, (uint16_t)last};
	return true;
}

static int port_read(struct context *context, const json_t *value, struct condition *condition)
{
	struct port_range range = {0}, *ports;
	json_int_t port = json_integer_value(value);

	if (condition->ports_cnt == CONDITION_PORTS_MAX)
		return reader_fail(context->reader, READER_AT_VALUE, "more than %d ports",
				   CONDITION_PORTS_MAX);
	if (json_is_integer(value) && port >= 0 && port <= PORT_MAX)
		range = (struct port_range){(uint16_t)port, (uint16_t)port};
	else if (!json_is_string(value) || !range_parse(json_string_value(value), &range))
		return reader_fail(context->reader, READER_AT_VALUE,
				   "a port must be 0 to %d, or a range such as \"8000-8999\"",
				   PORT_MAX);
	ports = reallocarray(condition->ports, condition->ports_cnt + 1, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	condition->ports = ports;
	ports[condition->ports_cnt++] = range;
	return 0;
}

/* Text is asked with patterns, the rest is compared as it is. */
static int member_read(struct context *context, const json_t *value, struct member_test *test)
{
	test->values = json_array();
	if (!test->values)
		return -ENOMEM;
	if (json_is_string(value) || json_is_array(value))
		return pattern_list_read(context->reader, value, context->sets, &test->patterns);
	if (json_is_object(value) || json_is_real(value))
		return reader_fail(context->reader, READER_AT_VALUE,
				   "must be a pattern, a list of them, a whole number, true, false "
				   "or null");
	return json_array_append(test->values, (json_t *)value) ? -ENOMEM : 0;
}

static int members_read(struct context *context, const json_t *value, struct condition *condition)
{
	size_t cnt = json_object_size(value);
	const char *name;
	json_t *wanted;
	int r = 0;

	if (!cnt || cnt > CONDITION_MEMBERS_MAX)
		return reader_fail(context->reader, READER_AT_VALUE,
				   "\"members\" must be an object of 1 to %d members",
				   CONDITION_MEMBERS_MAX);
	condition->members = calloc(cnt, sizeof(*condition->members));
	if (!condition->members)
		return -ENOMEM;
	json_object_foreach ((json_t *)value, name, wanted) {
		struct member_test *test = &condition->members[condition->members_cnt++];

		test->name = strdup(name);
		if (!test->name)
			return -ENOMEM;
		reader_enter_key(context->reader, name);
		r = member_read(context, wanted, test);
		reader_leave(context->reader);
		if (r)
			return r;
	}
	return 0;
}

static int object_read(struct context *context, const json_t *value, struct condition *condition);

static int branch_list_read(struct context *context, const json_t *value,
			    struct condition **branches, size_t *ret_cnt)
{
	size_t cnt = json_array_size(value);
	int r = 0;

	if (!cnt || cnt > CONDITION_BRANCHES_MAX)
		return reader_fail(context->reader, READER_AT_VALUE,
				   "must be an array of 1 to %d conditions",
				   CONDITION_BRANCHES_MAX);
	*branches = calloc(cnt, sizeof(**branches));
	if (!*branches)
		return -ENOMEM;
	for (size_t i = 0; !r && i < cnt; i++) {
		reader_enter_index(context->reader, i);
		r = object_read(context, json_array_get(value, i), &(*branches)[i]);
		reader_leave(context->reader);
		(*ret_cnt)++;
	}
	return r;
}

static int all_read(struct context *context, const json_t *value, struct condition *condition)
{
	return branch_list_read(context, value, &condition->all, &condition->all_cnt);
}

static int any_read(struct context *context, const json_t *value, struct condition *condition)
{
	return branch_list_read(context, value, &condition->any, &condition->any_cnt);
}

static int not_read(struct context *context, const json_t *value, struct condition *condition)
{
	condition->negated = calloc(1, sizeof(*condition->negated));
	return condition->negated ? object_read(context, value, condition->negated) : -ENOMEM;
}

struct key {
	const char *name;
	int (*read)(struct context *context, const json_t *value, struct condition *condition);
	bool listed; /* a value alone, or a list of which one must be it */
};

static const struct key keys[] = {
	{"kind", kind_read, true},	 {"actor", actor_read, true},
	{"outcome", outcome_read, true}, {"blocked", blocked_read, true},
	{"payload", payload_read, true}, {"port", port_read, true},
	{"has", has_read, true},	 {"members", members_read, false},
	{"all", all_read, false},	 {"any", any_read, false},
	{"not", not_read, false},
};

static int key_read(struct context *context, const char *name, const json_t *value,
		    struct condition *condition)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		return keys[i].listed ? each(context, value, condition, keys[i].read)
				      : keys[i].read(context, value, condition);
	}
	for (int i = 0; i < FIELD_CNT; i++)
		if (!strcmp(field_names[i], name))
			return pattern_list_read(context->reader, value, context->sets,
						 &condition->fields[i]);
	return reader_fail(context->reader, READER_AT_KEY, "unknown key \"%s\" in a condition",
			   name);
}

static int object_read(struct context *context, const json_t *value, struct condition *condition)
{
	const char *name;
	json_t *member;
	int r = 0;

	if (context->depth == CONDITION_DEPTH_MAX)
		return reader_fail(context->reader, READER_AT_VALUE,
				   "conditions are nested more than %d deep", CONDITION_DEPTH_MAX);
	if (!json_is_object(value) || !json_object_size(value))
		return reader_fail(context->reader, READER_AT_VALUE,
				   "a condition must be an object, not empty");
	context->depth++;
	json_object_foreach ((json_t *)value, name, member) {
		reader_enter_key(context->reader, name);
		r = key_read(context, name, member, condition);
		reader_leave(context->reader);
		if (r)
			break;
	}
	context->depth--;
	return r;
}

int condition_read(struct reader *reader, const json_t *value, const struct pattern_sets *sets,
		   struct condition *ret_condition)
{
	struct context context = {.reader = reader, .sets = sets};
	struct condition condition = {0};
	int r = object_read(&context, value, &condition);

	if (r)
		condition_clear(&condition);
	else
		*ret_condition = condition;
	return r;
}
