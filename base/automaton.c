// SPDX-License-Identifier: Apache-2.0
/*
 * A trie whose failure links are worked into its transitions. Bytes that no string has
 * share one column, so that the table stays small.
 */
#include "base/automaton.h"

#include <string.h>

#define STATES_FIRST 1024
#define NO_ID	     UINT16_MAX

struct automaton {
	bool ignore_case, sealed;
	uint8_t column_of[256]; /* 0: of no string */
	unsigned columns_cnt;	/* column 0 included */
	/* While strings are added: the trie, a child and a sibling each. */
	uint16_t *child, *sibling;
	uint8_t *byte;
	uint16_t *id;	  /* of the string that ends here, or NO_ID */
	uint16_t *suffix; /* the nearest shorter state at which one ends; 0: none */
	uint16_t *next;	  /* [state * columns_cnt + column], once sealed */
	size_t cnt, allocated;
};

static uint8_t folded(const struct automaton *automaton, uint8_t c)
{
	return automaton->ignore_case && c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

static int array_grow(void **array, size_t cnt, size_t size)
{
	void *grown = realloc(*array, cnt * size);

	if (!grown)
		return -ENOMEM;
	*array = grown;
	return 0;
}

/* A new state; its number in *ret_state. */
static int state_add(struct automaton *automaton, uint8_t byte, uint16_t *ret_state)
{
	size_t cnt = automaton->cnt, wanted = automaton->allocated ? 2 * cnt : STATES_FIRST;

	if (cnt == AUTOMATON_STATES_MAX)
		return -ENOSPC;
	if (cnt == automaton->allocated) {
		if (array_grow((void **)&automaton->child, wanted, sizeof(uint16_t)) < 0 ||
		    array_grow((void **)&automaton->sibling, wanted, sizeof(uint16_t)) < 0 ||
		    array_grow((void **)&automaton->byte, wanted, sizeof(uint8_t)) < 0 ||
		    array_grow((void **)&automaton->id, wanted, sizeof(uint16_t)) < 0)
			return -ENOMEM;
		automaton->allocated = wanted;
	}
	automaton->child[cnt] = automaton->sibling[cnt] = 0;
	automaton->byte[cnt] = byte;
	automaton->id[cnt] = NO_ID;
	automaton->cnt++;
	*ret_state = (uint16_t)cnt;
	return 0;
}

struct automaton *automaton_new(bool ignore_case)
{
	_cleanup_automaton_ struct automaton *automaton = calloc(1, sizeof(*automaton));
	uint16_t root;

	if (!automaton)
		return NULL;
	automaton->ignore_case = ignore_case;
	automaton->columns_cnt = 1;
	return state_add(automaton, 0, &root) < 0 ? NULL : steal_ptr(automaton);
}

void automaton_free(struct automaton *automaton)
{
	if (!automaton)
		return;
	free(automaton->child);
	free(automaton->sibling);
	free(automaton->byte);
	free(automaton->id);
	free(automaton->suffix);
	free(automaton->next);
	free(automaton);
}

static uint16_t child_find(const struct automaton *automaton, uint16_t state, uint8_t byte)
{
	uint16_t child = automaton->child[state];

	while (child && automaton->byte[child] != byte)
		child = automaton->sibling[child];
	return child;
}

int automaton_add(struct automaton *automaton, const void *bytes, size_t len, uint16_t id)
{
	const uint8_t *p = bytes;
	uint16_t state = 0;

	if (automaton->sealed || !len)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		uint8_t c = folded(automaton, p[i]);
		uint16_t child = child_find(automaton, state, c);

		if (!child) {
			int r = state_add(automaton, c, &child);

			if (r < 0)
				return r;
			automaton->sibling[child] = automaton->child[state];
			automaton->child[state] = child;
		}
		if (!automaton->column_of[c])
			automaton->column_of[c] = (uint8_t)automaton->columns_cnt++;
		state = child;
	}
	if (automaton->id[state] == NO_ID)
		automaton->id[state] = id;
	return 0;
}

/* Fills the row of @state, whose own failure state is @fail, and queues its children. */
static void row_fill(struct automaton *automaton, uint16_t state, uint16_t fail, uint16_t *fails,
		     uint16_t *queue, size_t *queued)
{
	uint16_t *row = automaton->next + (size_t)state * automaton->columns_cnt;

	if (state)
		memcpy(row, automaton->next + (size_t)fail * automaton->columns_cnt,
		       automaton->columns_cnt * sizeof(*row));
	for (uint16_t child = automaton->child[state]; child; child = automaton->sibling[child]) {
		unsigned column = automaton->column_of[automaton->byte[child]];
		/* Before it is overwritten the row says where the failure state would go. */
		uint16_t behind = row[column];

		fails[child] = behind;
		automaton->suffix[child] =
			automaton->id[behind] != NO_ID ? behind : automaton->suffix[behind];
		row[column] = child;
		queue[(*queued)++] = child;
	}
}

int automaton_seal(struct automaton *automaton)
{
	_cleanup_free_ uint16_t *fails = calloc(automaton->cnt, sizeof(*fails));
	_cleanup_free_ uint16_t *queue = calloc(automaton->cnt, sizeof(*queue));
	size_t queued = 1; /* the root, 0, is there */

	automaton->next = calloc(automaton->cnt * automaton->columns_cnt, sizeof(uint16_t));
	automaton->suffix = calloc(automaton->cnt, sizeof(uint16_t));
	if (!fails || !queue || !automaton->next || !automaton->suffix)
		return -ENOMEM;
	/* By length: the row of a state's failure state is whole before its own is made. */
	for (size_t i = 0; i < queued; i++)
		row_fill(automaton, queue[i], fails[queue[i]], fails, queue, &queued);
	if (automaton->ignore_case)
		for (int c = 'A'; c <= 'Z'; c++)
			automaton->column_of[c] = automaton->column_of[c + 32];
	automaton->sealed = true;
	return 0;
}

void automaton_feed(const struct automaton *automaton, uint16_t *state, const void *bytes,
		    size_t len, automaton_hit_fn hit, void *context)
{
	const uint8_t *p = bytes;
	uint16_t at = *state;

	for (size_t i = 0; i < len; i++) {
		at = automaton->next[(size_t)at * automaton->columns_cnt +
				     automaton->column_of[p[i]]];
		if (automaton->id[at] == NO_ID && !automaton->suffix[at])
			continue;
		for (uint16_t found = at; found; found = automaton->suffix[found])
			if (automaton->id[found] != NO_ID)
				hit(context, automaton->id[found]);
	}
	*state = at;
}
