// SPDX-License-Identifier: Apache-2.0
/* Streams: as they are, with escapes undone, unpacked, and both. */
#include "base/decoy_scan.h"

#include <string.h>
#include <zlib.h>

#define UNESCAPED_PIECE 1024
#define INFLATED_PIECE	16384
#define PERCENT_DIGITS	2
#define UNICODE_DIGITS	4
#define GZIP_MAGIC_LEN	3
#define ZLIB_METHOD	8
#define ZLIB_WINDOW_MAX 7
#define ZLIB_CHECK	31
#define WINDOW_GZIP	(15 + 16)
#define WINDOW_ZLIB	15
#define WINDOW_BARE	(-15)

static const uint8_t gzip_magic[GZIP_MAGIC_LEN] = {0x1f, 0x8b, 0x08};

struct decoy_inflater {
	z_stream zlib;
	struct decoy_layer layer;
	uint64_t out_bytes;
	uint8_t out[INFLATED_PIECE];
};

struct search {
	struct decoy_hits *hits;
	uint32_t wrapped; /* the ways that this layer adds */
	uint64_t known;	  /* labels that a simpler layer has found */
};

static void on_hit(void *context, uint16_t id)
{
	struct search *search = context;
	struct decoy_hits here = {};

	decoys_note(id, &here);
	if (!(here.labels & ~search->known))
		return;
	search->hits->labels |= here.labels;
	search->hits->ways |= here.ways | search->wrapped;
}

static int hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character behind a backslash, as JSON, C and JavaScript have it; -1: none. */
static int backslash_char(struct decoy_layer *layer, uint8_t c)
{
	layer->unescape = UNESCAPE_TEXT;
	if (c == 'u' || c == 'x') {
		layer->unescape = UNESCAPE_HEX;
		layer->digits = c == 'u' ? UNICODE_DIGITS : PERCENT_DIGITS;
		layer->value = 0;
		return -1;
	}
	return c == 'n' || c == 'r' ? -1 : c;
}

/* The next character with escapes undone and lines joined; -1: none came of this byte. */
static int unescape_char(struct decoy_layer *layer, uint8_t c)
{
	int digit;

	if (layer->unescape == UNESCAPE_BACKSLASH)
		return backslash_char(layer, c);
	if (layer->unescape == UNESCAPE_HEX) {
		digit = hex_value(c);
		if (digit >= 0) {
			layer->value = (uint8_t)(layer->value << 4 | digit);
			if (--layer->digits)
				return -1;
			layer->unescape = UNESCAPE_TEXT;
			return layer->value == '\r' || layer->value == '\n' ? -1 : layer->value;
		}
		layer->unescape = UNESCAPE_TEXT; /* no escape after all */
	}
	if (c == '\\')
		layer->unescape = UNESCAPE_BACKSLASH;
	if (c == '%') {
		layer->unescape = UNESCAPE_HEX;
		layer->digits = PERCENT_DIGITS;
		layer->value = 0;
	}
	return c == '\\' || c == '%' || c == '\r' || c == '\n' ? -1 : c;
}

static void layer_feed(struct decoy_layer *layer, const struct automaton *automaton,
		       const uint8_t *bytes, size_t len, uint32_t wrapped, struct decoy_hits *hits)
{
	struct search search = {hits, wrapped, 0};
	uint8_t plain[UNESCAPED_PIECE];

	automaton_feed(automaton, &layer->raw, bytes, len, on_hit, &search);
	search.wrapped |= DECOY_ESCAPED;
	search.known = hits->labels;
	for (size_t i = 0; i < len;) {
		size_t cnt = 0;

		for (; i < len && cnt < UNESCAPED_PIECE; i++) {
			int c = unescape_char(layer, bytes[i]);

			if (c >= 0)
				plain[cnt++] = (uint8_t)c;
		}
		automaton_feed(automaton, &layer->plain, plain, cnt, on_hit, &search);
	}
}

static void inflater_free(struct decoy_inflater **inflater)
{
	if (!*inflater)
		return;
	inflateEnd(&(*inflater)->zlib);
	free(*inflater);
	*inflater = NULL;
}

static struct decoy_inflater *inflater_new(struct decoy_scan *scan, int window)
{
	struct decoy_inflater *inflater = calloc(1, sizeof(*inflater));

	if (inflater && inflateInit2(&inflater->zlib, window) == Z_OK)
		return inflater;
	free(inflater);
	scan->unsearched = true;
	return NULL;
}

/* Unpacks and searches; frees *slot where the packed stream ends, or proves to be none.
 * Returns how many bytes it took. */
static size_t inflater_feed(struct decoy_scan *scan, struct decoy_inflater **slot,
			    const struct decoys *decoys, const uint8_t *bytes, size_t len)
{
	struct decoy_inflater *inflater = *slot;
	z_stream *zlib = &inflater->zlib;
	int r = Z_OK;

	zlib->next_in = (Bytef *)bytes;
	zlib->avail_in = (uInt)len;
	while (r == Z_OK) {
		size_t out;

		zlib->next_out = inflater->out;
		zlib->avail_out = INFLATED_PIECE;
		r = inflate(zlib, Z_NO_FLUSH);
		out = INFLATED_PIECE - zlib->avail_out;
		layer_feed(&inflater->layer, decoys_automaton(decoys), inflater->out, out,
			   DECOY_COMPRESSED, &scan->hits);
		inflater->out_bytes += out;
		if (inflater->out_bytes > DECOY_INFLATE_MAX) {
			scan->unsearched = true;
			r = Z_MEM_ERROR;
		}
	}
	len -= zlib->avail_in;
	if (r != Z_BUF_ERROR) /* that one only asks for more */
		inflater_free(slot);
	return len;
}

/* Whether a body begins as zlib's does (RFC 1950); else it may be a bare deflate stream. */
static int body_window(uint8_t first, uint8_t second)
{
	if ((first & 15) == ZLIB_METHOD && first >> 4 <= ZLIB_WINDOW_MAX &&
	    (first << 8 | second) % ZLIB_CHECK == 0)
		return WINDOW_ZLIB;
	return WINDOW_BARE;
}

static void body_feed(struct decoy_scan *scan, const struct decoys *decoys, const uint8_t *bytes,
		      size_t len)
{
	if (!scan->begun && !scan->held && len == 1) {
		scan->first = bytes[0];
		scan->held = true;
		return;
	}
	if (!scan->begun) {
		uint8_t first = scan->held ? scan->first : bytes[0];

		scan->begun = true;
		scan->body = inflater_new(scan, body_window(first, bytes[!scan->held]));
		if (scan->body && scan->held)
			inflater_feed(scan, &scan->body, decoys, &first, 1);
	}
	if (scan->body)
		inflater_feed(scan, &scan->body, decoys, bytes, len);
}

/* Looks for gzip's magic; returns how many bytes were passed, the magic included. */
static size_t magic_find(struct decoy_scan *scan, const uint8_t *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len && scan->magic < GZIP_MAGIC_LEN; i++) {
		if (bytes[i] != gzip_magic[scan->magic])
			scan->magic = 0;
		if (bytes[i] == gzip_magic[scan->magic])
			scan->magic++;
	}
	return i;
}

static void gzip_feed(struct decoy_scan *scan, const struct decoys *decoys, const uint8_t *bytes,
		      size_t len)
{
	while (len) {
		size_t used;

		if (scan->found) {
			used = inflater_feed(scan, &scan->found, decoys, bytes, len);
		} else {
			used = magic_find(scan, bytes, len);
			if (scan->magic == GZIP_MAGIC_LEN) {
				scan->magic = 0;
				scan->found = inflater_new(scan, WINDOW_GZIP);
				if (scan->found)
					inflater_feed(scan, &scan->found, decoys, gzip_magic,
						      GZIP_MAGIC_LEN);
			}
		}
		bytes += used;
		len -= used;
	}
}

void decoy_scan_feed(struct decoy_scan *scan, const struct decoys *decoys, const void *bytes,
		     size_t len, bool may_be_body)
{
	if (!decoys || !len)
		return;
	layer_feed(&scan->layer, decoys_automaton(decoys), bytes, len, 0, &scan->hits);
	if (may_be_body)
		body_feed(scan, decoys, bytes, len);
	gzip_feed(scan, decoys, bytes, len);
}

void decoy_scan_end(struct decoy_scan *scan)
{
	inflater_free(&scan->body);
	inflater_free(&scan->found);
}

size_t decoy_scan_memory(const struct decoy_scan *scan)
{
	return ((size_t)(scan->body != NULL) + (scan->found != NULL)) *
	       (sizeof(struct decoy_inflater) + DECOY_INFLATE_BYTES);
}

bool decoys_search(const struct decoys *decoys, const void *bytes, size_t len,
		   struct decoy_hits *hits)
{
	struct decoy_scan scan = {};

	decoy_scan_feed(&scan, decoys, bytes, len, true);
	decoy_scan_end(&scan);
	hits->labels |= scan.hits.labels;
	hits->ways |= scan.hits.ways;
	return !scan.unsearched;
}

void decoys_search_name(const struct decoys *decoys, const char *name, size_t len,
			struct decoy_hits *hits)
{
	struct decoy_layer layer = {};

	if (!decoys)
		return;
	for (size_t at = 0; at < len;) {
		const char *dot = memchr(name + at, '.', len - at);
		size_t end = dot ? (size_t)(dot - name) : len;

		layer_feed(&layer, decoys_name_automaton(decoys), (const uint8_t *)name + at,
			   end - at, 0, hits);
		at = end + 1;
	}
}
