/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a JSON text a value stands, for errors that jansson no longer knows the place of. */
#ifndef QP_RULES_PLACE_H
#define QP_RULES_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* One step down from the root: into an object by key, or into an array by index. */
struct place_step {
	const char *key; /* NULL: an array */
	size_t index;
};

/* From 1, in characters; 0, 0 where it is not known. */
struct place {
	int line, column;
};

/*
 * Finds what @steps lead to in @text, which jansson has accepted without duplicate keys: the
 * place of the value or, with @at_key and a last step by key, of its key.
 */
struct place place_find(const char *text, size_t len, const struct place_step *steps, size_t cnt,
			bool at_key);

/* The place of the byte at @offset. */
struct place place_at(const char *text, size_t len, size_t offset);

#endif
