/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many byte strings searched for at once (Aho and Corasick, 1975): one step for each byte,
 * whatever it is cut into.
 */
#ifndef QP_BASE_AUTOMATON_H
#define QP_BASE_AUTOMATON_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

/* States are numbered in 16 bits: the bytes of all strings together stay below it. */
#define AUTOMATON_STATES_MAX 65535

struct automaton;

/* @ignore_case: ASCII letters match in either case. NULL when out of memory. */
struct automaton *automaton_new(bool ignore_case);
void automaton_free(struct automaton *automaton);

DEFINE_CLEANUP(automaton, struct automaton *, automaton_free);
#define _cleanup_automaton_ _cleanup_(automaton)

/*
 * Adds a string of @len bytes, at least 1, known from here on as @id. A string that is
 * there already keeps its first id. 0; -ENOSPC past AUTOMATON_STATES_MAX; -ENOMEM.
 */
int automaton_add(struct automaton *automaton, const void *bytes, size_t len, uint16_t id);

/* Makes it ready to search; no string can be added after it. 0 or -ENOMEM. */
int automaton_seal(struct automaton *automaton);

/* Called with the id of a string whose last byte was just read. */
typedef void (*automaton_hit_fn)(void *context, uint16_t id);

/* Reads on from *state, 0 at a stream's start, and keeps there where it is. */
void automaton_feed(const struct automaton *automaton, uint16_t *state, const void *bytes,
		    size_t len, automaton_hit_fn hit, void *context);

#endif
