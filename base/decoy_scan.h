/* SPDX-License-Identifier: Apache-2.0 */
/* One stream of bytes, in pieces of any size, searched for decoys through escapes and
 * compression. */
#ifndef QP_BASE_DECOY_SCAN_H
#define QP_BASE_DECOY_SCAN_H

#include "base/decoys.h"

/* What one stream may unpack to; beyond it the stream counts as not searched. */
#define DECOY_INFLATE_MAX (16U << 20)
/* Memory of a stream while it unpacks, roughly. */
#define DECOY_INFLATE_BYTES 48000

enum unescape_state {
	UNESCAPE_TEXT,
	UNESCAPE_BACKSLASH,
	UNESCAPE_HEX, /* `digits` of them to come */
};

/* Bytes as they are, and the same with escapes undone. */
struct decoy_layer {
	uint16_t raw, plain; /* where the automaton is */
	uint8_t unescape;    /* enum unescape_state */
	uint8_t digits, value;
};

struct decoy_inflater;

/* All zero at a stream's start. */
struct decoy_scan {
	struct decoy_layer layer;
	/* While something is being unpacked: the whole stream, and gzip from anywhere in it. */
	struct decoy_inflater *body, *found;
	bool begun;
	bool held;	 /* `first` is the stream's only byte so far */
	bool unsearched; /* unpacked to more than the bound, or no memory */
	uint8_t first;
	uint8_t magic; /* bytes of gzip's that were just read */
	struct decoy_hits hits;
};

/*
 * The next @len bytes. @may_be_body: the stream may be zlib's or a bare deflate stream, as a
 * request's body is; gzip is found wherever it begins. What is packed twice is unpacked once.
 * A NULL @decoys does nothing.
 */
void decoy_scan_feed(struct decoy_scan *scan, const struct decoys *decoys, const void *bytes,
		     size_t len, bool may_be_body);

/* Frees what the stream holds; hits stay. */
void decoy_scan_end(struct decoy_scan *scan);

/* Bytes of memory beyond the struct. */
size_t decoy_scan_memory(const struct decoy_scan *scan);

/* A whole piece: a datagram, arguments. Adds to *hits; true when it was searched to its end. */
bool decoys_search(const struct decoys *decoys, const void *bytes, size_t len,
		   struct decoy_hits *hits);

/* A host name, labels joined by dots, in which a value may run over several labels. */
void decoys_search_name(const struct decoys *decoys, const char *name, size_t len,
			struct decoy_hits *hits);

#endif
