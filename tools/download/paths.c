// SPDX-License-Identifier: Apache-2.0
/* Finding fixtures beside the program, and node and npm on the host. */
#include "tools/download/paths.h"

#include "base/cleanup.h"
#include "tools/self.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define FIXTURE_NAME_MAX 64

int fixture_path(const char *name, char **ret_path, struct qp_error *err)
{
	_cleanup_free_ char *relative = NULL, *file = NULL;
	size_t len = strlen(name);

	if (!len || len > FIXTURE_NAME_MAX ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
		return qp_error_set(err, -EINVAL,
				    "fixture:%s: a fixture's name has only a-z, 0-9 and '-'", name);
	if (asprintf(&relative, "fixtures/%s/package.json", name) < 0) {
		relative = NULL;
		return -ENOMEM;
	}
	if (self_file(relative, &file, NULL))
		return qp_error_set(err, -ENOENT,
				    "there is no fixture '%s': the folders of tests/fixtures are "
				    "their names",
				    name);
	*strrchr(file, '/') = '\0';
	*ret_path = realpath(file, NULL);
	return *ret_path ? 0 : -errno;
}

static bool is_below_usr(const char *path)
{
	return !strncmp(path, "/usr/", 5);
}

/* The real path of @name in the folders of a container's PATH; NULL when none has it. */
static char *find_program(const char *name)
{
	static const char *const folders[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					      "/usr/bin"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		char path[PATH_MAX];
		char *real;

		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		if (access(path, X_OK))
			continue;
		real = realpath(path, NULL);
		if (real && is_below_usr(real))
			return real;
		free(real);
	}
	return NULL;
}

/* npm's program is npm/bin/npm-cli.js. */
static bool strip_parents(char *path, int levels)
{
	while (levels--) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			return false;
		*slash = '\0';
	}
	return true;
}

int host_npm_find(struct host_npm *ret_npm, struct qp_error *err)
{
	_cleanup_free_ char *node = find_program("node"), *npm = find_program("npm");

	if (!node || !npm || !strip_parents(npm, 2))
		return qp_error_set(err, -ENOTSUP,
				    "%s is not installed below /usr, where the sandbox could see "
				    "it: install Node.js with npm (apt-get install nodejs npm)",
				    node ? "npm" : "node");
	*ret_npm = (struct host_npm){.node = steal_ptr(node), .folder = steal_ptr(npm)};
	return 0;
}

void host_npm_clear(struct host_npm *npm)
{
	free(npm->node);
	free(npm->folder);
	*npm = (struct host_npm){0};
}
