// SPDX-License-Identifier: Apache-2.0
/*
 * How many bytes a process wrote to a file. The kernel sums up what each process wrote to
 * each inode, and numbers the sums; the record of the first write names the sum's number, and
 * so leads to the observation. What a process wrote through a descriptor that it was handed
 * down goes to the observation of who opened the file.
 */
#include "collector/decode_state.h"

#include <string.h>

#define ANCESTORS_MAX 64

struct file_key {
	uint64_t serial; /* of the process */
	uint64_t ino;
	uint32_t dev;
	uint32_t pad;
};

static struct file_key file_key(const struct process *process, const struct place *place)
{
	return (struct file_key){process->serial, place->path.ino, place->path.dev, 0};
}

static int remember(struct decoder *d, struct map *map, const void *key, size_t len, uint64_t value)
{
	int r = map_put(map, key, len, value);

	d->bytes_untold |= r == -E2BIG;
	return bounded(r);
}

int bytes_place(struct decoder *d, const struct process *process, const struct place *place,
		uint64_t seen)
{
	struct file_key key = file_key(process, place);

	return place->has_path && key.ino ? remember(d, &d->files, &key, sizeof(key), seen) : 0;
}

/* The number, from 1, of the observation that @place is in; 0 when there is none. */
static uint64_t find_observation(const struct decoder *d, const struct process *process,
				 const struct place *place)
{
	for (int i = 0; process && i < ANCESTORS_MAX; process = process->parent, i++) {
		struct file_key key = file_key(process, place);
		const uint64_t *seen = map_get(&d->files, &key, sizeof(key));

		if (seen)
			return *seen;
	}
	return 0;
}

int bytes_write(struct decoder *d, const struct step *step, const struct place *place)
{
	uint32_t number = step->event->call.written;
	const uint64_t *known;
	uint64_t seen;

	if (!number || !place->has_path)
		return 0;
	seen = find_observation(d, step->process, place);
	known = map_get(&d->sum_places, &number, sizeof(number));
	/* Numbers begin anew after four billion. */
	if (known && *known != seen)
		d->bytes_untold = true;
	return remember(d, &d->sum_places, &number, sizeof(number), seen);
}

void bytes_unknown(struct decoder *d, const struct process *process, const struct place *place)
{
	uint64_t seen = place->has_path ? find_observation(d, process, place) : 0;

	if (seen)
		d->notes[seen - 1].flags |= NOTE_BYTES_UNKNOWN;
}

int bytes_take(struct decoder *d, const json_t *record)
{
	const json_t *sums = json_object_get(record, "sums");
	json_t *pair;
	size_t i;

	if (!json_is_array(sums))
		d->bytes_untold = true;
	json_array_foreach ((json_t *)sums, i, pair) {
		json_int_t n = json_integer_value(json_array_get(pair, 0));
		json_int_t bytes = json_integer_value(json_array_get(pair, 1));
		uint32_t number = (uint32_t)n;
		const uint64_t *had = map_get(&d->sums, &number, sizeof(number));
		int r;

		if (n <= 0 || n > UINT32_MAX || bytes < 0) {
			d->bytes_untold = true;
			continue;
		}
		r = remember(d, &d->sums, &number, sizeof(number),
			     (had ? *had : 0) + (uint64_t)bytes);
		if (r < 0)
			return r;
	}
	return 0;
}

void bytes_add_up(struct decoder *d)
{
	for (size_t i = 0; i < d->sum_places.size; i++) {
		const struct map_entry *entry = &d->sum_places.entries[i];
		const uint64_t *bytes;
		struct note *note;

		if (!entry->key || !entry->value)
			continue;
		bytes = map_get(&d->sums, entry->key, entry->len);
		note = &d->notes[entry->value - 1];
		note->flags |= bytes ? NOTE_BYTES : NOTE_BYTES_UNKNOWN;
		note->bytes += bytes ? *bytes : 0;
	}
}

/* Whether every road by which bytes may have reached a file is in the sums. */
static bool all_summed_up(const struct decoder *d)
{
	const json_t *counters = json_object_get(d->facts.trailer, "counters");

	return !d->bytes_untold && d->facts.markers[MARKER_KERNEL_TRACE].ok &&
	       json_member_int(counters, "unsummedWrites", -1) == 0 &&
	       (!d->has_uring || json_object_get(counters, "uring"));
}

int bytes_fill(struct decoder *d)
{
	if (!all_summed_up(d))
		return 0;
	for (size_t i = 0; i < d->facts.observations.cnt; i++) {
		const struct note *note = &d->notes[i];
		int r;

		if (!(note->flags & NOTE_BYTES) || note->flags & NOTE_BYTES_UNKNOWN)
			continue;
		r = observation_set(&d->facts.observations.items[i], "bytes",
				    json_integer((json_int_t)note->bytes));
		if (r < 0)
			return r;
	}
	return 0;
}
