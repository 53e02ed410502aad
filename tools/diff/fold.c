// SPDX-License-Identifier: Apache-2.0
/* Folding text: one pass from left to right that writes a word in braces for each thing
 * that belongs to the run and not to what ran. */
#include "tools/diff/fold_internal.h"

#include "base/cleanup.h"
#include "tools/diff/random.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define EPOCH_DIGITS_MIN 10 /* seconds since 1970; milliseconds and more are longer */
#define ESCAPE_CHARS	 4  /* "\x0a" */

struct pass {
	const struct fold *fold;
	const char *text, *at;
	const char *temporary_name; /* the last name of a file that came and went, or NULL */
	FILE *out;
	enum fold_as as;
	bool loose;
	bool in_temporary; /* within a path whose names come and go */
	bool in_proc;	   /* behind "/proc/{pid}" */
};

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._-", c));
}

static bool begins_word(const struct pass *pass)
{
	return pass->at == pass->text || !isalnum((unsigned char)pass->at[-1]);
}

static bool begins_path(const struct pass *pass)
{
	char before = pass->at == pass->text ? ' ' : pass->at[-1];

	return !is_name_char(before) && !strchr("/~}", before);
}

static size_t prefix_len(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? 0 : len;
}

static size_t digits_len(const char *text)
{
	return strspn(text, "0123456789");
}

static size_t replace(const struct pass *pass, const char *word, size_t len)
{
	fputs(word, pass->out);
	return len;
}

/* The home's name is made up, and so are the names below some of its folders. */
static size_t replace_home(struct pass *pass)
{
	size_t len = prefix_len(pass->at, pass->fold->home);
	const char *behind = pass->at + len;

	if (!len || !begins_path(pass) || is_name_char(*behind))
		return 0;
	pass->in_temporary = prefix_len(behind, "/.npm/") || prefix_len(behind, "/.cache/");
	return replace(pass, "~", len);
}

static size_t replace_pid(struct pass *pass)
{
	size_t len = prefix_len(pass->at, "/proc/"), digits;

	if (len && begins_path(pass)) {
		digits = digits_len(pass->at + len);
		pass->in_proc = digits && !is_name_char(pass->at[len + digits]);
		return pass->in_proc ? replace(pass, "/proc/{pid}", len + digits) : 0;
	}
	len = pass->in_proc ? prefix_len(pass->at, "/task/") : 0;
	digits = len ? digits_len(pass->at + len) : 0;
	return digits ? replace(pass, "/task/{pid}", len + digits) : 0;
}

/* A renamed copy of a package is compared by what it does, not by what it is called. */
static size_t replace_package(const struct pass *pass)
{
	const char *name = pass->fold->package;
	size_t len = prefix_len(pass->at, "node_modules/"), name_len = strlen(name);

	if (!len || !name_len || !begins_word(pass) || strncmp(pass->at + len, name, name_len) != 0)
		return 0;
	if (is_name_char(pass->at[len + name_len]))
		return 0;
	return replace(pass, "node_modules/{package}", len + name_len);
}

static size_t replace_version(const struct pass *pass)
{
	const char *version = pass->fold->version;
	size_t v = *pass->at == 'v' && begins_word(pass); /* "v1.2.3" */
	size_t len = prefix_len(pass->at + v, version);
	char before = pass->at == pass->text ? ' ' : pass->at[-1];
	const char *behind = pass->at + v + len;

	/* One number alone is too common to be taken for a version. */
	if (!len || !strchr(version, '.') || isdigit((unsigned char)before) || before == '.')
		return 0;
	if (isdigit((unsigned char)*behind) ||
	    (*behind == '.' && isdigit((unsigned char)behind[1])))
		return 0;
	return replace(pass, v ? "v{version}" : "{version}", v + len);
}

/* Names of users and hosts may be any word: only where such a name is likely to stand. */
static size_t replace_name(const struct pass *pass, const char *name, const char *word)
{
	size_t len = prefix_len(pass->at, name);
	char before = pass->at == pass->text ? '=' : pass->at[-1];

	if (!len || !strchr("=/@:,\"'", before) || is_name_char(pass->at[len]))
		return 0;
	return replace(pass, word, len);
}

static size_t replace_number(const struct pass *pass)
{
	size_t len = digits_len(pass->at), uid_len = strlen(pass->fold->uid);

	if (!len || isalnum((unsigned char)pass->at[len]))
		return 0;
	if (len == uid_len && !strncmp(pass->at, pass->fold->uid, len))
		return replace(pass, "{uid}", len);
	return len >= EPOCH_DIGITS_MIN ? replace(pass, "{number}", len) : 0;
}

static size_t replace_word(const struct pass *pass)
{
	const char *word;
	size_t len;

	if (!begins_word(pass))
		return 0;
	len = random_time_len(pass->at);
	if (len)
		return replace(pass, "{time}", len);
	len = random_uuid_len(pass->at);
	if (len)
		return replace(pass, "{random}", len);
	word = fold_address_at(pass->fold, pass->at, &len);
	if (word)
		return replace(pass, word, len);
	len = replace_name(pass, pass->fold->user, "{user}");
	len = len ? len : replace_name(pass, pass->fold->host, "{host}");
	return len ? len : replace_number(pass);
}

/* Whether the path that goes on here is in a place for passing things. */
static void places_look(struct pass *pass)
{
	static const char *const tops[] = {"/tmp/", "/var/tmp/", "/dev/shm/"};
	static const char *const anywhere[] = {"/node_modules/.cache/", "/node-compile-cache/"};

	if (pass->at == pass->temporary_name)
		pass->in_temporary = true;
	if (pass->as == FOLD_TEXT && strchr(" \t'\"`;:,()<>|&=", *pass->at))
		pass->in_temporary = pass->in_proc = false;
	if (*pass->at != '/')
		return;
	for (size_t i = 0; begins_path(pass) && i < sizeof(tops) / sizeof(tops[0]); i++)
		if (prefix_len(pass->at, tops[i]))
			pass->in_temporary = true;
	for (size_t i = 0; i < sizeof(anywhere) / sizeof(anywhere[0]); i++)
		if (prefix_len(pass->at, anywhere[i]))
			pass->in_temporary = true;
}

/* "20" of "v20.3.1", which looks like a pid by itself. */
static bool is_of_version(const struct pass *pass, size_t len)
{
	const char *at = pass->at;

	if (digits_len(at) != len)
		return false;
	if (at[len] == '.' && isdigit((unsigned char)at[len + 1]))
		return true;
	return at - pass->text >= 2 && at[-1] == '.' && isdigit((unsigned char)at[-2]);
}

/* The letters and digits at @pass->at as they are, or as the random part that they are. */
static size_t copy_run(const struct pass *pass)
{
	size_t len = 0;

	while (isalnum((unsigned char)pass->at[len]))
		len++;
	if (pass->in_temporary && len && !is_of_version(pass, len) &&
	    random_is_part(pass->at, len, pass->loose))
		return replace(pass, "{random}", len);
	if (!len)
		len = 1;
	fwrite(pass->at, 1, len, pass->out);
	return len;
}

static size_t step(struct pass *pass)
{
	size_t len;

	if (!strncmp(pass->at, "\\x", 2) && strlen(pass->at) >= ESCAPE_CHARS) {
		fwrite(pass->at, 1, ESCAPE_CHARS, pass->out);
		return ESCAPE_CHARS;
	}
	places_look(pass);
	len = replace_home(pass);
	len = len ? len : replace_pid(pass);
	len = len ? len : replace_package(pass);
	len = len ? len : replace_version(pass);
	len = len ? len : replace_word(pass);
	return len ? len : copy_run(pass);
}

static bool is_label(const char *label, size_t len, const char *name)
{
	return len && len == strlen(name) && !strncmp(label, name, len);
}

static void labels_fold(const struct pass *pass)
{
	const char *label = pass->text;

	for (;;) {
		size_t len = strcspn(label, ".");

		if (is_label(label, len, pass->fold->user))
			fputs("{user}", pass->out);
		else if (is_label(label, len, pass->fold->host))
			fputs("{host}", pass->out);
		else if (random_is_label(label, len))
			fputs("{data}", pass->out);
		else
			fwrite(label, 1, len, pass->out);
		if (!label[len])
			return;
		fputc('.', pass->out);
		label += len + 1;
	}
}

char *fold_text(const struct fold *fold, const char *text, enum fold_as as, bool loose)
{
	const char *word = as == FOLD_NAME ? fold_address_word(fold, text) : NULL;
	_cleanup_free_ char *result = NULL;
	size_t size;
	struct pass pass = {.fold = fold, .text = text, .at = text, .as = as, .loose = loose};
	bool failed;

	if (word)
		return strdup(word);
	if (as == FOLD_PATH && json_object_get(fold->temporary, text) && strrchr(text, '/'))
		pass.temporary_name = strrchr(text, '/') + 1;
	pass.out = open_memstream(&result, &size);
	if (!pass.out)
		return NULL;
	if (as == FOLD_NAME)
		labels_fold(&pass);
	else
		while (*pass.at)
			pass.at += step(&pass);
	failed = ferror(pass.out) != 0;
	if (fclose(pass.out) || failed)
		return NULL;
	return steal_ptr(result);
}
