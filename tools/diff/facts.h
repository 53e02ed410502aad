/* SPDX-License-Identifier: Apache-2.0 */
/* A receipt as a set of facts: what was done, folded, each once, in the receipt's order. */
#ifndef QP_TOOLS_DIFF_FACTS_H
#define QP_TOOLS_DIFF_FACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum fact_section {
	SECTION_RULES,
	SECTION_PACKAGES,
	SECTION_PROCESSES,
	SECTION_FILES,
	SECTION_NAMES,
	SECTION_NETWORK,
	SECTION_ENV,
	SECTION_OTHER,
	SECTION_CNT,
};

/* "rules", "packages", ... */
const char *section_name(enum fact_section section);

struct fact {
	enum fact_section section;
	json_t *entry; /* what is compared: docs/diff.md */
	json_t *aside; /* told with it, not compared: observationIds, a rule's text */
	char *key;     /* canonical text of the entry */
	char *loose;   /* the same, folded loosely */
	bool matched;  /* the other receipt has it too */
};

struct facts {
	struct fact *items;
	size_t cnt, allocated;
	json_t *index; /* key -> index in items */
};

/* Reads all facts of @receipt, whoever made it: members of a wrong type count as missing.
 * 0 or a negative errno; *ret_facts is to be cleared either way. */
int facts_read(const json_t *receipt, struct facts *ret_facts);
void facts_clear(struct facts *facts);

#endif
