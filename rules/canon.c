// SPDX-License-Identifier: Apache-2.0
/* Canonical JSON: structure, strings and the order of keys. canon_number.c spells numbers. */
#include "rules/canon.h"

#include "base/cleanup.h"
#include "base/escape.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX    256
#define DOUBLE_EXACT (INT64_C(1) << 53)

struct buffer {
	char *bytes;
	size_t len, allocated;
};

static int put(struct buffer *out, const void *bytes, size_t len)
{
	if (out->allocated - out->len <= len) { /* one more for the NUL */
		size_t allocated = (out->allocated + len + 1) * 2;
		char *grown = realloc(out->bytes, allocated);

		if (!grown)
			return -ENOMEM;
		out->bytes = grown;
		out->allocated = allocated;
	}
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
	out->bytes[out->len] = '\0';
	return 0;
}

static int put_text(struct buffer *out, const char *text)
{
	return put(out, text, strlen(text));
}

static int put_escaped(struct buffer *out, unsigned char c)
{
	static const char *const shorts[0x20] = {
		['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r",
	};
	char text[7];

	if (c == '"')
		return put_text(out, "\\\"");
	if (c == '\\')
		return put_text(out, "\\\\");
	if (shorts[c])
		return put_text(out, shorts[c]);
	snprintf(text, sizeof(text), "\\u%04x", c);
	return put_text(out, text);
}

/* RFC 8785, 3.2.2.2 */
static int put_string(struct buffer *out, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t begun = 0, i = 0;
	int r = put(out, "\"", 1);

	while (!r && i < len) {
		size_t n = utf8_char_len(p + i, len - i);

		if (!n)
			return -EINVAL;
		if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\') {
			r = put(out, text + begun, i - begun);
			if (!r)
				r = put_escaped(out, p[i]);
			begun = i + 1;
		}
		i += n;
	}
	if (!r)
		r = put(out, text + begun, len - begun);
	return r ? r : put(out, "\"", 1);
}

static int put_number(struct buffer *out, const json_t *value)
{
	char text[CANON_NUMBER_SIZE];
	int r;

	if (json_is_integer(value)) {
		json_int_t n = json_integer_value(value);

		if (n >= -DOUBLE_EXACT && n <= DOUBLE_EXACT) {
			snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, n);
			return put_text(out, text);
		}
	}
	r = canon_number(json_number_value(value), text);
	return r ? r : put_text(out, text);
}

struct member {
	const char *key;
	size_t len;
	const json_t *value;
};

/*
 * RFC 8785, 3.2.3: by UTF-16 code units. UTF-8 bytes sort alike but for the characters
 * beyond U+FFFF (a lead byte of 0xf0 or more), whose surrogates come before U+E000.
 */
static int member_compare(const void *a_void, const void *b_void)
{
	const struct member *a = a_void, *b = b_void;
	size_t common = a->len < b->len ? a->len : b->len;

	for (size_t i = 0; i < common; i++) {
		unsigned char ca = (unsigned char)a->key[i], cb = (unsigned char)b->key[i];

		if (ca == cb)
			continue;
		if (ca >= 0xee && cb >= 0xee && (ca >= 0xf0) != (cb >= 0xf0))
			return ca >= 0xf0 ? -1 : 1;
		return ca < cb ? -1 : 1;
	}
	return (a->len > b->len) - (a->len < b->len);
}

static int put_value(struct buffer *out, const json_t *value, int depth);

static int put_object(struct buffer *out, const json_t *object, int depth)
{
	size_t cnt = json_object_size(object), i = 0;
	_cleanup_free_ struct member *members = calloc(cnt ? cnt : 1, sizeof(*members));
	int r;

	if (!members)
		return -ENOMEM;
	for (void *it = json_object_iter((json_t *)object); it && i < cnt;
	     it = json_object_iter_next((json_t *)object, it))
		members[i++] =
			(struct member){json_object_iter_key(it), json_object_iter_key_len(it),
					json_object_iter_value(it)};
	qsort(members, cnt, sizeof(*members), member_compare);
	r = put(out, "{", 1);
	for (i = 0; !r && i < cnt; i++) {
		if (i)
			r = put(out, ",", 1);
		if (!r)
			r = put_string(out, members[i].key, members[i].len);
		if (!r)
			r = put(out, ":", 1);
		if (!r)
			r = put_value(out, members[i].value, depth);
	}
	return r ? r : put(out, "}", 1);
}

static int put_array(struct buffer *out, const json_t *array, int depth)
{
	int r = put(out, "[", 1);

	for (size_t i = 0; !r && i < json_array_size(array); i++) {
		if (i)
			r = put(out, ",", 1);
		if (!r)
			r = put_value(out, json_array_get(array, i), depth);
	}
	return r ? r : put(out, "]", 1);
}

static int put_value(struct buffer *out, const json_t *value, int depth)
{
	if (depth == DEPTH_MAX)
		return -ELOOP;
	if (!value)
		return -EINVAL;
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return put_object(out, value, depth + 1);
	case JSON_ARRAY:
		return put_array(out, value, depth + 1);
	case JSON_STRING:
		return put_string(out, json_string_value(value), json_string_length(value));
	case JSON_INTEGER:
	case JSON_REAL:
		return put_number(out, value);
	case JSON_TRUE:
		return put_text(out, "true");
	case JSON_FALSE:
		return put_text(out, "false");
	case JSON_NULL:
		return put_text(out, "null");
	}
	return -EINVAL;
}

int canon_dump(const json_t *value, char **ret_text, size_t *ret_len)
{
	struct buffer out = {0};
	int r = put_value(&out, value, 0);

	if (r) {
		free(out.bytes);
		return r;
	}
	*ret_text = out.bytes;
	*ret_len = out.len;
	return 0;
}
