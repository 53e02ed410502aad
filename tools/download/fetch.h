/* SPDX-License-Identifier: Apache-2.0 */
/* One fetch under way, between the files of this folder. */
#ifndef QP_TOOLS_DOWNLOAD_FETCH_H
#define QP_TOOLS_DOWNLOAD_FETCH_H

#include "tools/download/download.h"
#include "tools/download/npm_settings.h"
#include "tools/download/paths.h"
#include "tools/download/watch.h"

#include <stdbool.h>

/* On the host, within the folder that is filled, and gone before anything else sees it. */
#define PRIVATE	     ".fetch"
#define PRIVATE_CONF PRIVATE "/conf"
#define PRIVATE_WORK PRIVATE "/work"

/* In the container. */
#define INSIDE_APP  "/opt/app"
#define INSIDE_CONF "/opt/conf"
#define INSIDE_WORK "/opt/work"
#define INSIDE_OUT  "/out"
#define INSIDE_SRC  "/src"

struct fetch {
	const struct spec *spec;
	const struct persona *persona;
	const struct limits *limits; /* as asked for */
	struct limits container_limits;
	const char *out_dir;
	int out_fd;
	struct host_npm npm;
	struct npm_settings settings;
	char *stage;
	struct fetch_watch watch;
	char *container;
	json_t *hardening, *status;
};

/* Whether the package is a folder of this host. */
bool fetch_is_folder(const struct fetch *fetch);

/* Opens out_dir and makes the private folders in it: the npm configuration, and the job. */
int workspace_prepare(struct fetch *fetch, struct qp_error *err);

/* Removes the private folders: the copies of the user's tokens must not be there when
 * anything else is run. */
int workspace_remove(struct fetch *fetch, struct qp_error *err);

/* After the container's end: reads its report and checks it against what is there. */
int result_take(struct fetch *fetch, struct download *ret_download, struct qp_error *err);

#endif
