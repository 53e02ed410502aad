// SPDX-License-Identifier: Apache-2.0
/* The monitorLog of the statement, in the shape of in-toto's runtime-trace predicate:
 * processes with the programs started in them, network calls, files. */
#include "rules/statement.h"

#include "base/cleanup.h"
#include "rules/receipt_parts.h"

#include <errno.h>
#include <string.h>

bool statement_has_side(const struct observation *observation)
{
	return (observation->kind >= OBSERVATION_FILE_WRITE &&
		observation->kind <= OBSERVATION_FILE_META) ||
	       (observation->kind >= OBSERVATION_NET_DNS &&
		observation->kind <= OBSERVATION_NET_LISTEN);
}

const char *statement_side(const struct observation *observation)
{
	const char *name = observation_outcome_name(observation->outcome);

	return name ? name : observation_outcome_name(OUTCOME_UNDETERMINED);
}

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *number_json(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

/* Who did it, and on which side it is. */
static void common_set(json_t *object, const struct observation *observation, size_t index, int *r)
{
	member_set(object, "id", json_sprintf("o%zu", index + 1), r);
	member_set(object, "kind", json_string(observation_kind_name(observation->kind)), r);
	member_set(object, "outcome", json_string(statement_side(observation)), r);
	member_set(object, "actor", text_json(observation_actor_name(observation->actor)), r);
	member_set(object, "package", text_json(observation->package), r);
}

/* The address of "address:port" or "[address]:port", null when there is none. */
static json_t *address_json(const char *endpoint)
{
	const char *colon = endpoint ? strrchr(endpoint, ':') : NULL;
	size_t len;

	if (!colon)
		return json_null();
	len = (size_t)(colon - endpoint);
	if (len >= 2 && endpoint[0] == '[' && endpoint[len - 1] == ']')
		return json_stringn(endpoint + 1, len - 2);
	return json_stringn(endpoint, len);
}

static const char *transport(const struct observation *observation)
{
	switch (observation->kind) {
	case OBSERVATION_NET_TCP:
		return "tcp";
	case OBSERVATION_NET_UDP:
		return "udp";
	case OBSERVATION_NET_UNIX:
		return "unix";
	default:
		return observation->proto;
	}
}

static json_t *network_json(const struct observation *observation, size_t index)
{
	json_t *object = json_object();
	int r = 0;

	common_set(object, observation, index, &r);
	member_set(object, "ip", address_json(observation->orig_dest), &r);
	member_set(object, "hostname", text_json(observation->dest), &r);
	member_set(object, "port", number_json(observation->port), &r);
	member_set(object, "protocol", text_json(transport(observation)), &r);
	member_set(object, "path", text_json(observation->path), &r);
	member_set(object, "invokingProcess",
		   json_pack("{s:o, s:o}", "pid", number_json(observation->pid), "exe",
			     text_json(observation->exe)),
		   &r);
	if (!r)
		return object;
	json_decref(object);
	return NULL;
}

/* A ResourceDescriptor: what is not the file's own stands in its annotations. */
static json_t *file_json(const struct observation *observation, size_t index)
{
	json_t *annotations = json_object();
	int r = 0;

	common_set(annotations, observation, index, &r);
	member_set(annotations, "pid", number_json(observation->pid), &r);
	member_set(annotations, "exe", text_json(observation->exe), &r);
	member_set(annotations, "newPath", text_json(observation->path2), &r);
	if (r) {
		json_decref(annotations);
		return NULL;
	}
	return json_pack("{s:s, s:o}", "name", observation->path ? observation->path : "?",
			 "annotations", annotations);
}

/* A program that was started, and where its observation stands. */
struct start {
	int64_t pid;
	uint64_t t_ns;
	size_t index;
};

static int start_compare(const void *a_void, const void *b_void)
{
	const struct start *a = a_void, *b = b_void;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Every start, by pid and then by time. NULL: out of memory. */
static struct start *starts_find(const struct observations *list, size_t *ret_cnt)
{
	struct start *starts = calloc(list->cnt + 1, sizeof(*starts));

	*ret_cnt = 0;
	for (size_t i = 0; starts && i < list->cnt; i++)
		if (list->items[i].kind == OBSERVATION_SPAWN)
			starts[(*ret_cnt)++] =
				(struct start){list->items[i].pid, list->items[i].t_ns, i};
	if (starts)
		qsort(starts, *ret_cnt, sizeof(*starts), start_compare);
	return starts;
}

static json_t *program_json(const struct observation *observation, size_t index)
{
	return json_pack("{s:o, s:s, s:o, s:o, s:o}", "id", json_sprintf("o%zu", index + 1),
			 "outcome", statement_side(observation), "exe", text_json(observation->exe),
			 "asked", text_json(observation->asked), "argv",
			 member_or_null(observation->extra, "argv"));
}

/* The programs started in the process while it was there: its pid may have been another's. */
static json_t *programs_json(const struct run_facts *facts, const json_t *process,
			     const struct start *starts, size_t cnt)
{
	const json_t *begun = json_object_get(process, "startNs");
	const json_t *ended = json_object_get(process, "endNs");
	int64_t pid = json_integer_value(json_object_get(process, "pid"));
	json_t *programs = json_array();
	size_t low = 0, high = cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (starts[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < cnt && starts[low].pid == pid; low++) {
		json_int_t t = (json_int_t)starts[low].t_ns;

		if ((json_is_integer(begun) && t < json_integer_value(begun)) ||
		    (json_is_integer(ended) && t > json_integer_value(ended)))
			continue;
		if (json_array_append_new(
			    programs, program_json(&facts->observations.items[starts[low].index],
						   starts[low].index))) {
			json_decref(programs);
			return NULL;
		}
	}
	return programs;
}

static json_t *processes_json(const struct run_facts *facts)
{
	size_t cnt, i;
	_cleanup_free_ struct start *starts = starts_find(&facts->observations, &cnt);
	json_t *list = json_array();
	json_t *process;
	int r = starts ? 0 : -ENOMEM;

	json_array_foreach (facts->processes, i, process) {
		json_t *object = json_copy(process);

		if (!r)
			member_set(object, "programs", programs_json(facts, process, starts, cnt),
				   &r);
		if (json_array_append_new(list, object))
			r = -ENOMEM;
		if (r)
			break;
	}
	if (!r)
		return list;
	json_decref(list);
	return NULL;
}

json_t *statement_monitor_log(const struct claim_source *source)
{
	const struct observations *observations = &source->facts->observations;
	json_t *network = json_array(), *files = json_array();
	int r = 0;

	for (size_t i = 0; !r && i < observations->cnt; i++) {
		const struct observation *observation = &observations->items[i];

		if (observation->kind >= OBSERVATION_NET_DNS &&
		    observation->kind <= OBSERVATION_NET_LISTEN)
			r = json_array_append_new(network, network_json(observation, i));
		else if (observation->kind >= OBSERVATION_FILE_WRITE &&
			 observation->kind <= OBSERVATION_FILE_READ)
			r = json_array_append_new(files, file_json(observation, i));
	}
	if (r) {
		json_decref(network);
		json_decref(files);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o}", "process", processes_json(source->facts), "network",
			 network, "fileAccess", files);
}
