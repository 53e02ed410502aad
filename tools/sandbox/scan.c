// SPDX-License-Identifier: Apache-2.0
/* What is there for every process inside. Values of variables are not kept. */
#include "tools/sandbox/internal.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/io.h"
#include "tools/sandbox/inroot.h"
#include "tools/sandbox/mountinfo.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define ENVIRON_BYTES_MAX (1 << 20)

static const char *const engine_sockets[] = {
	"/var/run/docker.sock",	   "/run/docker.sock",	  "/run/containerd/containerd.sock",
	"/run/podman/podman.sock", "/run/crio/crio.sock",
};

/* A part of a variable's name that says that the value opens something. */
static const char *const key_parts[] = {
	"KEY",	"KEYS", "TOKENS",     "SECRETS",     "PASSWD", "PGPASSWD",
	"PASS", "AUTH", "CREDENTIAL", "CREDENTIALS", "PAT",    "DSN",
};

/* The end of a part that says so. */
static const char *const key_ends[] = {"TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "APIKEY"};

/* The fingerprint of a public key, which images of interpreters carry. */
#define IGNORED_NAME "GPG_KEY"

static bool part_is_key(const char *part, size_t len)
{
	for (size_t i = 0; i < sizeof(key_parts) / sizeof(*key_parts); i++)
		if (strlen(key_parts[i]) == len && !strncasecmp(part, key_parts[i], len))
			return true;
	for (size_t i = 0; i < sizeof(key_ends) / sizeof(*key_ends); i++) {
		size_t end = strlen(key_ends[i]);

		if (len >= end && !strncasecmp(part + len - end, key_ends[i], end))
			return true;
	}
	return false;
}

bool env_name_is_key_like(const char *name)
{
	for (size_t start = 0, i = 0;; i++) {
		if (isalnum((unsigned char)name[i]))
			continue;
		if (i > start && part_is_key(name + start, i - start))
			return true;
		if (!name[i])
			return false;
		start = i + 1;
	}
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void name_append(json_t *list, const char *name)
{
	_cleanup_free_ char *escaped = escape_bytes(name, strlen(name));

	json_array_append_new(list, json_string(escaped ? escaped : ""));
}

/* Cuts @variables, NAME=VALUE with a NUL each, to names and puts them into @scan. */
static int environ_scan(char *variables, size_t len, json_t *scan)
{
	json_t *all = json_object_get(scan, "envNames");
	json_t *keys = json_object_get(scan, "keyLikeEnvNames");
	_cleanup_free_ const char **names = calloc(len + 1, sizeof(*names));
	size_t cnt = 0;

	if (!names)
		return -ENOMEM;
	for (size_t at = 0; at < len;) {
		char *variable = variables + at, *value = strchr(variable, '=');

		at += strlen(variable) + 1;
		if (!value)
			continue;
		*value = '\0';
		names[cnt++] = variable;
	}
	qsort(names, cnt, sizeof(*names), name_compare);
	for (size_t i = 0; i < cnt; i++) {
		name_append(all, names[i]);
		if (!strcmp(names[i], IGNORED_NAME))
			name_append(json_object_get(scan, "ignoredImageVars"), names[i]);
		else if (env_name_is_key_like(names[i]))
			name_append(keys, names[i]);
	}
	return json_object_set_new(scan, "envNamesScanned", json_integer((json_int_t)cnt));
}

static int mount_append(const struct mount_entry *entry, void *context)
{
	_cleanup_free_ char *path = escape_bytes(entry->path, strlen(entry->path));
	json_t *mount =
		json_pack("{s:s, s:s, s:b}", "mountPoint", path ? path : "", "fsType", entry->type,
			  "readOnly", (int)!!mount_option(entry->options, "ro"));

	return json_array_append_new(context, mount) ? -ENOMEM : 0;
}

static void sockets_scan(int root_fd, json_t *list)
{
	for (size_t i = 0; i < sizeof(engine_sockets) / sizeof(*engine_sockets); i++) {
		_cleanup_close_ int fd = inroot_open(root_fd, engine_sockets[i], O_PATH);
		struct stat st;

		if (fd >= 0 && !fstat(fd, &st) && S_ISSOCK(st.st_mode))
			json_array_append_new(list, json_string(engine_sockets[i]));
	}
}

int sandbox_scan(const struct sandbox *sandbox, json_t **ret_scan)
{
	json_t *scan =
		json_pack("{s:[], s:i, s:[], s:[], s:[], s:[]}", "envNames", "envNamesScanned", 0,
			  "keyLikeEnvNames", "ignoredImageVars", "dockerSockPresent", "mounts");
	_cleanup_free_ char *variables = NULL;
	char path[64];
	size_t len;
	int r;

	if (!scan)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%d/environ", sandbox->init_tgid);
	r = read_file_at(AT_FDCWD, path, ENVIRON_BYTES_MAX, &variables, &len);
	if (!r)
		r = environ_scan(variables, len, scan);
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", sandbox->init_tgid);
	if (!r)
		r = mountinfo_each(path, mount_append, json_object_get(scan, "mounts"));
	if (r) {
		json_decref(scan);
		return r == -ENOENT ? -ESRCH : r;
	}
	sockets_scan(sandbox->root_fd, json_object_get(scan, "dockerSockPresent"));
	*ret_scan = scan;
	return 0;
}
