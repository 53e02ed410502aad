// SPDX-License-Identifier: Apache-2.0
/* Patterns of credentials that must not be in a receipt, and the walk that looks for them. */
#include "rules/secretscan.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 256

#define UPPER	  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER	  "abcdefghijklmnopqrstuvwxyz"
#define DIGIT	  "0123456789"
#define ALNUM	  UPPER LOWER DIGIT
#define BASE64URL ALNUM "-_"

/* A prefix that does not go on from a word, then at least @min characters of @set. */
struct token_pattern {
	const char *name;
	const char *prefix;
	const char *set;
	size_t min;
};

static const struct token_pattern token_patterns[] = {
	{"npm-token", "npm_", ALNUM, 36},
	{"github-token", "ghp_", ALNUM, 36},
	{"github-token", "gho_", ALNUM, 36},
	{"github-token", "ghu_", ALNUM, 36},
	{"github-token", "ghs_", ALNUM, 36},
	{"github-token", "ghr_", ALNUM, 36},
	{"github-token", "github_pat_", ALNUM "_", 40},
	{"gitlab-token", "glpat-", BASE64URL, 20},
	{"aws-access-key", "AKIA", UPPER DIGIT, 16},
	{"aws-access-key", "ASIA", UPPER DIGIT, 16},
	{"google-api-key", "AIza", BASE64URL, 35},
	{"slack-token", "xoxb-", ALNUM "-", 20},
	{"slack-token", "xoxp-", ALNUM "-", 20},
	{"slack-token", "xoxa-", ALNUM "-", 20},
	{"stripe-key", "sk_live_", ALNUM, 16},
	{"pypi-token", "pypi-", BASE64URL, 60},
	{"bearer-token", "Bearer ", ALNUM "-._~+/=", 20},
	{"bearer-token", "bearer ", ALNUM "-._~+/=", 20},
	{"npm-auth", "_authToken=", ALNUM "-._~+/=", 16},
	{"npm-auth", "_password=", ALNUM "+/=", 16},
};

struct text {
	const char *bytes;
	size_t len;
};

static size_t span(struct text text, size_t at, const char *set)
{
	size_t begun = at;

	while (at < text.len && text.bytes[at] && strchr(set, text.bytes[at]))
		at++;
	return at - begun;
}

/* Whether a byte that is spelt with a backslash ends before @at: \xHH as base/escape.h has
 * it, \uHHHH and \n as JSON does. Its last letter is no part of a word. */
static bool follows_escape(struct text text, size_t at)
{
	static const struct {
		char letter;
		size_t digits;
	} spellings[] = {{'x', 2}, {'u', 4}, {'n', 0}, {'r', 0}, {'t', 0}, {'b', 0}, {'f', 0}};

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		size_t len = 2 + spellings[i].digits;

		if (at >= len && text.bytes[at - len] == '\\' &&
		    text.bytes[at - len + 1] == spellings[i].letter &&
		    span((struct text){text.bytes, at}, at - spellings[i].digits,
			 DIGIT "abcdefABCDEF") == spellings[i].digits)
			return true;
	}
	return false;
}

static bool starts_word(struct text text, size_t at)
{
	return !at || !text.bytes[at - 1] || !strchr(ALNUM, text.bytes[at - 1]) ||
	       follows_escape(text, at);
}

static bool begins_with(struct text text, size_t at, const char *prefix)
{
	size_t len = strlen(prefix);

	return text.len - at >= len && !memcmp(text.bytes + at, prefix, len);
}

static bool token_at(struct text text, size_t at, const struct token_pattern *pattern)
{
	size_t prefix = strlen(pattern->prefix);

	return begins_with(text, at, pattern->prefix) && starts_word(text, at) &&
	       span(text, at + prefix, pattern->set) >= pattern->min;
}

/* RFC 7519: header, claims and signature; header and claims are JSON objects, "eyJ". */
static bool jwt_at(struct text text, size_t at)
{
	size_t n;

	if (!begins_with(text, at, "eyJ") || !starts_word(text, at))
		return false;
	n = span(text, at, BASE64URL);
	at += n;
	if (n < 10 || at >= text.len || text.bytes[at] != '.' || !begins_with(text, ++at, "eyJ"))
		return false;
	n = span(text, at, BASE64URL);
	at += n;
	return n >= 10 && at < text.len && text.bytes[at] == '.' &&
	       span(text, at + 1, BASE64URL) >= 10;
}

/* RFC 7468, any kind of private key. */
static bool private_key_at(struct text text, size_t at)
{
	static const char begin[] = "-----BEGIN ", end[] = "PRIVATE KEY-----";
	size_t label;

	if (!begins_with(text, at, begin))
		return false;
	at += strlen(begin);
	label = span(text, at, UPPER DIGIT " ");
	return label + 5 >= strlen(end) &&
	       begins_with(text, at + label - strlen("PRIVATE KEY"), end);
}

/* A user and a password in a URL. */
static bool url_password_at(struct text text, size_t at)
{
	size_t user, password;

	if (!begins_with(text, at, "://"))
		return false;
	at += 3;
	user = span(text, at, ALNUM "-._~%!$&'()*+,;=");
	if (at + user >= text.len || text.bytes[at + user] != ':')
		return false;
	at += user + 1;
	password = span(text, at, ALNUM "-._~%!$&'()*+,;=:");
	return password && at + password < text.len && text.bytes[at + password] == '@';
}

/* Whether a pattern may begin with these two characters: one look-up passes over nearly
 * everything that is none. Pairs may share a place; the patterns decide. */
#define PAIR(a, b) (((unsigned char)(a)*33U ^ (unsigned char)(b)) & 1023U)

static const bool may_begin[1024] = {
	[PAIR('n', 'p')] = true, [PAIR('g', 'h')] = true, [PAIR('g', 'i')] = true,
	[PAIR('g', 'l')] = true, [PAIR('A', 'K')] = true, [PAIR('A', 'S')] = true,
	[PAIR('A', 'I')] = true, [PAIR('x', 'o')] = true, [PAIR('s', 'k')] = true,
	[PAIR('p', 'y')] = true, [PAIR('B', 'e')] = true, [PAIR('b', 'e')] = true,
	[PAIR('_', 'a')] = true, [PAIR('_', 'p')] = true, [PAIR('e', 'y')] = true,
	[PAIR('-', '-')] = true, [PAIR(':', '/')] = true,
};

static const char *pattern_at(struct text text, size_t at)
{
	for (size_t i = 0; i < sizeof(token_patterns) / sizeof(token_patterns[0]); i++)
		if (token_at(text, at, &token_patterns[i]))
			return token_patterns[i].name;
	if (jwt_at(text, at))
		return "jwt";
	if (private_key_at(text, at))
		return "private-key";
	return url_password_at(text, at) ? "url-password" : NULL;
}

/* Whether no pattern begins in the eight bytes at @p; nine can be read. Kernel records are
 * half zeros. */
static bool is_plain_word(const char *p)
{
	bool any = false;

	if (!memcmp(p, "\0\0\0\0\0\0\0", 8))
		return true;
	for (int i = 0; i < 8; i++)
		any |= may_begin[PAIR(p[i], p[i + 1])];
	return !any;
}

const char *secretscan_text(const char *text, size_t len)
{
	for (size_t at = 0; at + 1 < len;) {
		const char *found = NULL;

		if (at + 8 < len && is_plain_word(text + at)) {
			at += 8;
			continue;
		}
		for (size_t end = at + 8; !found && at < end && at + 1 < len; at++)
			if (may_begin[PAIR(text[at], text[at + 1])])
				found = pattern_at((struct text){text, len}, at);
		if (found)
			return found;
	}
	return NULL;
}

/* One step of a JSON pointer; the way back to the root is on the stack of the walk. */
struct step {
	const struct step *parent;
	const char *key; /* NULL: an index */
	size_t index;
	int depth;
};

/* RFC 6901, 3. A key that is itself a secret is not spelt out. */
static void key_print(FILE *out, const char *key)
{
	if (secretscan_text(key, strlen(key))) {
		fputs("(secret)", out);
		return;
	}
	for (; *key; key++) {
		if (*key == '~' || *key == '/')
			fputs(*key == '~' ? "~0" : "~1", out);
		else
			fputc(*key, out);
	}
}

static json_t *pointer_json(const struct step *step)
{
	const struct step *path[DEPTH_MAX + 1];
	_cleanup_free_ char *text = NULL;
	size_t cnt = 0, size;
	_cleanup_file_ FILE *out = open_memstream(&text, &size);
	json_t *pointer;

	if (!out)
		return NULL;
	for (; step && step->parent; step = step->parent)
		path[cnt++] = step;
	while (cnt) {
		const struct step *part = path[--cnt];

		fputc('/', out);
		if (part->key)
			key_print(out, part->key);
		else
			fprintf(out, "%zu", part->index);
	}
	if (fflush(out))
		return NULL;
	pointer = json_string(text);
	return pointer;
}

static int text_scan(const char *text, size_t len, const struct step *step, json_t *hits,
		     bool *pass)
{
	const char *pattern = secretscan_text(text, len);

	if (!pattern)
		return 0;
	*pass = false;
	if (json_array_size(hits) == SECRETSCAN_HITS_MAX)
		return 0;
	return json_array_append_new(hits, json_pack("{s:o, s:s}", "pointer", pointer_json(step),
						     "pattern", pattern))
		       ? -ENOMEM
		       : 0;
}

static int value_scan(const json_t *value, const struct step *step, json_t *hits, bool *pass)
{
	struct step next = {.parent = step, .depth = step->depth + 1};
	json_t *item;
	int r = 0;

	if (json_is_string(value))
		return text_scan(json_string_value(value), json_string_length(value), step, hits,
				 pass);
	if (step->depth == DEPTH_MAX)
		return -ELOOP;
	json_array_foreach (value, next.index, item) {
		r = value_scan(item, &next, hits, pass);
		if (r)
			return r;
	}
	json_object_foreach ((json_t *)value, next.key, item) {
		r = text_scan(next.key, strlen(next.key), &next, hits, pass);
		if (!r)
			r = value_scan(item, &next, hits, pass);
		if (r)
			return r;
	}
	return 0;
}

int secretscan_json(const json_t *value, json_t **ret_scan)
{
	const struct step root = {0};
	json_t *hits = json_array();
	bool pass = true;
	int r = hits ? value_scan(value, &root, hits, &pass) : -ENOMEM;

	if (r) {
		json_decref(hits);
		return r;
	}
	*ret_scan = json_pack("{s:b, s:o}", "pass", pass, "hits", hits);
	return *ret_scan ? 0 : -ENOMEM;
}
