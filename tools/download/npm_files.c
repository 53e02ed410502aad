// SPDX-License-Identifier: Apache-2.0
/* Finding the npmrc files as npm does, and copying them line by line. */
#include "tools/download/npm_settings.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/download/npmrc.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#define NPMRC_MAX_BYTES (1U << 20)
#define NPM_PREFIX	"npm_config_"

/* One variable that an npmrc refers to: its value is needed where npm reads the file. */
static void variable_take(void *context, const char *name)
{
	static const char *const own[] = {"PATH", "HOME",  "USER", "LOGNAME",
					  "PWD",  "SHELL", "LANG"};
	struct npm_settings *settings = context;
	const char *value = getenv(name);

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		if (!strcmp(name, own[i]))
			return;
	}
	/* A variable too many stays unset, and npm then says which one it misses. */
	if (value && !npm_settings_setenv(settings, name, value))
		npm_settings_add_secret(settings, value);
}

static int line_copy(struct npm_settings *settings, const char *line, FILE *out,
		     struct qp_error *err)
{
	_cleanup_free_ char *key = NULL, *value = NULL, *inside = NULL;
	int r = npmrc_line_parse(line, &key, &value);

	if (r < 0)
		return r;
	if (r && npmrc_is_pem_path(key)) {
		r = npm_settings_copy_pem(settings, value, &inside, err);
		if (!r && inside)
			fprintf(out, "%s=%s\n", key, inside);
		return r;
	}
	fprintf(out, "%s\n", line);
	if (!r)
		return 0;
	npmrc_each_variable(line, variable_take, settings);
	r = npmrc_is_secret(key) ? npm_settings_add_secret(settings, value)
				 : npm_settings_add_url_secret(settings, value);
	return r ? qp_error_set(err, r, "the npm configuration holds more than %d secrets",
				SETTINGS_SECRETS_MAX)
		 : 0;
}

static int npmrc_copy(struct npm_settings *settings, const char *text, FILE *out,
		      struct qp_error *err)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *line;
	int r = copy ? 0 : -ENOMEM;

	while (!r && (line = strsep(&rest, "\n")))
		r = line_copy(settings, line, out, err);
	return r;
}

/* The text of an npmrc, "" when there is none; the caller's. */
static int npmrc_read(const char *path, char **ret_text, struct qp_error *err)
{
	size_t len;
	int r = read_file_at(AT_FDCWD, path, NPMRC_MAX_BYTES, ret_text, &len);

	if (r == -ENOENT || r == -ENOTDIR) {
		*ret_text = strdup("");
		return *ret_text ? 0 : -ENOMEM;
	}
	return r ? qp_error_set(err, r, "cannot read the npm configuration %s: %s", path,
				strerror(-r))
		 : 0;
}

/* A setting given as npm_config_NAME, in any case. */
static const char *env_setting(const char *name)
{
	for (char **variable = environ; *variable; variable++) {
		size_t len = strlen(NPM_PREFIX), name_len = strlen(name);

		if (!strncasecmp(*variable, NPM_PREFIX, len) &&
		    !strncasecmp(*variable + len, name, name_len) &&
		    (*variable)[len + name_len] == '=' && (*variable)[len + name_len + 1])
			return *variable + len + name_len + 1;
	}
	return NULL;
}

/* npm's own order: the setting itself, or etc/npmrc below the prefix. */
static int global_path(const struct host_npm *npm, const char *user, const char *builtin,
		       char **ret_path)
{
	const char *given = env_setting("globalconfig"), *prefix = env_setting("prefix");
	_cleanup_free_ char *found = NULL;
	char own[PATH_MAX];

	if (given)
		return (*ret_path = strdup(given)) ? 0 : -ENOMEM;
	if (!npmrc_get(user, "globalconfig", ret_path))
		return 0;
	if (!prefix && !npmrc_get(user, "prefix", &found))
		prefix = found;
	if (!prefix && !npmrc_get(builtin, "globalconfig", ret_path))
		return 0;
	if (!prefix && !npmrc_get(builtin, "prefix", &found))
		prefix = found;
	if (!prefix)
		prefix = getenv("PREFIX");
	if (!prefix || !*prefix) {
		/* the parent of the folder that node is in */
		snprintf(own, sizeof(own), "%s", npm->node);
		for (int i = 0; i < 2; i++)
			*strrchr(own, '/') = '\0';
		prefix = own;
	}
	return asprintf(ret_path, "%s/etc/npmrc", prefix) < 0 ? -ENOMEM : 0;
}

static int user_path(char **ret_path)
{
	const char *given = env_setting("userconfig"), *home = getenv("HOME");

	if (given)
		return (*ret_path = strdup(given)) ? 0 : -ENOMEM;
	return asprintf(ret_path, "%s/.npmrc", home ? home : "") < 0 ? -ENOMEM : 0;
}

/* Writes one private npmrc with what @first and then @second say, and points npm to it. */
static int npmrc_place(struct npm_settings *settings, const char *name, const char *first,
		       const char *second, struct qp_error *err)
{
	_cleanup_free_ char *text = NULL, *inside = NULL, *variable = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int r;

	if (!out)
		return -ENOMEM;
	r = npmrc_copy(settings, first, out, err);
	if (!r)
		r = npmrc_copy(settings, second, out, err);
	if (fclose(out) && !r)
		r = -ENOMEM;
	if (!r)
		r = npm_settings_write(settings, name, text, len, err);
	if (!r && (asprintf(&inside, "%s/%s", settings->inside, name) < 0 ||
		   asprintf(&variable, NPM_PREFIX "%s", name) < 0))
		r = -ENOMEM;
	return r ? r : npm_settings_setenv(settings, variable, inside);
}

int npm_files_take(struct npm_settings *settings, const struct host_npm *npm, struct qp_error *err)
{
	_cleanup_free_ char *builtin = NULL, *user = NULL, *global = NULL, *path = NULL,
			    *global_file = NULL, *builtin_file = NULL;
	int r;

	if (asprintf(&builtin_file, "%s/npmrc", npm->folder) < 0) {
		builtin_file = NULL;
		return -ENOMEM;
	}
	r = user_path(&path);
	if (!r)
		r = npmrc_read(builtin_file, &builtin, err);
	if (!r)
		r = npmrc_read(path, &user, err);
	if (!r)
		r = global_path(npm, user, builtin, &global_file);
	if (!r)
		r = npmrc_read(global_file, &global, err);
	/* The builtin file comes first in the global one, so that certificates it names are
	 * found; later lines win, as they do between the two files. */
	if (!r)
		r = npmrc_place(settings, "globalconfig", builtin, global, err);
	return r ? r : npmrc_place(settings, "userconfig", user, "", err);
}
