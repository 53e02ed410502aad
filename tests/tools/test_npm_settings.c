// SPDX-License-Identifier: Apache-2.0
#include "tools/download/npm_settings.h"

#include "base/io.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[64], npm_folder[128];
static struct npm_settings settings;

static void put(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", home, name);
	cr_assert_eq(write_new_file_at(AT_FDCWD, path, 0600, text, strlen(text)), 0, "%s", path);
}

static void make_folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", home, name);
	cr_assert_eq(mkdir(path, 0700), 0);
}

static void begin(void)
{
	static char conf[128];

	clearenv();
	strcpy(home, "/tmp/qp-test-settings-XXXXXX");
	cr_assert(mkdtemp(home));
	setenv("HOME", home, 1);
	make_folder("conf");
	make_folder("npm");
	make_folder("prefix");
	make_folder("prefix/etc");
	snprintf(npm_folder, sizeof(npm_folder), "%s/npm", home);
	snprintf(conf, sizeof(conf), "%s/conf", home);
	settings = (struct npm_settings){
		.dirfd = open(conf, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.inside = "/opt/conf",
		.uid = getuid(),
		.gid = getgid(),
	};
	cr_assert_geq(settings.dirfd, 0);
}

static void end(void)
{
	npm_settings_clear(&settings);
	close(settings.dirfd);
	remove_tree_at(AT_FDCWD, home);
}

TestSuite(npm_settings, .init = begin, .fini = end);

static void gather(void)
{
	char node[] = "/usr/bin/node";
	struct host_npm npm = {.node = node, .folder = npm_folder};
	struct qp_error err = {0};

	cr_assert_eq(npm_settings_gather(&settings, &npm, &err), 0, "%s", err.text);
}

/* The value that the container will see, or NULL. */
static const char *variable(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < settings.env_cnt; i++)
		if (!strncmp(settings.env[i], name, len) && settings.env[i][len] == '=')
			return settings.env[i] + len + 1;
	return NULL;
}

static char *copy_of(const char *inside)
{
	char *text;
	size_t len;

	cr_assert(inside && !strncmp(inside, "/opt/conf/", 10), "%s", inside);
	cr_assert_eq(read_file_at(settings.dirfd, inside + 10, 1 << 20, &text, &len), 0);
	return text;
}

Test(npm_settings, copies_the_users_file_for_its_user_alone)
{
	struct stat st;
	char *text;

	put(".npmrc", "//r.example/:_authToken=abcdef123456\nloglevel=silent\n");
	gather();
	text = copy_of(variable("npm_config_userconfig"));
	cr_expect(strstr(text, "//r.example/:_authToken=abcdef123456\n"));
	cr_expect(strstr(text, "loglevel=silent\n"));
	free(text);
	cr_assert_eq(fstatat(settings.dirfd, "userconfig", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
}

Test(npm_settings, finds_the_files_where_the_environment_says)
{
	char path[256];
	char *text;

	put("user", "a=from-user\n");
	put("global", "b=from-global\n");
	snprintf(path, sizeof(path), "%s/user", home);
	setenv("NPM_CONFIG_USERCONFIG", path, 1);
	snprintf(path, sizeof(path), "%s/global", home);
	setenv("npm_config_globalconfig", path, 1);
	gather();
	text = copy_of(variable("npm_config_userconfig"));
	cr_expect(strstr(text, "a=from-user\n"));
	free(text);
	text = copy_of(variable("npm_config_globalconfig"));
	cr_expect(strstr(text, "b=from-global\n"));
	free(text);
}

Test(npm_settings, finds_the_global_file_below_the_users_prefix_after_the_builtin_one)
{
	char line[256];
	const char *builtin, *global;
	char *text;

	snprintf(line, sizeof(line), "prefix=%s/prefix\n", home);
	put(".npmrc", line);
	put("prefix/etc/npmrc", "registry=https://second.example/\n");
	put("npm/npmrc", "registry=https://first.example/\n");
	gather();
	text = copy_of(variable("npm_config_globalconfig"));
	builtin = strstr(text, "registry=https://first.example/\n");
	global = strstr(text, "registry=https://second.example/\n");
	cr_expect(builtin && global && builtin < global);
	free(text);
}

/* That the line of @text with @key names a copy with @expected in it. */
static void expect_copy(const char *text, const char *key, const char *expected)
{
	const char *value = strstr(text, key);
	char inside[64], *pem;

	cr_assert(value, "%s in %s", key, text);
	value += strlen(key);
	snprintf(inside, sizeof(inside), "%.*s", (int)strcspn(value, "\n"), value);
	pem = copy_of(inside);
	cr_expect_str_eq(pem, expected);
	free(pem);
}

Test(npm_settings, copies_certificates_and_points_to_the_copies)
{
	char line[256];
	char *text;

	put("ca.pem", "CERTIFICATE ONE");
	put("key.pem", "PRIVATE KEY");
	setenv("CERTS", home, 1);
	snprintf(line, sizeof(line),
		 "cafile=${CERTS}/ca.pem\n//r.example/:keyfile=\"~/key.pem\"\n//r.example/"
		 ":certfile=%s/"
		 "none.pem\n",
		 home);
	put(".npmrc", line);
	gather();
	text = copy_of(variable("npm_config_userconfig"));
	cr_expect_not(strstr(text, home), "a path of the host is left: %s", text);
	cr_expect_not(strstr(text, "certfile"), "npm takes a missing file for none");
	expect_copy(text, "cafile=", "CERTIFICATE ONE");
	expect_copy(text, "keyfile=", "PRIVATE KEY");
	free(text);
}

Test(npm_settings, passes_settings_proxies_and_needed_variables_and_nothing_else)
{
	put(".npmrc", "//r.example/:_authToken=${QP_TOKEN}\n");
	setenv("QP_TOKEN", "tok-123456", 1);
	setenv("OTHER_SECRET", "s", 1);
	setenv("HTTPS_PROXY", "http://proxy.example:8080", 1);
	setenv("npm_config_registry", "https://r.example/", 1);
	setenv("npm_config_cache", "/root/.npm", 1);
	setenv("NPM_CONFIG_IGNORE_SCRIPTS", "false", 1);
	setenv("npm_config_node_options", "--require /x.js", 1);
	gather();
	cr_expect_str_eq(variable("QP_TOKEN"), "tok-123456");
	cr_expect_str_eq(variable("HTTPS_PROXY"), "http://proxy.example:8080");
	cr_expect_str_eq(variable("npm_config_registry"), "https://r.example/");
	cr_expect_null(variable("OTHER_SECRET"));
	cr_expect_null(variable("npm_config_cache"));
	cr_expect_null(variable("NPM_CONFIG_IGNORE_SCRIPTS"));
	cr_expect_null(variable("npm_config_node_options"));
	cr_expect_null(variable("HOME"));
}

Test(npm_settings, copies_the_certificates_that_node_trusts_beyond_its_own)
{
	char path[256];
	char *text;

	put("extra.pem", "EXTRA");
	snprintf(path, sizeof(path), "%s/extra.pem", home);
	setenv("NODE_EXTRA_CA_CERTS", path, 1);
	gather();
	text = copy_of(variable("NODE_EXTRA_CA_CERTS"));
	cr_expect_str_eq(text, "EXTRA");
	free(text);
}

Test(npm_settings, hides_every_secret_in_what_is_printed)
{
	char text[] = "tok-123456 user:pw12@proxy base64auth== kept tok-123456";

	put(".npmrc",
	    "//r.example/:_authToken=${QP_TOKEN}\n_auth=\"base64auth==\"\n"
	    "proxy=http://user:pw12@proxy.example:8080/\nregistry=https://kept.example/\n");
	setenv("QP_TOKEN", "tok-123456", 1);
	gather();
	npm_settings_scrub(&settings, text);
	cr_expect_str_eq(text, "********** *********@proxy ************ kept **********");
}

Test(npm_settings, refuses_a_configuration_past_its_bounds)
{
	char node[] = "/usr/bin/node";
	struct host_npm npm = {.node = node, .folder = npm_folder};
	struct qp_error err = {0};
	size_t size = (1 << 20) + 1;
	char *text = malloc(size + 1);

	memset(text, '#', size);
	text[size] = '\0';
	put(".npmrc", text);
	free(text);
	cr_expect_eq(npm_settings_gather(&settings, &npm, &err), -EFBIG);
	cr_expect(strstr(err.text, ".npmrc"));
}
