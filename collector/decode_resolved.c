// SPDX-License-Identifier: Apache-2.0
/*
 * Reading `resolved` records. There may be one for every other event, so those in the
 * collector's own spelling are read without a JSON reader; what is spelt in any other way is
 * left to that.
 */
#include "collector/decode_state.h"

#include <string.h>

#define DIGITS_MAX 18 /* of a number that surely fits */

struct cursor {
	const char *at, *end;
};

static bool take_text(struct cursor *c, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, text, len) != 0)
		return false;
	c->at += len;
	return true;
}

/* As JSON spells natural numbers: no leading zero. */
static bool take_number(struct cursor *c, json_int_t *ret_number)
{
	const char *begun = c->at;
	json_int_t number = 0;

	while (c->at < c->end && *c->at >= '0' && *c->at <= '9' && c->at - begun < DIGITS_MAX)
		number = number * 10 + (*c->at++ - '0');
	if (c->at == begun || (*begun == '0' && c->at - begun > 1))
		return false;
	*ret_number = number;
	return true;
}

static bool take_boolean(struct cursor *c, bool *ret_value)
{
	*ret_value = take_text(c, "true");
	return *ret_value || take_text(c, "false");
}

/* Printable ASCII without anything that is spelt with a backslash: its own raw form. */
static bool take_path(struct cursor *c, struct resolved_record *record)
{
	record->path = c->at;
	while (c->at < c->end && *c->at >= ' ' && *c->at <= '~' && *c->at != '"' && *c->at != '\\')
		c->at++;
	record->path_len = (size_t)(c->at - record->path);
	return true;
}

int resolved_take_plain(struct decoder *d, const struct log_record *record)
{
	struct cursor c = {(const char *)record->payload,
			   (const char *)record->payload + record->len};
	struct resolved_record plain;
	int r;

	if (!take_text(&c, "{\"cpu\":") || !take_number(&c, &plain.cpu) ||
	    !take_text(&c, ",\"seq\":") || !take_number(&c, &plain.seq) ||
	    !take_text(&c, ",\"role\":") || !take_number(&c, &plain.role) ||
	    !take_text(&c, ",\"exists\":") || !take_boolean(&c, &plain.exists) ||
	    !take_text(&c, ",\"path\":\"") || !take_path(&c, &plain) || !take_text(&c, "\"}") ||
	    c.at != c.end)
		return 0;
	r = resolved_put(d, &plain);
	return r < 0 ? r : 1;
}

int resolved_take_json(struct decoder *d, const json_t *object)
{
	_cleanup_free_ char *path = json_member_raw(object, "path");
	struct resolved_record record = {.cpu = json_member_int(object, "cpu", 0),
					 .seq = json_member_int(object, "seq", 0),
					 .role = json_member_int(object, "role", -1),
					 .exists = json_is_true(json_object_get(object, "exists")),
					 .path = path,
					 .path_len = path ? strlen(path) : 0};

	return resolved_put(d, &record);
}
