// SPDX-License-Identifier: Apache-2.0
/* The store of copies, variables and secrets, and what the environment adds to it. */
#include "tools/download/npm_settings.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/download/npmrc.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#define PEM_MAX_BYTES  (8U << 20)
#define COPIES_MAX     64
#define SECRET_MIN_LEN 6
#define CA_BUNDLE      "/etc/ssl/certs/ca-certificates.crt"
#define NPM_PREFIX     "npm_config_"

int npm_settings_write(const struct npm_settings *settings, const char *name, const char *bytes,
		       size_t len, struct qp_error *err)
{
	int r = write_new_file_at(settings->dirfd, name, 0600, bytes, len);

	if (!r &&
	    fchownat(settings->dirfd, name, settings->uid, settings->gid, AT_SYMLINK_NOFOLLOW))
		r = -errno;
	return r ? qp_error_set(err, r, "cannot write a copy of the npm configuration: %s",
				strerror(-r))
		 : 0;
}

int npm_settings_add_secret(struct npm_settings *settings, const char *value)
{
	if (strlen(value) < SECRET_MIN_LEN)
		return 0;
	if (settings->secrets_cnt == SETTINGS_SECRETS_MAX)
		return -E2BIG;
	settings->secrets[settings->secrets_cnt] = strdup(value);
	return settings->secrets[settings->secrets_cnt++] ? 0 : -ENOMEM;
}

int npm_settings_add_url_secret(struct npm_settings *settings, const char *url)
{
	const char *begin = strstr(url, "://"), *end = begin ? strchr(begin + 3, '@') : NULL;
	_cleanup_free_ char *user = NULL;

	if (!end || strcspn(begin + 3, "/") < (size_t)(end - begin - 3))
		return 0;
	user = strndup(begin + 3, (size_t)(end - begin - 3));
	return user ? npm_settings_add_secret(settings, user) : -ENOMEM;
}

int npm_settings_setenv(struct npm_settings *settings, const char *name, const char *value)
{
	size_t len = strlen(name), i;
	char *text;

	for (i = 0; i < settings->env_cnt; i++) {
		if (!strncmp(settings->env[i], name, len) && settings->env[i][len] == '=')
			break;
	}
	if (i == SETTINGS_ENV_MAX)
		return -E2BIG;
	if (asprintf(&text, "%s=%s", name, value) < 0)
		return -ENOMEM;
	if (i < settings->env_cnt)
		free(settings->env[i]);
	else
		settings->env_cnt++;
	settings->env[i] = text;
	return 0;
}

int npm_settings_copy_pem(struct npm_settings *settings, const char *path, char **ret_inside,
			  struct qp_error *err)
{
	_cleanup_free_ char *bytes = NULL, *inside = NULL;
	char full[PATH_MAX], name[32];
	const char *home = getenv("HOME");
	size_t len;
	int r;

	*ret_inside = NULL;
	if (!strncmp(path, "~/", 2))
		snprintf(full, sizeof(full), "%s/%s", home ? home : "", path + 2);
	else
		snprintf(full, sizeof(full), "%s", path);
	r = read_file_at(AT_FDCWD, full, PEM_MAX_BYTES, &bytes, &len);
	if (r == -ENOENT)
		return 0;
	if (r)
		return qp_error_set(err, r, "the npm configuration names %s: %s", full,
				    strerror(-r));
	if (settings->copies_cnt == COPIES_MAX)
		return qp_error_set(err, -E2BIG,
				    "the npm configuration names more than %d certificate files",
				    COPIES_MAX);
	snprintf(name, sizeof(name), "%u.pem", settings->copies_cnt++);
	if (asprintf(&inside, "%s/%s", settings->inside, name) < 0) {
		inside = NULL;
		return -ENOMEM;
	}
	r = npm_settings_write(settings, name, bytes, len, err);
	if (!r)
		*ret_inside = steal_ptr(inside);
	return r;
}

/* Settings that name places of the host, or that qp itself decides. */
static bool is_own_setting(const char *name)
{
	static const char *const own[] = {
		"userconfig",	 "globalconfig",   "cache",    "prefix",      "local_prefix",
		"global_prefix", "global",	   "logs_dir", "tmp",	      "node_options",
		"script_shell",	 "shell",	   "git",      "init_module", "node_gyp",
		"nodedir",	 "ignore_scripts", "location", "dry_run",     "package_lock",
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		size_t len = strlen(own[i]);

		if (!strncasecmp(name, own[i], len) && name[len] == '=')
			return true;
	}
	return false;
}

static bool is_proxy(const char *variable)
{
	static const char *const names[] = {"http_proxy", "https_proxy", "all_proxy", "no_proxy",
					    "proxy"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t len = strlen(names[i]);

		if (!strncasecmp(variable, names[i], len) && variable[len] == '=')
			return true;
	}
	return false;
}

static int variable_copy(struct npm_settings *settings, const char *variable, struct qp_error *err)
{
	size_t prefix_len = strlen(NPM_PREFIX);
	const char *equals = strchr(variable, '=');
	_cleanup_free_ char *name = NULL, *inside = NULL;
	bool is_setting = !strncasecmp(variable, NPM_PREFIX, prefix_len);
	int r;

	if (!equals || (!is_setting && !is_proxy(variable)) ||
	    (is_setting && is_own_setting(variable + prefix_len)))
		return 0;
	name = strndup(variable, (size_t)(equals - variable));
	if (!name)
		return -ENOMEM;
	if (is_setting && npmrc_is_pem_path(name + prefix_len)) {
		r = npm_settings_copy_pem(settings, equals + 1, &inside, err);
		return r || !inside ? r : npm_settings_setenv(settings, name, inside);
	}
	r = npm_settings_setenv(settings, name, equals + 1);
	if (!r)
		r = is_setting && npmrc_is_secret(name + prefix_len)
			    ? npm_settings_add_secret(settings, equals + 1)
			    : npm_settings_add_url_secret(settings, equals + 1);
	return r;
}

/* Certificates that node and OpenSSL trust beyond npm's own. A distribution's node asks
 * OpenSSL, whose files are in /etc, which the container does not have. */
static int trust_take(struct npm_settings *settings, struct qp_error *err)
{
	static const struct {
		const char *name, *otherwise;
	} files[] = {{"NODE_EXTRA_CA_CERTS", NULL}, {"SSL_CERT_FILE", CA_BUNDLE}};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const char *path = getenv(files[i].name);
		_cleanup_free_ char *inside = NULL;
		int r;

		if (!path || !*path)
			path = files[i].otherwise;
		r = path ? npm_settings_copy_pem(settings, path, &inside, err) : 0;
		if (!r && inside)
			r = npm_settings_setenv(settings, files[i].name, inside);
		if (r)
			return r;
	}
	return 0;
}

int npm_settings_gather(struct npm_settings *settings, const struct host_npm *npm,
			struct qp_error *err)
{
	int r = npm_files_take(settings, npm, err);

	for (char **variable = environ; !r && *variable; variable++)
		r = variable_copy(settings, *variable, err);
	if (!r)
		r = trust_take(settings, err);
	return r ? qp_error_set(err, r, "cannot copy the npm configuration: %s", strerror(-r)) : 0;
}

void npm_settings_scrub(const struct npm_settings *settings, char *text)
{
	for (size_t i = 0; i < settings->secrets_cnt; i++) {
		size_t len = strlen(settings->secrets[i]);

		for (char *p = text; (p = strstr(p, settings->secrets[i])); p += len)
			memset(p, '*', len);
	}
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void npm_settings_clear(struct npm_settings *settings)
{
	for (size_t i = 0; i < settings->env_cnt; i++)
		wipe(settings->env[i]);
	for (size_t i = 0; i < settings->secrets_cnt; i++)
		wipe(settings->secrets[i]);
	settings->env_cnt = settings->secrets_cnt = 0;
	settings->env[0] = NULL;
}
