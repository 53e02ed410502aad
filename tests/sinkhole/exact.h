/* SPDX-License-Identifier: Apache-2.0 */
/* Input in a heap block of exactly its size, so that a sanitizer sees any read past it. */
#ifndef QP_TESTS_SINKHOLE_EXACT_H
#define QP_TESTS_SINKHOLE_EXACT_H

#include "base/cleanup.h"

#include <stdint.h>
#include <string.h>

static inline void *exact_copy(const void *bytes, size_t len)
{
	void *copy = malloc(len);

	if (!copy)
		abort();
	return memcpy(copy, bytes, len);
}

#endif
