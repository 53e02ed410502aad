// SPDX-License-Identifier: Apache-2.0
/* An observation in one line of plain words. */
#include "tools/show/summary.h"

#include "base/escape.h"

#include <string.h>

#define TEXT_COLUMNS_MAX 160

const char *member_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* A receipt that somebody else made may hold anything: nothing of it moves the cursor. */
void text_print(FILE *out, const char *text)
{
	size_t len = strlen(text), shown = len;

	if (len > TEXT_COLUMNS_MAX) {
		shown = TEXT_COLUMNS_MAX;
		while (shown && ((unsigned char)text[shown] & 0xc0) == 0x80)
			shown--;
	}
	for (size_t i = 0, n; i < shown; i += n) {
		const unsigned char *p = (const unsigned char *)text + i;

		n = utf8_char_len(p, shown - i);
		if (!n || (utf8_char_is_unsafe(p, n) && *p != '\\'))
			fputc('?', out);
		else
			fwrite(p, 1, n, out);
		n += !n;
	}
	if (shown < len)
		fputs("...", out);
}

static void member_print(FILE *out, const json_t *observation, const char *name)
{
	text_print(out, member_text(observation, name));
}

static void describe_spawn(FILE *out, const json_t *observation)
{
	const json_t *arg;
	size_t i;

	json_array_foreach (json_object_get(observation, "argv"), i, arg) {
		if (i)
			fputc(' ', out);
		text_print(out, json_is_string(arg) ? json_string_value(arg) : "");
	}
	if (!i)
		member_print(out, observation, "exe");
}

static void describe_path(FILE *out, const json_t *observation)
{
	const char *second = member_text(observation, "path2");

	member_print(out, observation, "path");
	if (*second) {
		fputs(" -> ", out);
		text_print(out, second);
	}
}

/* What went over the connection, and what it went through. */
static void describe_carried(FILE *out, const json_t *observation)
{
	const json_t *proxy = json_object_get(observation, "proxy");
	size_t mails = json_array_size(json_object_get(observation, "mails"));

	const char *alert = member_text(observation, "alert");

	if (*member_text(observation, "underTls"))
		fputs(", under TLS", out);
	if (!strcmp(member_text(observation, "handshake"), "refused")) {
		fputs(", refused our certificate", out);
		if (*alert) {
			fputs(": ", out);
			text_print(out, alert);
		}
	}
	if (*member_text(observation, "service")) {
		fputs(", ", out);
		member_print(out, observation, "service");
	}
	if (mails)
		fprintf(out, ", %zu mail%s", mails, mails == 1 ? "" : "s");
	if (proxy) {
		fputs(", through ", out);
		member_print(out, proxy, "protocol");
	}
}

static void describe_net(FILE *out, const json_t *observation)
{
	const json_t *http = json_object_get(observation, "http");
	const char *dest = member_text(observation, "dest");
	const char *orig = member_text(observation, "orig_dest");

	text_print(out, *dest ? dest : orig);
	if (*dest && *orig) {
		fputs(" (", out);
		text_print(out, orig);
		fputc(')', out);
	}
	if (http) {
		fputs(", ", out);
		member_print(out, http, "method");
		fputc(' ', out);
		member_print(out, http, "path");
		fprintf(out, ", %" JSON_INTEGER_FORMAT " bytes of body",
			json_integer_value(json_object_get(http, "payloadBytes")));
	} else if (*member_text(observation, "proto")) {
		fputs(", ", out);
		member_print(out, observation, "proto");
	}
	describe_carried(out, observation);
	if (json_is_true(json_object_get(observation, "payload")) && !http)
		fputs(", data sent", out);
}

static void describe_completeness(FILE *out, const json_t *observation)
{
	member_print(out, observation, "marker");
	fputs(json_is_true(json_object_get(observation, "ok")) ? " holds" : " does not hold", out);
}

static void describe_tamper(FILE *out, const json_t *observation)
{
	member_print(out, observation, "call");
	if (*member_text(observation, "path")) {
		fputc(' ', out);
		describe_path(out, observation);
	}
}

static void describe_limit(FILE *out, const json_t *observation)
{
	member_print(out, observation, "what");
}

static void describe_load(FILE *out, const json_t *observation)
{
	bool ok = json_is_true(json_object_get(observation, "ok"));

	fputs(ok ? "loaded " : "failed: ", out);
	member_print(out, observation, ok ? "resolved" : "error");
}

static void describe_variable(FILE *out, const json_t *observation)
{
	member_print(out, observation, "name");
}

/* The names of the decoys whose values were in it; a receipt has no value. */
static void describe_decoys(FILE *out, const json_t *observation)
{
	const json_t *label;
	size_t i;

	json_array_foreach (json_object_get(observation, "decoys"), i, label) {
		fputs(i ? ", " : ", with the decoy ", out);
		text_print(out, json_is_string(label) ? json_string_value(label) : "");
	}
}

struct description {
	const char *kind;
	const char *verb;
	void (*describe)(FILE *out, const json_t *observation);
};

static const struct description descriptions[] = {
	{"spawn", "ran", describe_spawn},
	{"file-write", "wrote", describe_path},
	{"file-create", "created", describe_path},
	{"file-delete", "deleted", describe_path},
	{"file-rename", "renamed", describe_path},
	{"file-link", "linked", describe_path},
	{"file-meta", "changed the attributes of", describe_path},
	{"file-read", "read", describe_path},
	{"net-dns", "looked up", describe_net},
	{"net-tcp", "connected to", describe_net},
	{"net-udp", "sent a datagram to", describe_net},
	{"net-other", "used the network:", describe_net},
	{"net-unix", "connected to the socket", describe_path},
	{"net-listen", "listened on", describe_net},
	{"env-read", "read the environment variable", describe_variable},
	{"exec-brought", "ran code it brought:", describe_path},
	{"env-probe", "asked whether it is watched:", describe_path},
	{"tamper", "attacked:", describe_tamper},
	{"limit", "reached a limit:", describe_limit},
	{"load", "import:", describe_load},
	{"completeness", "evidence:", describe_completeness},
};

static const struct description *description_find(const char *kind)
{
	for (size_t i = 0; i < sizeof(descriptions) / sizeof(descriptions[0]); i++)
		if (!strcmp(descriptions[i].kind, kind))
			return &descriptions[i];
	return NULL;
}

/* "node", for /usr/bin/node. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void who_print(FILE *out, const json_t *observation)
{
	const char *actor = member_text(observation, "actor");
	const char *package = member_text(observation, "package");
	const char *exe = member_text(observation, "exe");
	const json_t *pid = json_object_get(observation, "pid");

	if (!*actor)
		return;
	text_print(out, *package ? package : actor);
	if (json_is_integer(pid)) {
		fputs(" (", out);
		text_print(out, base_name(exe));
		fprintf(out, "%spid %" JSON_INTEGER_FORMAT ")", *exe ? ", " : "",
			json_integer_value(pid));
	}
	fputc(' ', out);
}

void observation_deed(FILE *out, const json_t *observation)
{
	const char *kind = member_text(observation, "kind");
	const char *outcome = member_text(observation, "outcome");
	const char *err = member_text(observation, "errno");
	const struct description *description = description_find(kind);

	if (description) {
		fprintf(out, "%s ", description->verb);
		description->describe(out, observation);
	} else {
		text_print(out, kind);
		fputc(' ', out);
		describe_path(out, observation);
	}
	describe_decoys(out, observation);
	if (*outcome && strcmp(outcome, "effected") != 0) {
		fputs(" [", out);
		text_print(out, outcome);
		fputs(*err ? ", " : "", out);
		text_print(out, err);
		fputc(']', out);
	}
}

void observation_describe(FILE *out, const json_t *observation)
{
	who_print(out, observation);
	observation_deed(out, observation);
}
