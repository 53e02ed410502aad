// SPDX-License-Identifier: Apache-2.0
/* The copy phase: says on standard error what could not be copied. */
#include "tools/init/init.h"

#include "base/cleanup.h"
#include "base/tree_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERRORS_PRINTED_MAX 20

static void error_print(const char *name, int error)
{
	static int printed;

	if (printed++ < ERRORS_PRINTED_MAX)
		dprintf(STDERR_FILENO, "copy: %s: %s\n", name, strerror(error));
}

int copy_tree(const char *from, const char *to)
{
	_cleanup_close_ int from_fd = -1, to_fd = -1;
	struct tree_copy copy = {.on_error = error_print};
	int r;

	from_fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from_fd < 0 && errno == ENOENT)
		return 0;
	to_fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from_fd < 0 || to_fd < 0) {
		error_print(from_fd < 0 ? from : to, errno);
		return 1;
	}
	r = tree_copy(&copy, from_fd, to_fd);
	if (r)
		error_print(from, -r);
	if (copy.left_out)
		dprintf(STDERR_FILENO,
			"copy: left out %zu files that are neither regular files, "
			"folders nor links\n",
			copy.left_out);
	return r || copy.errors ? 1 : 0;
}
