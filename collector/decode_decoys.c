// SPDX-License-Identifier: Apache-2.0
/* Which decoys' values were where: the recording side knows the values and found them, the
 * log has their labels. */
#include "collector/decode_net.h"

#include <string.h>

#define LABELS_MAX 64

struct use_key {
	uint64_t seq;
	uint64_t cpu;
};

static const char *const lists[] = {"decoys", "decoyEncodings"};
#define LISTS_CNT (sizeof(lists) / sizeof(lists[0]))

int decoy_use_put(struct decoder *d, json_t *record)
{
	struct use_key key = {.seq = (uint64_t)json_member_int(record, "seq", 0),
			      .cpu = (uint64_t)json_member_int(record, "cpu", 0)};
	int r;

	if (json_is_true(json_object_get(record, "unsearched")))
		trace_fail(d, "arguments that could not be searched for decoys");
	if (map_get(&d->decoy_uses, &key, sizeof(key)))
		return 0;
	r = map_put(&d->decoy_uses, &key, sizeof(key), (uintptr_t)record);
	if (r == 0)
		json_incref(record);
	return bounded(r);
}

void decoy_uses_clear(struct decoder *d)
{
	for (size_t i = 0; i < d->decoy_uses.size; i++)
		if (d->decoy_uses.entries[i].key)
			json_decref((json_t *)(uintptr_t)d->decoy_uses.entries[i].value);
	map_clear(&d->decoy_uses);
}

/* Adds the strings of @more that the observation's list has not yet. */
static int list_add(struct observation *observation, const char *key, const json_t *more)
{
	json_t *list = json_object_get(observation->extra, key), *text, *known;
	size_t i, k;

	if (!json_is_array(more) || !json_array_size(more))
		return 0;
	if (!list) {
		int r = observation_set(observation, key, json_array());

		if (r < 0)
			return r;
		list = json_object_get(observation->extra, key);
	}
	json_array_foreach ((json_t *)more, i, text) {
		bool there = !json_is_string(text) || json_array_size(list) == LABELS_MAX;

		json_array_foreach (list, k, known)
			there |= json_equal(known, text);
		if (!there && json_array_append(list, text) < 0)
			return -ENOMEM;
	}
	return 0;
}

int decoys_found_set(struct observation *observation, const json_t *record)
{
	for (size_t i = 0; i < LISTS_CNT; i++) {
		int r = list_add(observation, lists[i], json_object_get(record, lists[i]));

		if (r < 0)
			return r;
	}
	return 0;
}

int decoy_use_take(struct decoder *d, const struct kernel_event *event,
		   struct observation *observation)
{
	struct use_key key = {.seq = event->head.seq, .cpu = event->head.cpu};
	_cleanup_json_ json_t *record = NULL;
	uint64_t value;

	if (!map_remove(&d->decoy_uses, &key, sizeof(key), &value))
		return 0;
	record = (json_t *)(uintptr_t)value;
	return observation ? decoys_found_set(observation, record) : 0;
}
