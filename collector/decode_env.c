// SPDX-License-Identifier: Apache-2.0
/* Reads of environment variables: which of them are to be told, and once. */
#include "collector/decode_state.h"

#include <ctype.h>
#include <string.h>

#define NAME_SIZE 256 /* for the comparison with key_parts; observations have names whole */

/* What in a name says that the value opens something: at least what the default rules ask
 * for. Such a read is told of whoever reads it. */
static const char *const key_parts[] = {
	"*TOKEN*", "*SECRET*", "*PASS*",   "*CRED*",	   "*KEY*",	   "*AUTH*",
	"*_PAT",   "*DSN*",    "*COOKIE*", "*CONNECTION*", "DATABASE_URL",
};

/* What node, its libraries and libc ask for by themselves, whatever they run. */
static const char *const runtime_names[] = {
	"NODE_CHANNEL_FD",
	"NODE_CHANNEL_SERIALIZATION_MODE",
	"NODE_COMPILE_CACHE",
	"NODE_DEBUG",
	"NODE_DEBUG_NATIVE",
	"NODE_DISABLE_COLORS",
	"NODE_DISABLE_COMPILE_CACHE",
	"NODE_EXTRA_CA_CERTS",
	"NODE_ICU_DATA",
	"NODE_NO_WARNINGS",
	"NODE_OPTIONS",
	"NODE_PATH",
	"NODE_PENDING_DEPRECATION",
	"NODE_PRESERVE_SYMLINKS",
	"NODE_PRESERVE_SYMLINKS_MAIN",
	"NODE_REDIRECT_WARNINGS",
	"NODE_TEST_CONTEXT",
	"NODE_TLS_REJECT_UNAUTHORIZED",
	"NODE_UNIQUE_ID",
	"NODE_USE_ENV_PROXY",
	"NODE_V8_COVERAGE",
	"WATCH_REPORT_DEPENDENCIES",
	"SIMDUTF_FORCE_IMPLEMENTATION",
	"UV_THREADPOOL_SIZE",
	"UV_USE_IO_URING",
	"ICU_DATA",
	"ICU_TIMEZONE_FILES_DIR",
	"OPENSSL_CONF",
	"OPENSSL_CONF_INCLUDE",
	"OPENSSL_ENGINES",
	"OPENSSL_MODULES",
	"OPENSSL_ia32cap",
	"RANDFILE",
	"SSL_CERT_DIR",
	"SSL_CERT_FILE",
	"FORCE_COLOR",
	"NO_COLOR",
	"COLORTERM",
	"LANG",
	"LANGUAGE",
	"LC_*",
	"TZ",
	"TZDIR",
	"LOCPATH",
	"GCONV_PATH",
	"NLSPATH",
	"LOCALDOMAIN",
	"RES_OPTIONS",
	"HOSTALIASES",
	"RESOLV_*",
	"LD_LIBRARY_PATH",
	"LD_PRELOAD",
};

/* What npm tells each script, and what every login has. */
static const char *const ordinary_names[] = {
	"npm_config_*",	 "npm_lifecycle_*",
	"npm_package_*", "npm_command",
	"npm_execpath",	 "npm_node_execpath",
	"INIT_CWD",	 "EDITOR",
	"COLOR",	 "NODE",
	"HOME",		 "PATH",
	"USER",		 "LOGNAME",
	"SHELL",	 "TERM",
	"PWD",		 "OLDPWD",
	"SHLVL",	 "HOSTNAME",
	"TMPDIR",	 "TMP",
	"TEMP",		 "_",
};

/* Programs of the system, which ask for dozens of their own settings. */
static const char *const system_folders[] = {"/usr", "/bin", "/sbin", "/lib"};

static bool matches_any(const char *const *patterns, size_t cnt, const char *text)
{
	for (size_t i = 0; i < cnt; i++)
		if (text_matches(patterns[i], text))
			return true;
	return false;
}

#define MATCHES_ANY(table, text) matches_any(table, sizeof(table) / sizeof((table)[0]), text)

static bool is_key_like(const char *name)
{
	char upper[NAME_SIZE];
	size_t len = strnlen(name, sizeof(upper));

	if (len == sizeof(upper))
		return true;
	for (size_t i = 0; i <= len; i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	return MATCHES_ANY(key_parts, upper);
}

static bool is_of_system(const struct process *process)
{
	if (!process->exe || process->runs_node)
		return false;
	for (size_t i = 0; i < sizeof(system_folders) / sizeof(system_folders[0]); i++)
		if (path_is_below(process->exe, system_folders[i]))
			return true;
	return false;
}

static bool is_told(const struct process *process, const char *name)
{
	if (is_key_like(name))
		return true;
	return !MATCHES_ANY(runtime_names, name) && !MATCHES_ANY(ordinary_names, name) &&
	       !is_of_system(process);
}

/* 1 when the package's program asks for the name for the first time, 0 when it did before. */
static int is_first(struct decoder *d, const struct process *process, const char *name)
{
	const char *package = process->package ? process->package : "";
	const char *exe = process->exe ? process->exe : "";
	_cleanup_free_ char *key = NULL;
	/* With the NUL between them. */
	int len = asprintf(&key, "%s%c%s%c%s", package, '\0', exe, '\0', name);
	int r;

	if (len < 0) {
		key = NULL;
		return -ENOMEM;
	}
	if (map_get(&d->env_read, key, (size_t)len))
		return 0;
	r = map_put(&d->env_read, key, (size_t)len, 1);
	if (r == -E2BIG)
		trace_fail(d, "more than %d names of variables were read", ENV_NAMES_MAX);
	return r < 0 ? r : 1;
}

static int observe(struct decoder *d, const struct step *step, const struct event_field *field)
{
	struct observation observation;
	int r = observation_begin(d, &observation, OBSERVATION_ENV_READ, step->process,
				  step->event->head.time_ns);

	if (r < 0)
		return r;
	r = observation_set(&observation, "name", json_escaped(field->data, field->len));
	if (r == 0 && field->flags & QP_FIELD_TRUNCATED)
		r = observation_set(&observation, "truncated", json_true());
	if (r < 0) {
		observation_clear(&observation);
		return r;
	}
	return observe_take(d, &observation, (struct note){.phase = (uint8_t)step->process->phase},
			    NULL);
}

int decode_env(struct decoder *d, const struct step *step)
{
	const struct event_field *field = event_field_find(step->event, QP_FIELD_STRING, 0);
	_cleanup_free_ char *name = NULL;
	int r;

	step->process->node_unheard = false;
	if (step->process->actor != ACTOR_PACKAGE)
		return 0;
	if (!field || field->flags & QP_FIELD_FAULT) {
		trace_fail(d, "the name of a variable that process %u read could not be read",
			   step->process->ns_pid);
		return 0;
	}
	name = event_string_text(field);
	if (!name)
		return -ENOMEM;
	if (!is_told(step->process, name))
		return 0;
	r = is_first(d, step->process, name);
	return bounded(r == 1 ? observe(d, step, field) : r);
}
