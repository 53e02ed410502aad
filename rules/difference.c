// SPDX-License-Identifier: Apache-2.0
/* The walk through two values side by side, and the pointer to where they part. */
#include "rules/difference.h"

#include "base/cleanup.h"
#include "rules/canon.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 256

struct step {
	const struct step *parent; /* NULL: the root, which has no key */
	const char *key;	   /* NULL: an index */
	size_t index;
	int depth;
};

static void value_describe(const json_t *value, char text[static DIFFERENCE_VALUE_SIZE])
{
	_cleanup_free_ char *spelt = NULL;
	size_t len;

	if (!value || json_is_object(value) || json_is_array(value) ||
	    canon_dump(value, &spelt, &len)) {
		snprintf(text, DIFFERENCE_VALUE_SIZE, "%s",
			 !value			 ? "nothing"
			 : json_is_object(value) ? "an object"
						 : "an array");
		return;
	}
	if (len < DIFFERENCE_VALUE_SIZE) {
		memcpy(text, spelt, len + 1);
		return;
	}
	len = DIFFERENCE_VALUE_SIZE - sizeof("...");
	/* Not within a character. */
	while (len && ((unsigned char)spelt[len] & 0xc0) == 0x80)
		len--;
	memcpy(text, spelt, len);
	strcpy(text + len, "...");
}

/* The last part first, since what is nearest says most when not all fits. */
static void pointer_print(const struct step *step, char text[static DIFFERENCE_POINTER_SIZE])
{
	char *end = text + DIFFERENCE_POINTER_SIZE - 1, *at = end;

	*at = '\0';
	for (; step && step->parent; step = step->parent) {
		char number[24];
		const char *part = step->key;
		size_t len;

		if (!part) {
			snprintf(number, sizeof(number), "%zu", step->index);
			part = number;
		}
		len = strlen(part);
		for (size_t i = len; i--;) {
			if (at - text < 8)
				break;
			if (part[i] == '~' || part[i] == '/') {
				*--at = part[i] == '~' ? '0' : '1';
				*--at = '~';
			} else {
				*--at = part[i];
			}
		}
		if (at - text < 8) {
			at -= 3;
			memcpy(at, "...", 3);
			break;
		}
		*--at = '/';
	}
	memmove(text, at, (size_t)(end - at) + 1);
}

static int differ(const json_t *a, const json_t *b, const struct step *step,
		  struct difference *difference)
{
	pointer_print(step, difference->pointer);
	value_describe(a, difference->claimed);
	value_describe(b, difference->rebuilt);
	return 1;
}

static int compare(const json_t *a, const json_t *b, const struct step *step,
		   struct difference *difference);

static int compare_arrays(const json_t *a, const json_t *b, const struct step *step,
			  struct difference *difference)
{
	struct step next = {.parent = step, .depth = step->depth + 1};
	size_t cnt =
		json_array_size(a) > json_array_size(b) ? json_array_size(a) : json_array_size(b);
	int r = 0;

	for (; r == 0 && next.index < cnt; next.index++)
		r = compare(json_array_get(a, next.index), json_array_get(b, next.index), &next,
			    difference);
	return r;
}

static int key_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every key of both, sorted; one that both have is there twice. NULL: out of memory. */
static const char **keys_of(const json_t *a, const json_t *b, size_t *ret_cnt)
{
	size_t cnt = 0, room = json_object_size(a) + json_object_size(b);
	const char **keys = calloc(room ? room : 1, sizeof(*keys));
	const json_t *const objects[] = {a, b};
	const char *key;
	json_t *value;

	for (size_t i = 0; keys && i < 2; i++)
		json_object_foreach ((json_t *)objects[i], key, value) {
			if (cnt < room)
				keys[cnt++] = key;
		}
	if (keys)
		qsort(keys, cnt, sizeof(*keys), key_compare);
	*ret_cnt = cnt;
	return keys;
}

static int compare_objects(const json_t *a, const json_t *b, const struct step *step,
			   struct difference *difference)
{
	struct step next = {.parent = step, .depth = step->depth + 1};
	size_t cnt;
	_cleanup_free_ const char **keys = keys_of(a, b, &cnt);
	int r = 0;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < cnt; i++) {
		if (i && !strcmp(keys[i - 1], keys[i]))
			continue;
		next.key = keys[i];
		r = compare(json_object_get(a, keys[i]), json_object_get(b, keys[i]), &next,
			    difference);
	}
	return r;
}

static int compare(const json_t *a, const json_t *b, const struct step *step,
		   struct difference *difference)
{
	if (step->depth > DEPTH_MAX)
		return -ELOOP;
	if (json_is_object(a) && json_is_object(b))
		return compare_objects(a, b, step, difference);
	if (json_is_array(a) && json_is_array(b))
		return compare_arrays(a, b, step, difference);
	/* 1 and 1.0 are one number, and have one canonical spelling. */
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b)
			       ? 0
			       : differ(a, b, step, difference);
	return a && b && json_equal(a, b) ? 0 : differ(a, b, step, difference);
}

int difference_find(const json_t *claimed, const json_t *rebuilt, struct difference *ret_difference)
{
	const struct step root = {0};

	return compare(claimed, rebuilt, &root, ret_difference);
}
