/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from byte strings to numbers with an upper bound on its size. Its hash is keyed,
 * so that who chooses the keys cannot make it slow; nothing depends on its order.
 */
#ifndef QP_COLLECTOR_DECODE_MAP_H
#define QP_COLLECTOR_DECODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	char *key; /* NULL: free. A NUL follows its bytes. */
	size_t len;
	uint64_t hash;
	uint64_t value;
};

struct map {
	uint64_t seed[2];
	size_t max; /* entries */
	size_t cnt, size;
	struct map_entry *entries;
};

/* An empty map takes no memory. */
void map_init(struct map *map, const uint64_t seed[2], size_t max);
void map_clear(struct map *map);

/* Borrowed until the map changes; NULL when the key is not there. */
uint64_t *map_get(const struct map *map, const void *key, size_t len);

/* Sets the key's value. 0, -ENOMEM, or -E2BIG when it is new and the map is full. */
int map_put(struct map *map, const void *key, size_t len, uint64_t value);

/* Removes it if it is there; *ret_value, unless NULL, is then what it had. */
bool map_remove(struct map *map, const void *key, size_t len, uint64_t *ret_value);

#endif
