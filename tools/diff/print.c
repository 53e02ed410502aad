// SPDX-License-Identifier: Apache-2.0
/* A difference in words. */
#include "tools/diff/diff.h"

#include "tools/diff/facts.h"
#include "tools/show/summary.h"

#include <string.h>

#define LINES_MAX 24 /* of each side of a section */

struct paint {
	const char *bold, *minus, *plus, *off;
};

static const struct paint plain = {"", "", "", ""};
static const struct paint colored = {"\033[1m", "\033[31m", "\033[32m", "\033[0m"};

static void member_print(FILE *out, const char *before, const json_t *entry, const char *name)
{
	const json_t *value = json_object_get(entry, name);

	if (json_is_string(value) && *json_string_value(value)) {
		fputs(before, out);
		text_print(out, json_string_value(value));
	} else if (json_is_integer(value)) {
		fprintf(out, "%s%" JSON_INTEGER_FORMAT, before, json_integer_value(value));
	}
}

static void argv_print(FILE *out, const json_t *entry)
{
	const json_t *arg;
	size_t i;

	member_print(out, "", entry, "exe");
	json_array_foreach (json_object_get(entry, "argv"), i, arg) {
		fputs(i ? " " : ": ", out);
		text_print(out, json_string_value(arg));
	}
}

static void net_print(FILE *out, const json_t *entry)
{
	member_print(out, " ", entry, "host");
	member_print(out, ":", entry, "port");
	member_print(out, " ", entry, "proto");
	member_print(out, " for ", entry, "sni");
	member_print(out, " ", entry, "method");
	member_print(out, " ", entry, "url");
	member_print(out, " of ", entry, "asked");
	if (json_is_true(json_object_get(entry, "payload")))
		fputs(", data sent", out);
}

static const struct {
	const char *before, *name;
} details[] = {
	{" ", "call"}, {" ", "path"},  {" -> ", "path2"}, {" -> ", "target"}, {" ", "name"},
	{" ", "what"}, {" ", "phase"}, {" ", "resolved"}, {": ", "error"},
};

static void observation_print(FILE *out, const json_t *entry)
{
	const char *kind = member_text(entry, "kind");

	if (!strcmp(kind, "spawn")) {
		argv_print(out, entry);
	} else if (!strcmp(kind, "net-dns")) {
		member_print(out, "", entry, "name");
		member_print(out, " type ", entry, "type");
		member_print(out, " from ", entry, "server");
	} else {
		text_print(out, strncmp(kind, "file-", 5) ? kind : kind + 5);
		if (!strncmp(kind, "net-", 4))
			net_print(out, entry);
		else if (!strcmp(kind, "exec-brought"))
			member_print(out, " ", entry, "exe");
		for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++)
			member_print(out, details[i].before, entry, details[i].name);
	}
}

static void bracketed_print(FILE *out, const char *before, const json_t *entry, const char *name,
			    const char *after)
{
	member_print(out, before, entry, name);
	fputs(after, out);
}

/* Decoys whose value was in it: what a reader must not miss. */
static void decoys_print(FILE *out, const json_t *entry)
{
	json_t *decoys = json_object_get(entry, "decoys"), *value;
	const char *name, *before = ", with the value of ";

	json_object_foreach (decoys, name, value) {
		fputs(before, out);
		text_print(out, name);
		before = ", ";
	}
}

/* Who did it, where that is another than the package; and what came of it. */
static void circumstances_print(FILE *out, const json_t *entry)
{
	const char *actor = member_text(entry, "actor");
	const char *outcome = member_text(entry, "outcome");

	if (*outcome && strcmp(outcome, "effected") != 0)
		bracketed_print(out, " [", entry, "outcome", "]");
	if (*member_text(entry, "package"))
		bracketed_print(out, " (by ", entry, "package", ")");
	else if (*actor && strcmp(actor, "package") != 0)
		bracketed_print(out, " (by ", entry, "actor", ")");
}

static void entry_print(FILE *out, const json_t *entry)
{
	if (*member_text(entry, "kind")) {
		observation_print(out, entry);
		decoys_print(out, entry);
		circumstances_print(out, entry);
		return;
	}
	member_print(out, "", entry, "id");
	member_print(out, "  ", entry, "tier");
	member_print(out, ": ", entry, "text");
	member_print(out, "packages: ", entry, "count");
	member_print(out, "install script of ", entry, "installScript");
	member_print(out, "not from the registry: ", entry, "nonRegistry");
	member_print(out, " ", entry, "spec");
}

static void list_print(FILE *out, const char *sign, const char *on, const char *off,
		       const json_t *list, bool all)
{
	const json_t *entry;
	size_t i, cnt = json_array_size(list);

	json_array_foreach (list, i, entry) {
		if (!all && i == LINES_MAX && cnt > LINES_MAX + 1) {
			fprintf(out, "  %s%s and %zu more%s\n", on, sign, cnt - i, off);
			break;
		}
		fprintf(out, "  %s%s ", on, sign);
		entry_print(out, entry);
		fprintf(out, "%s\n", off);
	}
}

static void section_print(FILE *out, const struct paint *paint, const char *name,
			  const json_t *section, bool all)
{
	const json_t *removed = json_object_get(section, "removed");
	const json_t *added = json_object_get(section, "added");

	if (!json_array_size(removed) && !json_array_size(added))
		return;
	fprintf(out, "\n%s%s%s\n", paint->bold, name, paint->off);
	list_print(out, "-", paint->minus, paint->off, removed, all);
	list_print(out, "+", paint->plus, paint->off, added, all);
}

static void change_print(FILE *out, const struct paint *paint, const json_t *diff, const char *name)
{
	const json_t *change = json_object_get(diff, name);

	if (!json_is_object(change))
		return;
	fprintf(out, "\n%s%s%s\n  %s- ", paint->bold, name, paint->off, paint->minus);
	text_print(out, member_text(change, "a"));
	fprintf(out, "%s\n  %s+ ", paint->off, paint->plus);
	text_print(out, member_text(change, "b"));
	fprintf(out, "%s\n", paint->off);
}

static const char *state_word(const json_t *ok)
{
	if (!json_is_boolean(ok))
		return "is missing";
	return json_is_true(ok) ? "holds" : "does not hold";
}

static void completeness_print(FILE *out, const struct paint *paint, const json_t *list)
{
	const json_t *marker;
	size_t i;

	if (json_array_size(list))
		fprintf(out, "\n%scompleteness%s\n", paint->bold, paint->off);
	json_array_foreach (list, i, marker) {
		fprintf(out, "  %s- ", paint->minus);
		text_print(out, member_text(marker, "marker"));
		fprintf(out, " %s%s\n  %s+ ", state_word(json_object_get(marker, "a")), paint->off,
			paint->plus);
		text_print(out, member_text(marker, "marker"));
		fprintf(out, " %s%s\n", state_word(json_object_get(marker, "b")), paint->off);
	}
}

static void subject_print(FILE *out, const char *sign, const json_t *subject)
{
	bool named = *member_text(subject, "name");

	fprintf(out, "%s ", sign);
	member_print(out, "", subject, named ? "name" : "requested");
	if (named)
		member_print(out, "@", subject, "version");
	member_print(out, "  ", subject, "verdict");
	fputc('\n', out);
}

void diff_print(FILE *out, const json_t *diff, const struct diff_options *options)
{
	const struct paint *paint = options->color ? &colored : &plain;

	subject_print(out, "A", json_object_get(diff, "a"));
	subject_print(out, "B", json_object_get(diff, "b"));
	if (diff_is_same(diff)) {
		fputs("\nB does what A does: no difference but what changes with every run\n", out);
		return;
	}
	change_print(out, paint, diff, "verdict");
	change_print(out, paint, diff, "status");
	completeness_print(out, paint, json_object_get(diff, "completeness"));
	for (int i = 0; i < SECTION_CNT; i++) {
		const char *name = section_name((enum fact_section)i);

		section_print(out, paint, name, json_object_get(diff, name), options->all);
	}
}
