// SPDX-License-Identifier: Apache-2.0
/* Files that belong to this installation of qp. */
#include "tools/self.h"

#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

int self_file(const char *name, char **ret_path, struct qp_error *err)
{
	_cleanup_free_ char *path = NULL;
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n < 0)
		return qp_error_set(err, -errno, "cannot read /proc/self/exe: %s", strerror(errno));
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (!slash)
		return qp_error_set(err, -ENOENT, "/proc/self/exe names no file");
	*slash = '\0';
	if (asprintf(&path, "%s/%s", exe, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (access(path, F_OK))
		return qp_error_set(err, -ENOENT,
				    "%s is missing: qp needs its programs in one folder (make, or "
				    "make install, puts them there)",
				    path);
	*ret_path = steal_ptr(path);
	return 0;
}
