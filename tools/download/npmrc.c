// SPDX-License-Identifier: Apache-2.0
/* Reading npmrc lines the way npm's ini and env-replace do, as far as qp needs to. */
#include "tools/download/npmrc.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

#define VARIABLE_NAME_MAX 256

struct variable {
	char name[VARIABLE_NAME_MAX];
	bool is_optional;
	size_t len; /* of the whole reference */
};

/* A reference at @p, which begins with "${". */
static bool variable_parse(const char *p, struct variable *ret_variable)
{
	size_t len = strcspn(p + 2, "${}?");

	if (!len || len >= VARIABLE_NAME_MAX)
		return false;
	memcpy(ret_variable->name, p + 2, len);
	ret_variable->name[len] = '\0';
	p += 2 + len;
	ret_variable->is_optional = *p == '?';
	if (p[ret_variable->is_optional] != '}')
		return false;
	ret_variable->len = 2 + len + ret_variable->is_optional + 1;
	return true;
}

char *npmrc_expand(const char *text)
{
	_cleanup_file_ FILE *out = NULL;
	char *expanded = NULL;
	size_t size, escapes = 0;

	out = open_memstream(&expanded, &size);
	if (!out)
		return NULL;
	for (const char *p = text; *p;) {
		struct variable variable;
		const char *value;

		/* An odd number of backslashes before a reference makes it plain text. */
		if (p[0] == '$' && p[1] == '{' && escapes % 2 == 0 &&
		    variable_parse(p, &variable)) {
			value = getenv(variable.name);
			if (value)
				fputs(value, out);
			else if (!variable.is_optional)
				fwrite(p, 1, variable.len, out);
			p += variable.len;
			escapes = 0;
			continue;
		}
		escapes = *p == '\\' ? escapes + 1 : 0;
		fputc(*p++, out);
	}
	if (fclose(steal_ptr(out))) {
		free(expanded);
		return NULL;
	}
	return expanded;
}

void npmrc_each_variable(const char *text, void (*found)(void *context, const char *name),
			 void *context)
{
	for (const char *p = strstr(text, "${"); p; p = strstr(p + 2, "${")) {
		struct variable variable;

		if (variable_parse(p, &variable))
			found(context, variable.name);
	}
}

/* A new string of @text up to @len without the blanks around it. */
static char *trimmed(const char *text, size_t len)
{
	while (len && isspace((unsigned char)*text))
		text++, len--;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	return strndup(text, len);
}

static void unquote(char *value)
{
	size_t len = strlen(value);

	if (len >= 2 && (*value == '"' || *value == '\'') && value[len - 1] == *value) {
		memmove(value, value + 1, len - 2);
		value[len - 2] = '\0';
		return;
	}
	/* Outside quotes a comment ends the value. */
	for (char *p = value; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == ';' || *p == '#') {
			*p = '\0';
			while (p > value && isspace((unsigned char)p[-1]))
				*--p = '\0';
			return;
		}
	}
}

int npmrc_line_parse(const char *line, char **ret_key, char **ret_value)
{
	_cleanup_free_ char *key = NULL, *value = NULL;
	const char *equals = strchr(line, '=');

	line += strspn(line, " \t\r");
	if (!*line || strchr(";#[", *line) || !equals || equals < line)
		return 0;
	key = trimmed(line, (size_t)(equals - line));
	value = trimmed(equals + 1, strlen(equals + 1));
	if (!key || !value)
		return -ENOMEM;
	unquote(value);
	*ret_key = npmrc_expand(key);
	*ret_value = npmrc_expand(value);
	if (!*ret_key || !*ret_value) {
		free(*ret_key);
		free(*ret_value);
		return -ENOMEM;
	}
	return 1;
}

int npmrc_get(const char *text, const char *key, char **ret_value)
{
	_cleanup_free_ char *copy = strdup(text), *found = NULL;
	char *rest = copy, *line;

	if (!copy)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		_cleanup_free_ char *name = NULL, *value = NULL;
		int r = npmrc_line_parse(line, &name, &value);

		if (r < 0)
			return r;
		if (r && !strcmp(name, key)) {
			free(found);
			found = steal_ptr(value);
		}
	}
	if (!found)
		return -ENOENT;
	*ret_value = steal_ptr(found);
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

bool npmrc_is_secret(const char *key)
{
	return ends_with(key, "_auth") || ends_with(key, "_authToken") ||
	       ends_with(key, "_password") || ends_with(key, "_authtoken") ||
	       ends_with(key, "otp") || !strcmp(key, "key");
}

bool npmrc_is_pem_path(const char *key)
{
	return !strcmp(key, "cafile") || ends_with(key, ":cafile") || ends_with(key, ":certfile") ||
	       ends_with(key, ":keyfile");
}
