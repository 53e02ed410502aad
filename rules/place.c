// SPDX-License-Identifier: Apache-2.0
/* A walk over JSON text that is known to be valid. It looks at no more than it must. */
#include "rules/place.h"

#include "base/escape.h"

#include <jansson.h>
#include <string.h>

struct cursor {
	const char *text;
	size_t len, at;
};

static char peek(const struct cursor *cursor)
{
	return cursor->at < cursor->len ? cursor->text[cursor->at] : '\0';
}

static void skip_space(struct cursor *cursor)
{
	while (cursor->at < cursor->len && strchr(" \t\r\n", cursor->text[cursor->at]))
		cursor->at++;
}

static void skip_string(struct cursor *cursor)
{
	cursor->at++;
	while (cursor->at < cursor->len && cursor->text[cursor->at] != '"')
		cursor->at += cursor->text[cursor->at] == '\\' ? 2 : 1;
	cursor->at++;
}

static void skip_value(struct cursor *cursor)
{
	size_t depth = 0;

	do {
		char c;

		skip_space(cursor);
		c = peek(cursor);
		if (c == '"') {
			skip_string(cursor);
		} else if (c && strchr("{[", c)) {
			depth++;
			cursor->at++;
		} else if (c && strchr("}]", c)) {
			depth--;
			cursor->at++;
		} else if (c && strchr(",:", c)) {
			cursor->at++;
		} else {
			while (cursor->at < cursor->len &&
			       !strchr(" \t\r\n,:]}", cursor->text[cursor->at]))
				cursor->at++;
		}
	} while (depth && cursor->at < cursor->len);
}

/* Whether the string at the cursor spells @key, escapes decoded. */
static bool key_is(const struct cursor *cursor, const char *key)
{
	struct cursor end = *cursor;
	json_t *decoded;
	bool same;

	skip_string(&end);
	decoded = json_loadb(cursor->text + cursor->at, end.at - cursor->at, JSON_DECODE_ANY, NULL);
	same = json_is_string(decoded) && !strcmp(json_string_value(decoded), key);
	json_decref(decoded);
	return same;
}

/* From the '{' to the member's key, whose place is handed back, and on to its value. */
static bool enter_object(struct cursor *cursor, const char *key, size_t *ret_key_at)
{
	cursor->at++;
	for (;;) {
		bool found;

		skip_space(cursor);
		if (peek(cursor) != '"')
			return false;
		found = key_is(cursor, key);
		*ret_key_at = cursor->at;
		skip_string(cursor);
		skip_space(cursor);
		cursor->at++; /* ':' */
		skip_space(cursor);
		if (found)
			return true;
		skip_value(cursor);
		skip_space(cursor);
		if (peek(cursor) != ',')
			return false;
		cursor->at++;
	}
}

static bool enter_array(struct cursor *cursor, size_t index)
{
	cursor->at++;
	for (size_t i = 0; i < index; i++) {
		skip_value(cursor);
		skip_space(cursor);
		if (peek(cursor) != ',')
			return false;
		cursor->at++;
	}
	skip_space(cursor);
	return true;
}

struct place place_at(const char *text, size_t len, size_t offset)
{
	struct place place = {1, 1};

	for (size_t i = 0; i < offset && i < len;) {
		size_t n = utf8_char_len((const unsigned char *)text + i, len - i);

		if (text[i] == '\n') {
			place.line++;
			place.column = 1;
		} else {
			place.column++;
		}
		i += n ? n : 1;
	}
	return place;
}

struct place place_find(const char *text, size_t len, const struct place_step *steps, size_t cnt,
			bool at_key)
{
	struct cursor cursor = {.text = text, .len = len};
	size_t at;

	skip_space(&cursor);
	at = cursor.at;
	for (size_t i = 0; i < cnt; i++) {
		bool found;

		if (steps[i].key)
			found = peek(&cursor) == '{' && enter_object(&cursor, steps[i].key, &at);
		else
			found = peek(&cursor) == '[' && enter_array(&cursor, steps[i].index);
		if (!found)
			return (struct place){0, 0};
		if (!steps[i].key || !at_key || i + 1 < cnt)
			at = cursor.at;
	}
	return place_at(text, len, at);
}
