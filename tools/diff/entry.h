/* SPDX-License-Identifier: Apache-2.0 */
/* An observation without what belongs to its run only. */
#ifndef QP_TOOLS_DIFF_ENTRY_H
#define QP_TOOLS_DIFF_ENTRY_H

#include "tools/diff/facts.h"
#include "tools/diff/fold.h"

/* How many entries an observation gives: one for each question of a DNS query, none for a
 * marker of completeness, otherwise one. */
size_t entry_cnt(const json_t *observation);

enum fact_section entry_section(const json_t *observation);

/* The entry number @n, below entry_cnt; a new object, NULL when out of memory. */
json_t *entry_build(const struct fold *fold, const json_t *observation, size_t n, bool loose);

#endif
