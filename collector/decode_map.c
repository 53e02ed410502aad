// SPDX-License-Identifier: Apache-2.0
/* Open addressing with linear probing; SipHash-1-3 (Aumasson and Bernstein) as the hash. */
#include "collector/decode_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAP_SIZE_MIN 64

static uint64_t rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static uint64_t sip_hash(const uint64_t seed[2], const void *bytes, size_t len)
{
	uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575ULL, seed[1] ^ 0x646f72616e646f6dULL,
			 seed[0] ^ 0x6c7967656e657261ULL, seed[1] ^ 0x7465646279746573ULL};
	const unsigned char *p = bytes;
	uint64_t last = (uint64_t)len << 56, word;

	for (size_t left = len; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	for (size_t i = 0; i < len % 8; i++)
		last |= (uint64_t)p[i] << (8 * i);
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void map_init(struct map *map, const uint64_t seed[2], size_t max)
{
	*map = (struct map){.seed = {seed[0], seed[1]}, .max = max};
}

void map_clear(struct map *map)
{
	for (size_t i = 0; i < map->size; i++)
		free(map->entries[i].key);
	free(map->entries);
	map->entries = NULL;
	map->cnt = map->size = 0;
}

/* Where the key is, or the free place where it would go. The size is a power of two. */
static struct map_entry *map_find(const struct map *map, uint64_t hash, const void *key, size_t len)
{
	for (size_t i = hash;; i++) {
		struct map_entry *entry = &map->entries[i & (map->size - 1)];

		if (!entry->key ||
		    (entry->hash == hash && entry->len == len && memcmp(entry->key, key, len) == 0))
			return entry;
	}
}

uint64_t *map_get(const struct map *map, const void *key, size_t len)
{
	struct map_entry *entry;

	if (!map->cnt)
		return NULL;
	entry = map_find(map, sip_hash(map->seed, key, len), key, len);
	return entry->key ? &entry->value : NULL;
}

static int map_grow(struct map *map)
{
	size_t size = map->size ? map->size * 2 : MAP_SIZE_MIN;
	struct map grown = *map;

	grown.entries = calloc(size, sizeof(*grown.entries));
	if (!grown.entries)
		return -ENOMEM;
	grown.size = size;
	for (size_t i = 0; i < map->size; i++) {
		const struct map_entry *old = &map->entries[i];

		if (old->key)
			*map_find(&grown, old->hash, old->key, old->len) = *old;
	}
	free(map->entries);
	*map = grown;
	return 0;
}

int map_put(struct map *map, const void *key, size_t len, uint64_t value)
{
	uint64_t hash = sip_hash(map->seed, key, len);
	struct map_entry *entry = map->cnt ? map_find(map, hash, key, len) : NULL;
	char *copy;

	if (entry && entry->key) {
		entry->value = value;
		return 0;
	}
	if (map->cnt >= map->max)
		return -E2BIG;
	if (map->cnt + 1 > map->size / 4 * 3 && map_grow(map) < 0)
		return -ENOMEM;
	copy = malloc(len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, key, len);
	copy[len] = '\0';
	entry = map_find(map, hash, key, len);
	entry->key = copy;
	entry->len = len;
	entry->hash = hash;
	entry->value = value;
	map->cnt++;
	return 0;
}

bool map_remove(struct map *map, const void *key, size_t len, uint64_t *ret_value)
{
	size_t mask = map->size - 1, hole, i;
	struct map_entry *entry;

	if (!map->cnt)
		return false;
	entry = map_find(map, sip_hash(map->seed, key, len), key, len);
	if (!entry->key)
		return false;
	if (ret_value)
		*ret_value = entry->value;
	free(entry->key);
	entry->key = NULL;
	map->cnt--;
	/* What was put behind the hole because of it moves up, or it would not be found. */
	hole = (size_t)(entry - map->entries);
	for (i = (hole + 1) & mask; map->entries[i].key; i = (i + 1) & mask) {
		size_t home = map->entries[i].hash & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		map->entries[hole] = map->entries[i];
		map->entries[i].key = NULL;
		hole = i;
	}
	return true;
}
