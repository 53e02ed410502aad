// SPDX-License-Identifier: Apache-2.0
/* Patterns: compiled once, matched without recursion. */
#include "rules/glob.h"

#include "base/cleanup.h"
#include "base/escape.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPANDED_PARTS_MAX (4 * GLOB_PARTS_MAX)

enum part_kind {
	PART_LITERAL,
	PART_WILD,
	PART_ANY_DEPTH,
	PART_VARIABLE,
};

struct part {
	enum part_kind kind;
	enum glob_variable variable;
	const char *text;
	size_t len;
};

struct glob {
	struct part parts[GLOB_PARTS_MAX];
	size_t cnt;
	char text[]; /* what the parts point into */
};

static const char *const variable_names[GLOB_VARIABLE_CNT] = {
	[GLOB_WORK] = "${work}", [GLOB_TMP] = "${tmp}",		[GLOB_HOME] = "${home}",
	[GLOB_SHM] = "${shm}",	 [GLOB_PACKAGE] = "${package}", [GLOB_PID] = "${pid}",
};

static bool part_is(const char *text, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(text, what, len);
}

/* Why the characters of a part are wrong, or NULL. */
static const char *characters_check(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c == 0x7f)
			return "a control character; paths spell it \\xHH";
		if (c == '\\' &&
		    (len - i < 4 || text[i + 1] != 'x' || !isxdigit((unsigned char)text[i + 2]) ||
		     !isxdigit((unsigned char)text[i + 3])))
			return "a backslash that does not begin \\xHH";
		if (c == '$' && i + 1 < len && text[i + 1] == '{')
			return "a variable must be a whole part and one of ${work}, ${tmp}, "
			       "${home}, ${shm}, ${package}, ${pid}";
		if (c == '*' && i + 1 < len && text[i + 1] == '*')
			return "\"**\" must be a whole part";
	}
	return NULL;
}

static const char *part_parse(struct part *part, const char *text, size_t len, bool first)
{
	*part = (struct part){.text = text, .len = len};
	if (!len && !first)
		return "an empty part";
	if (part_is(text, len, ".") || part_is(text, len, ".."))
		return "a \".\" or \"..\" part";
	if (part_is(text, len, "**")) {
		part->kind = PART_ANY_DEPTH;
		return NULL;
	}
	for (int i = 0; i < GLOB_VARIABLE_CNT; i++) {
		if (part_is(text, len, variable_names[i])) {
			part->kind = PART_VARIABLE;
			part->variable = (enum glob_variable)i;
			return i <= GLOB_SHM && !first ? "an area that is not the first part"
						       : NULL;
		}
	}
	if (memchr(text, '*', len) || memchr(text, '?', len))
		part->kind = PART_WILD;
	return characters_check(text, len);
}

static const char *parts_parse(struct glob *glob, size_t len)
{
	const char *p = glob->text, *end = p + len;

	for (;;) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		const char *part_end = slash ? slash : end, *reason;

		if (glob->cnt == GLOB_PARTS_MAX)
			return "too many parts";
		reason = part_parse(&glob->parts[glob->cnt], p, (size_t)(part_end - p), !glob->cnt);
		if (reason)
			return reason;
		glob->cnt++;
		if (!slash)
			return NULL;
		p = slash + 1;
	}
}

DEFINE_CLEANUP(glob, struct glob *, glob_free);

int glob_parse(const char *pattern, size_t len, struct glob **ret_glob, const char **ret_reason)
{
	_cleanup_(glob) struct glob *glob = NULL;

	*ret_reason = NULL;
	if (!len)
		*ret_reason = "an empty pattern";
	else if (len > GLOB_BYTES_MAX)
		*ret_reason = "a pattern of more than 4096 bytes";
	if (*ret_reason)
		return -EINVAL;
	glob = calloc(1, sizeof(*glob) + len + 1);
	if (!glob)
		return -ENOMEM;
	memcpy(glob->text, pattern, len);
	*ret_reason = parts_parse(glob, len);
	if (*ret_reason)
		return -EINVAL;
	*ret_glob = steal_ptr(glob);
	return 0;
}

void glob_free(struct glob *glob)
{
	free(glob);
}

/* Appends the parts of a variable's value. An area must be an absolute path of at least
 * one name: "/" would allow everything. */
static bool value_expand(enum glob_variable variable, const char *value, struct part *parts,
			 size_t *cnt)
{
	if (!value || !*value)
		return false;
	if (variable <= GLOB_SHM && (value[0] != '/' || !value[1]))
		return false;
	for (const char *p = value;; p++) {
		const char *slash = strchr(p, '/');
		size_t len = slash ? (size_t)(slash - p) : strlen(p);

		if (*cnt == EXPANDED_PARTS_MAX)
			return false;
		parts[(*cnt)++] = (struct part){.kind = PART_LITERAL, .text = p, .len = len};
		if (!slash)
			return true;
		p = slash;
	}
}

static bool parts_expand(const struct glob *glob, const struct glob_values *values,
			 struct part *parts, size_t *ret_cnt)
{
	size_t cnt = 0;

	for (size_t i = 0; i < glob->cnt; i++) {
		const struct part *part = &glob->parts[i];

		if (part->kind == PART_VARIABLE) {
			if (!value_expand(part->variable, values->values[part->variable], parts,
					  &cnt))
				return false;
			continue;
		}
		if (cnt == EXPANDED_PARTS_MAX)
			return false;
		parts[cnt++] = *part;
	}
	*ret_cnt = cnt;
	return true;
}

/* The bytes of one character of escaped text: an \xHH, or a UTF-8 character. */
static size_t character_len(const char *text, size_t len)
{
	size_t n;

	if (text[0] == '\\' && len >= 4)
		return 4;
	n = utf8_char_len((const unsigned char *)text, len);
	return n ? n : 1;
}

/* One part against one part; on a mismatch the last '*' takes one character more. */
static bool wild_match(const struct part *part, const char *text, size_t len)
{
	size_t p = 0, t = 0, star = SIZE_MAX, star_t = 0;

	while (t < len) {
		if (p < part->len && part->text[p] == '*') {
			star = p++;
			star_t = t;
		} else if (p < part->len && part->text[p] == '?') {
			p++;
			t += character_len(text + t, len - t);
		} else if (p < part->len && part->text[p] == text[t]) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			star_t += character_len(text + star_t, len - star_t);
			t = star_t;
			p = star + 1;
		} else {
			return false;
		}
	}
	while (p < part->len && part->text[p] == '*')
		p++;
	return p == part->len;
}

static bool part_match(const struct part *part, const char *text, size_t len)
{
	if (part->kind == PART_WILD)
		return wild_match(part, text, len);
	return part->len == len && !memcmp(part->text, text, len);
}

/* Whether the parts of an absolute path say where it leads. */
static bool is_normal(const char *text)
{
	for (const char *p = text + 1; *p;) {
		size_t len = strcspn(p, "/");

		if (!len || part_is(p, len, ".") || part_is(p, len, ".."))
			return false;
		p += len;
		if (*p)
			p++;
	}
	return true;
}

/* The part after the one at @p, NULL after the last. A slash at the end adds no part. */
static const char *part_next(const char *p)
{
	p += strcspn(p, "/");
	return p[0] && p[1] ? p + 1 : NULL;
}

/* Most patterns of a long list begin elsewhere: told without looking at the rest. */
static bool begins_elsewhere(const struct glob *glob, const char *text,
			     const struct glob_values *values)
{
	const struct part *first = &glob->parts[0], *second = &glob->parts[1];

	if (first->kind == PART_VARIABLE) {
		const char *value = values->values[first->variable];

		return !value || strncmp(text, value, strlen(value)) != 0;
	}
	if (first->kind != PART_LITERAL)
		return false;
	if (strncmp(text, first->text, first->len) != 0)
		return true;
	return !first->len && glob->cnt > 1 && second->kind == PART_LITERAL &&
	       (text[0] != '/' || strncmp(text + 1, second->text, second->len) != 0);
}

bool glob_match(const struct glob *glob, const char *text, const struct glob_values *values)
{
	struct part parts[EXPANDED_PARTS_MAX];
	const char *t = text, *star_t = NULL;
	size_t cnt, p = 0, star = 0;

	if (begins_elsewhere(glob, text, values) || !parts_expand(glob, values, parts, &cnt))
		return false;
	if (text[0] == '/' && !is_normal(text))
		return false;
	while (t) {
		if (p < cnt && parts[p].kind == PART_ANY_DEPTH) {
			star = p++;
			star_t = t;
		} else if (p < cnt && part_match(&parts[p], t, strcspn(t, "/"))) {
			p++;
			t = part_next(t);
		} else if (star_t) {
			star_t = part_next(star_t);
			t = star_t;
			p = star + 1;
		} else {
			return false;
		}
	}
	while (p < cnt && parts[p].kind == PART_ANY_DEPTH)
		p++;
	return p == cnt;
}
