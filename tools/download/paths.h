/* SPDX-License-Identifier: Apache-2.0 */
/* Where the fixtures of this installation, and the host's node and npm, are. */
#ifndef QP_TOOLS_DOWNLOAD_PATHS_H
#define QP_TOOLS_DOWNLOAD_PATHS_H

#include "base/error.h"

/*
 * The folder of the fixture @name ([a-z0-9-]+), beside the running program or in the source
 * tree that it was built in. *ret_path is the caller's. -EINVAL for a name that no fixture
 * can have, -ENOENT with what there is.
 */
int fixture_path(const char *name, char **ret_path, struct qp_error *err);

struct host_npm {
	char *node;   /* the program, below /usr */
	char *folder; /* of npm's package, with its libraries */
};

/* Finds both below /usr, which is all of the host that a container sees. -ENOTSUP with the
 * mend. */
int host_npm_find(struct host_npm *ret_npm, struct qp_error *err);
void host_npm_clear(struct host_npm *npm);

#endif
