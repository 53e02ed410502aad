/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the download's container: its output, its time, the disk it fills. */
#ifndef QP_TOOLS_DOWNLOAD_WATCH_H
#define QP_TOOLS_DOWNLOAD_WATCH_H

#include "base/error.h"
#include "tools/sandbox/sandbox.h"

#define FETCH_OUTPUT_MAX 65536

/* What npm's cache may hold beside the packed packages: what the registry says of each. */
#define FETCH_METADATA_MAX (256ULL << 20)

struct fetch_watch {
	struct sandbox *sandbox;
	int cancel_fd;
	int out_fd;	     /* the folder that is filled */
	const char *private; /* a folder in it that is measured for itself */
	const struct limits *limits;
	char output[FETCH_OUTPUT_MAX + 1]; /* stdout and stderr, cut at the end */
	size_t output_len;
	uint64_t elapsed_ns;
};

/*
 * Starts the container and returns when its first program ended; on failure it was killed.
 * -ETIMEDOUT, -EFBIG, -ECANCELED, the system's error.
 */
int fetch_watch_run(struct fetch_watch *watch, struct qp_error *err);

#endif
