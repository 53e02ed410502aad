// SPDX-License-Identifier: Apache-2.0
/* From values to the strings that are looked for. */
#include "base/decoys.h"

#include "base/io.h"

#include <string.h>

#define WAY_BITS      3 /* of an id: which way; the rest is the label's number */
#define BITS_PER_BYTE 8
#define BASE64_BITS   6
#define BASE64_CHUNK  3
#define BASE32_BITS   5
#define BASE32_CHUNK  5
#define SPELLING_MAX  (2 * DECOYS_VALUE_MAX)
#define LABEL_MAX     64

static const char base64_std[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64_url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
static const char hex_lower[] = "0123456789abcdef";
static const char hex_upper[] = "0123456789ABCDEF";

static const char *const way_names[DECOY_WAYS_CNT] = {
	"plain", "reversed", "hex", "base64", "base32", "escaped", "compressed",
};

struct decoys {
	struct automaton *exact, *name;
	char *labels[DECOYS_CNT_MAX]; /* sorted */
	size_t cnt;
};

struct spelling {
	uint8_t bytes[SPELLING_MAX];
	size_t len;
};

void decoys_free(struct decoys *decoys)
{
	if (!decoys)
		return;
	automaton_free(decoys->exact);
	automaton_free(decoys->name);
	for (size_t i = 0; i < decoys->cnt; i++)
		free(decoys->labels[i]);
	free(decoys);
}

/* Adds one spelling to both automata; names are looked for without their dots. */
static int spelling_add(struct decoys *decoys, struct spelling *spelling, enum decoy_way way)
{
	uint16_t id = (uint16_t)((decoys->cnt - 1) << WAY_BITS | (unsigned)__builtin_ctz(way));
	size_t kept = 0;
	int r = automaton_add(decoys->exact, spelling->bytes, spelling->len, id);

	for (size_t i = 0; i < spelling->len; i++)
		if (spelling->bytes[i] != '.')
			spelling->bytes[kept++] = spelling->bytes[i];
	if (r == 0 && kept >= DECOYS_VALUE_MIN)
		r = automaton_add(decoys->name, spelling->bytes, kept, id);
	return r;
}

static int hex_add(struct decoys *decoys, const uint8_t *value, size_t len, const char *digits)
{
	struct spelling spelling = {.len = 2 * len};

	for (size_t i = 0; i < len; i++) {
		spelling.bytes[2 * i] = (uint8_t)digits[value[i] >> 4];
		spelling.bytes[2 * i + 1] = (uint8_t)digits[value[i] & 15];
	}
	return spelling_add(decoys, &spelling, DECOY_HEX);
}

/*
 * The characters of RFC 4648's encodings that depend on nothing but the value, when it
 * begins @before bytes into a group.
 */
static void base_spell(const uint8_t *value, size_t len, size_t before, unsigned bits,
		       const char *alphabet, struct spelling *spelling)
{
	size_t start = before * BITS_PER_BYTE, end = start + len * BITS_PER_BYTE;

	spelling->len = 0;
	for (size_t at = (start + bits - 1) / bits * bits; at + bits <= end; at += bits) {
		unsigned digit = 0;

		for (size_t bit = at - start; bit < at - start + bits; bit++)
			digit = digit << 1 | (value[bit / 8] >> (7 - bit % 8) & 1);
		spelling->bytes[spelling->len++] = (uint8_t)alphabet[digit];
	}
}

static int base_add(struct decoys *decoys, const uint8_t *value, size_t len, unsigned bits,
		    size_t chunk, const char *alphabet, enum decoy_way way)
{
	struct spelling spelling;
	int r = 0;

	for (size_t before = 0; before < chunk && r == 0; before++) {
		base_spell(value, len, before, bits, alphabet, &spelling);
		r = spelling_add(decoys, &spelling, way);
	}
	return r;
}

static int value_add(struct decoys *decoys, const uint8_t *value, size_t len)
{
	struct spelling plain = {.len = len}, reversed = {.len = len};
	int r;

	for (size_t i = 0; i < len; i++) {
		plain.bytes[i] = value[i];
		reversed.bytes[i] = value[len - 1 - i];
	}
	r = spelling_add(decoys, &plain, DECOY_PLAIN);
	r = r < 0 ? r : spelling_add(decoys, &reversed, DECOY_REVERSED);
	r = r < 0 ? r : hex_add(decoys, value, len, hex_lower);
	r = r < 0 ? r : hex_add(decoys, value, len, hex_upper);
	r = r < 0 ? r
		  : base_add(decoys, value, len, BASE64_BITS, BASE64_CHUNK, base64_std,
			     DECOY_BASE64);
	r = r < 0 ? r
		  : base_add(decoys, value, len, BASE64_BITS, BASE64_CHUNK, base64_url,
			     DECOY_BASE64);
	return r < 0 ? r
		     : base_add(decoys, value, len, BASE32_BITS, BASE32_CHUNK, base32,
				DECOY_BASE32);
}

static int label_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The labels of @values, sorted, so that what is written does not hang on a hash. */
static int labels_sort(const json_t *values, const char *sorted[])
{
	const char *label;
	json_t *value;
	size_t cnt = 0;

	if (json_object_size(values) > DECOYS_CNT_MAX)
		return -EINVAL;
	json_object_foreach ((json_t *)values, label, value) {
		size_t len = json_string_length(value);

		if (!json_is_string(value) || len < DECOYS_VALUE_MIN || len > DECOYS_VALUE_MAX ||
		    !*label || strlen(label) > LABEL_MAX)
			return -EINVAL;
		sorted[cnt++] = label;
	}
	qsort(sorted, cnt, sizeof(*sorted), label_compare);
	return 0;
}

static int decoys_fill(struct decoys *decoys, const json_t *values)
{
	const char *sorted[DECOYS_CNT_MAX];
	int r = labels_sort(values, sorted);

	for (size_t i = 0; i < json_object_size(values) && r == 0; i++) {
		const json_t *value = json_object_get(values, sorted[i]);

		decoys->labels[decoys->cnt++] = strdup(sorted[i]);
		if (!decoys->labels[i])
			return -ENOMEM;
		r = value_add(decoys, (const uint8_t *)json_string_value(value),
			      json_string_length(value));
	}
	if (r == 0)
		r = automaton_seal(decoys->exact);
	return r < 0 ? r : automaton_seal(decoys->name);
}

int decoys_new(const json_t *values, struct decoys **ret_decoys, struct qp_error *err)
{
	_cleanup_decoys_ struct decoys *decoys = NULL;
	int r = -ENOMEM;

	if (!json_is_object(values))
		return qp_error_set(err, -EINVAL, "decoys are an object of labels and values");
	decoys = calloc(1, sizeof(*decoys));
	if (decoys) {
		decoys->exact = automaton_new(false);
		decoys->name = automaton_new(true);
		if (decoys->exact && decoys->name)
			r = decoys_fill(decoys, values);
	}
	if (r == -EINVAL)
		return qp_error_set(err, r,
				    "decoys: at most %d labels of at most %d characters, each with "
				    "a value of %d to %d bytes",
				    DECOYS_CNT_MAX, LABEL_MAX, DECOYS_VALUE_MIN, DECOYS_VALUE_MAX);
	if (r == -ENOSPC)
		return qp_error_set(err, -EINVAL, "decoys: too many and too long values");
	if (r < 0)
		return qp_error_set(err, r, "decoys: %s", strerror(-r));
	*ret_decoys = steal_ptr(decoys);
	return 0;
}

int decoys_read(int fd, struct decoys **ret_decoys, struct qp_error *err)
{
	_cleanup_free_ char *text = NULL;
	json_error_t why;
	json_t *values;
	size_t len;
	int r = read_all(fd, DECOYS_JSON_MAX, &text, &len);

	if (r < 0)
		return qp_error_set(err, r, "cannot read the decoys: %s", strerror(-r));
	values = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	explicit_bzero(text, len);
	if (!values)
		return qp_error_set(err, -EINVAL, "decoys: no JSON at line %d, column %d", why.line,
				    why.column);
	r = decoys_new(values, ret_decoys, err);
	json_decref(values);
	return r;
}

const struct automaton *decoys_automaton(const struct decoys *decoys)
{
	return decoys->exact;
}

const struct automaton *decoys_name_automaton(const struct decoys *decoys)
{
	return decoys->name;
}

void decoys_note(uint16_t id, struct decoy_hits *hits)
{
	hits->labels |= 1ULL << (id >> WAY_BITS);
	hits->ways |= 1U << (id & ((1U << WAY_BITS) - 1));
}

/* The names of the bits that are set. */
static json_t *names_of(uint64_t bits, const char *const *names, size_t cnt)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cnt && list; i++) {
		if (!(bits >> i & 1) || json_array_append_new(list, json_string(names[i])) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

json_t *decoys_labels(const struct decoys *decoys, const struct decoy_hits *hits)
{
	return names_of(hits->labels, (const char *const *)decoys->labels, decoys->cnt);
}

json_t *decoys_ways(const struct decoy_hits *hits)
{
	return names_of(hits->ways, way_names, DECOY_WAYS_CNT);
}
