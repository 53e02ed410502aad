/* SPDX-License-Identifier: Apache-2.0 */
/* Where two JSON values first differ. */
#ifndef QP_RULES_DIFFERENCE_H
#define QP_RULES_DIFFERENCE_H

#include <jansson.h>
#include <stddef.h>

#define DIFFERENCE_POINTER_SIZE 256
#define DIFFERENCE_VALUE_SIZE	96

struct difference {
	char pointer[DIFFERENCE_POINTER_SIZE]; /* RFC 6901; cut at the front with "..." */
	/* What stands there: JSON, cut with "...", "an object", "an array", or "nothing". */
	char claimed[DIFFERENCE_VALUE_SIZE];
	char rebuilt[DIFFERENCE_VALUE_SIZE];
};

/*
 * The first difference in the order of the canonical spelling (members by key). 1 and
 * *ret_difference when there is one, 0 when both are equal, -ELOOP past 256 levels,
 * -ENOMEM.
 */
int difference_find(const json_t *claimed, const json_t *rebuilt,
		    struct difference *ret_difference);

#endif
