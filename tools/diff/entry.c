// SPDX-License-Identifier: Apache-2.0
/* Which members of an observation are compared, and how each is folded. */
#include "tools/diff/entry.h"

#include "base/cleanup.h"
#include "tools/show/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EPHEMERAL_PORT_MIN 32768 /* net.ipv4.ip_local_port_range begins here */
#define QTYPE_A		   1
#define QTYPE_AAAA	   28

struct member {
	const char *name;
	bool raw; /* booleans and words of qp's own: not folded */
	enum fold_as as;
};

static const struct member members[] = {
	{"actor", true, FOLD_TEXT},  {"exe", false, FOLD_PATH},	   {"path", false, FOLD_PATH},
	{"path2", false, FOLD_PATH}, {"target", false, FOLD_PATH}, {"name", false, FOLD_TEXT},
	{"what", false, FOLD_TEXT},  {"phase", false, FOLD_TEXT},  {"mode", false, FOLD_TEXT},
	{"ok", true, FOLD_TEXT},     {"error", false, FOLD_TEXT},  {"resolved", false, FOLD_PATH},
	{"proto", true, FOLD_TEXT},  {"sni", false, FOLD_NAME},	   {"payload", true, FOLD_TEXT},
};

static const char *kind_of(const json_t *observation)
{
	return member_text(observation, "kind");
}

static bool is_kind(const json_t *observation, const char *kind)
{
	return !strcmp(kind_of(observation), kind);
}

/* A member is left out where it says nothing, so that receipts of older forms compare. */
static int set(json_t *entry, const char *name, json_t *value)
{
	return json_object_set_new(entry, name, value) ? -ENOMEM : 0;
}

static int set_folded(json_t *entry, const char *name, const struct fold *fold, const char *text,
		      enum fold_as as, bool loose)
{
	_cleanup_free_ char *folded = NULL;

	if (!*text)
		return 0;
	folded = fold_text(fold, text, as, loose);
	return folded ? set(entry, name, json_string(folded)) : -ENOMEM;
}

/* The executable of a file operation is told by the process's own entry. */
static bool is_compared(const json_t *observation, const struct member *member)
{
	const char *kind = kind_of(observation);

	if (!strcmp(member->name, "exe"))
		return !strcmp(kind, "spawn") || !strcmp(kind, "exec-brought");
	return true;
}

static int set_members(json_t *entry, const struct fold *fold, const json_t *observation,
		       bool loose)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const struct member *member = &members[i];
		json_t *value = json_object_get(observation, member->name);
		int r = 0;

		if (!is_compared(observation, member))
			continue;
		if (json_is_boolean(value))
			r = set(entry, member->name, json_incref(value));
		else if (json_is_string(value) && member->raw)
			r = set(entry, member->name, json_incref(value));
		else if (json_is_string(value))
			r = set_folded(entry, member->name, fold, json_string_value(value),
				       member->as, loose);
		if (r)
			return r;
	}
	return 0;
}

/* Older receipts do not tell outcomes: what took place goes without saying. */
static int set_outcome(json_t *entry, const json_t *observation)
{
	const char *outcome = member_text(observation, "outcome");

	if (!*outcome || !strcmp(outcome, "effected"))
		return 0;
	return set(entry, "outcome", json_string(outcome));
}

/* A system call that is an attack is what it is called; of others only the effect counts. */
static int set_call(json_t *entry, const json_t *observation)
{
	const char *call = member_text(observation, "call");

	if (!is_kind(observation, "tamper") || !*call)
		return 0;
	return set(entry, "call", json_string(call));
}

/* The package under judgement goes without saying. */
static int set_package(json_t *entry, const struct fold *fold, const json_t *observation)
{
	const char *package = member_text(observation, "package");

	if (!*package || !strcmp(package, fold_package(fold)))
		return 0;
	return set(entry, "package", json_string(package));
}

static int set_argv(json_t *entry, const struct fold *fold, const json_t *observation, bool loose)
{
	const json_t *argv = json_object_get(observation, "argv"), *arg;
	json_t *list;
	size_t i;

	if (!json_is_array(argv))
		return 0;
	list = json_array();
	json_array_foreach (argv, i, arg) {
		const char *text = json_is_string(arg) ? json_string_value(arg) : "";
		_cleanup_free_ char *folded = fold_text(fold, text, FOLD_TEXT, loose);

		if (!folded || json_array_append_new(list, json_string(folded))) {
			json_decref(list);
			return -ENOMEM;
		}
	}
	return set(entry, "argv", list);
}

/* Words of qp's own, of which the order means nothing: {word: true}. */
static int set_words(json_t *entry, const json_t *observation, const char *name)
{
	const json_t *words = json_object_get(observation, name), *word;
	json_t *object;
	size_t i;
	int r = 0;

	if (!json_array_size(words))
		return 0;
	object = json_object();
	json_array_foreach (words, i, word) {
		if (!r && json_is_string(word))
			r = json_object_set_new(object, json_string_value(word), json_true());
	}
	if (!r)
		return set(entry, name, object);
	json_decref(object);
	return -ENOMEM;
}

/* Ports that a kernel picks mean nothing, and are picked on local addresses only. */
static int set_endpoint(json_t *entry, const struct fold *fold, const json_t *observation)
{
	const char *name = member_text(observation, "dest");
	const char *endpoint = member_text(observation, "orig_dest");
	const char *colon = strrchr(endpoint, ':');
	const json_t *port = json_object_get(observation, "port");
	_cleanup_free_ char *host = NULL;
	bool local;
	int r;

	if (*name) {
		host = strdup(name);
	} else if (*endpoint == '[' && colon && colon[-1] == ']') {
		host = strndup(endpoint + 1, (size_t)(colon - endpoint) - 2);
	} else {
		host = colon ? strndup(endpoint, (size_t)(colon - endpoint)) : strdup(endpoint);
	}
	if (!host)
		return -ENOMEM;
	local = fold_is_local(fold, host);
	r = set_folded(entry, "host", fold, host, FOLD_NAME, false);
	if (r || !json_is_integer(port))
		return r;
	if (local && json_integer_value(port) >= EPHEMERAL_PORT_MIN)
		return set(entry, "port", json_string("{ephemeral}"));
	return set(entry, "port", json_integer(json_integer_value(port)));
}

/* Sizes are of decoys, which are made anew each time; whether there was a body is not. */
static int set_http(json_t *entry, const struct fold *fold, const json_t *observation)
{
	const json_t *http = json_object_get(observation, "http");
	const char *host = member_text(http, "host");
	int r;

	if (!json_is_object(http))
		return 0;
	r = set_folded(entry, "method", fold, member_text(http, "method"), FOLD_TEXT, false);
	if (!r)
		r = set_folded(entry, "url", fold, member_text(http, "path"), FOLD_TEXT, false);
	if (!r && strcmp(host, member_text(observation, "dest")) != 0)
		r = set_folded(entry, "asked", fold, host, FOLD_NAME, false);
	if (!r)
		r = set(entry, "body",
			json_boolean(json_integer_value(json_object_get(http, "payloadBytes")) >
				     0));
	return r;
}

static const json_t *query(const json_t *observation, size_t n)
{
	return json_array_get(json_object_get(observation, "queries"), n);
}

static int set_question(json_t *entry, const struct fold *fold, const json_t *observation, size_t n)
{
	const json_t *question = query(observation, n);
	const char *name =
		member_text(question ? question : observation, question ? "name" : "dest");
	const json_t *qtype = json_object_get(question, "qtype");
	json_int_t type = json_is_integer(qtype) ? json_integer_value(qtype) : QTYPE_A;
	const char *server = member_text(observation, "orig_dest");
	_cleanup_free_ char *folded = fold_address(fold, server);
	int r;

	if (!folded)
		return -ENOMEM;
	r = set_folded(entry, "name", fold, name, FOLD_NAME, false);
	/* Both families are asked for at once, or one of them, as libraries please. */
	if (!r && type != QTYPE_A && type != QTYPE_AAAA)
		r = set(entry, "type", json_integer(type));
	if (!r && *server && strncmp(folded, "{local}:", 8) != 0)
		r = set(entry, "server", json_string(folded));
	return r;
}

size_t entry_cnt(const json_t *observation)
{
	size_t questions;

	if (is_kind(observation, "completeness") || !*kind_of(observation))
		return 0;
	if (!is_kind(observation, "net-dns"))
		return 1;
	questions = json_array_size(json_object_get(observation, "queries"));
	return questions ? questions : 1;
}

enum fact_section entry_section(const json_t *observation)
{
	const char *kind = kind_of(observation);

	if (!strcmp(kind, "spawn"))
		return SECTION_PROCESSES;
	if (!strcmp(kind, "net-dns"))
		return SECTION_NAMES;
	if (!strcmp(kind, "env-read"))
		return SECTION_ENV;
	if (!strncmp(kind, "file-", 5))
		return SECTION_FILES;
	return strncmp(kind, "net-", 4) ? SECTION_OTHER : SECTION_NETWORK;
}

json_t *entry_build(const struct fold *fold, const json_t *observation, size_t n, bool loose)
{
	json_t *entry = json_object();
	int r = set(entry, "kind", json_string(kind_of(observation)));

	if (!r)
		r = set_members(entry, fold, observation, loose);
	if (!r)
		r = set_outcome(entry, observation);
	if (!r)
		r = set_call(entry, observation);
	if (!r)
		r = set_package(entry, fold, observation);
	if (!r)
		r = set_argv(entry, fold, observation, loose);
	if (!r && is_kind(observation, "net-dns"))
		r = set_question(entry, fold, observation, n);
	else if (!r && entry_section(observation) == SECTION_NETWORK)
		r = set_endpoint(entry, fold, observation);
	if (!r)
		r = set_http(entry, fold, observation);
	if (!r)
		r = set_words(entry, observation, "decoys");
	if (!r)
		r = set_words(entry, observation, "decoyEncodings");
	if (!r)
		return entry;
	json_decref(entry);
	return NULL;
}
