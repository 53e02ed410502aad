/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoys of a run as they are searched for: each value in every spelling that whoever
 * sends it may choose. The values themselves are never given out again.
 */
#ifndef QP_BASE_DECOYS_H
#define QP_BASE_DECOYS_H

#include "base/automaton.h"
#include "base/error.h"

#include <jansson.h>

#define DECOYS_CNT_MAX	 64
#define DECOYS_VALUE_MIN 8 /* shorter ones turn up by chance */
#define DECOYS_VALUE_MAX 1024
#define DECOYS_JSON_MAX	 65536

/* How a value was spelt, and what it was wrapped in: bits. */
enum decoy_way {
	DECOY_PLAIN = 1,
	DECOY_REVERSED = 2,
	DECOY_HEX = 4,
	DECOY_BASE64 = 8, /* either alphabet, any alignment */
	DECOY_BASE32 = 16,
	DECOY_ESCAPED = 32,    /* percent, JSON or broken over lines */
	DECOY_COMPRESSED = 64, /* gzip or deflate */
	DECOY_WAYS_CNT = 7,
};

struct decoys;

/* @values: {"label": "value"}. -EINVAL when it is anything else, or beyond the bounds. */
int decoys_new(const json_t *values, struct decoys **ret_decoys, struct qp_error *err);

/* Reads @fd to its end and takes the JSON it gave. -EINVAL as decoys_new, or read errors. */
int decoys_read(int fd, struct decoys **ret_decoys, struct qp_error *err);
void decoys_free(struct decoys *decoys);

DEFINE_CLEANUP(decoys, struct decoys *, decoys_free);
#define _cleanup_decoys_ _cleanup_(decoys)

/* What was found: labels by number, and the ways in which. */
struct decoy_hits {
	uint64_t labels;
	uint32_t ways;
};

/* As it is, and for names: in either case, with the dots left out. */
const struct automaton *decoys_automaton(const struct decoys *decoys);
const struct automaton *decoys_name_automaton(const struct decoys *decoys);

/* Notes the string with that id. */
void decoys_note(uint16_t id, struct decoy_hits *hits);

/* The labels, in their order of byte values, and the ways, as new arrays of strings; NULL
 * when out of memory. */
json_t *decoys_labels(const struct decoys *decoys, const struct decoy_hits *hits);
json_t *decoys_ways(const struct decoy_hits *hits);

#endif
