// SPDX-License-Identifier: Apache-2.0
/* Small bridges between raw bytes and jansson. */
#include "collector/decode_json.h"

#include "base/escape.h"

#include <string.h>

json_t *json_escaped(const void *bytes, size_t len)
{
	_cleanup_free_ char *text = escape_bytes(bytes, len);

	return text ? json_string(text) : NULL;
}

json_t *json_escaped_text(const char *text)
{
	return text ? json_escaped(text, strlen(text)) : json_null();
}

json_t *json_argv(const void *bytes, size_t len)
{
	_cleanup_json_ json_t *list = json_array();
	const char *p = bytes;

	while (len) {
		const char *end = memchr(p, '\0', len);
		size_t here = end ? (size_t)(end - p) : len;

		if (json_array_append_new(list, json_escaped(p, here)) < 0)
			return NULL;
		here += end != NULL;
		p += here;
		len -= here;
	}
	return steal_ptr(list);
}

const char *json_member_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

json_int_t json_member_int(const json_t *object, const char *key, json_int_t otherwise)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

char *json_member_raw(const json_t *object, const char *key)
{
	const char *text = json_member_text(object, key);
	_cleanup_free_ char *raw = NULL;
	size_t len;

	if (!text)
		return NULL;
	raw = unescape_text(text, &len);
	if (!raw || strlen(raw) != len)
		return NULL;
	return steal_ptr(raw);
}
