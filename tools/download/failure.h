/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed fetch means to the person who asked for the package. */
#ifndef QP_TOOLS_DOWNLOAD_FAILURE_H
#define QP_TOOLS_DOWNLOAD_FAILURE_H

#include "base/error.h"
#include "tools/download/download.h"

/* Fills @err with cause and mend of npm's or node's error @code (its @message is untrusted
 * and escaped already), and returns the negative errno that stands for it. */
int fetch_failure(const struct spec *spec, const struct limits *limits, const char *code,
		  const char *message, struct qp_error *err);

#endif
