// SPDX-License-Identifier: Apache-2.0
/*
 * Names by a search tree, addresses by an array. The tree is balanced, so that whoever
 * chooses the names cannot make look-ups slow.
 */
#include "sinkhole/names.h"

#include <search.h>
#include <string.h>
#include <strings.h>

/* 198.18.0.0; the addresses of both families count up from here. */
#define POOL_BASE UINT32_C(0xc6120000)
#define GROW_BY	  256

struct named {
	uint32_t index; /* from 0 */
	char name[];
};

struct names {
	void *tree; /* of struct named, by name */
	struct named **by_index;
	uint32_t cnt, cap;
};

static int named_compare(const void *a, const void *b)
{
	return strcasecmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

struct names *names_new(void)
{
	return calloc(1, sizeof(struct names));
}

static void keep_node(void *node)
{
	(void)node;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	tdestroy(names->tree, keep_node);
	for (uint32_t i = 0; i < names->cnt; i++)
		free(names->by_index[i]);
	free(names->by_index);
	free(names);
}

static struct endpoint index_address(uint32_t index, uint8_t family)
{
	uint32_t number = htonl(POOL_BASE + 1 + index);
	uint8_t bytes[16] = {0xfd};

	if (family == AF_INET)
		return endpoint_make(AF_INET, &number, 0);
	memcpy(bytes + 12, &number, sizeof(number));
	return endpoint_make(AF_INET6, bytes, 0);
}

static int names_reserve(struct names *names)
{
	struct named **grown;

	if (names->cnt == NAMES_MAX)
		return -ENOSPC;
	if (names->cnt < names->cap)
		return 0;
	grown = realloc(names->by_index, (names->cap + GROW_BY) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	names->by_index = grown;
	names->cap += GROW_BY;
	return 0;
}

int names_address(struct names *names, const char *name, uint8_t family,
		  struct endpoint *ret_address)
{
	size_t size = strlen(name) + 1;
	struct named *named = malloc(sizeof(*named) + size);
	struct named **found;
	int r;

	if (!named)
		return -ENOMEM;
	memcpy(named->name, name, size);
	found = tfind(named, &names->tree, named_compare);
	if (found) {
		free(named);
		*ret_address = index_address((*found)->index, family);
		return 0;
	}
	r = names_reserve(names);
	if (r == 0 && !tsearch(named, &names->tree, named_compare))
		r = -ENOMEM;
	if (r < 0) {
		free(named);
		return r;
	}
	named->index = names->cnt;
	names->by_index[names->cnt++] = named;
	*ret_address = index_address(named->index, family);
	return 0;
}

const char *names_find(const struct names *names, const struct endpoint *address)
{
	static const uint8_t prefix[12] = {0xfd};
	const uint8_t *number = address->address;
	uint32_t value;

	if (address->family == AF_INET6) {
		if (memcmp(address->address, prefix, sizeof(prefix)) != 0)
			return NULL;
		number += sizeof(prefix);
	} else if (address->family != AF_INET) {
		return NULL;
	}
	memcpy(&value, number, sizeof(value));
	value = ntohl(value);
	if (value <= POOL_BASE || value - POOL_BASE > names->cnt)
		return NULL;
	return names->by_index[value - POOL_BASE - 1]->name;
}
