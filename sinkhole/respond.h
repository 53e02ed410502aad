/* SPDX-License-Identifier: Apache-2.0 */
/* What HTTP requests are answered with: a table that the user wrote, and 403 for the rest. */
#ifndef QP_SINKHOLE_RESPOND_H
#define QP_SINKHOLE_RESPOND_H

#include "base/cleanup.h"
#include "base/error.h"

#include <stddef.h>

#define RESPOND_FILE_MAX    (4 * 1024 * 1024)
#define RESPOND_ROWS_MAX    256
#define RESPOND_HEADERS_MAX 16
#define RESPOND_BODY_MAX    65536

struct respond_header {
	char *name, *value;
};

struct response {
	unsigned status;
	const char *reason;
	struct respond_header headers[RESPOND_HEADERS_MAX];
	size_t headers_cnt;
	char *body;
	size_t body_len;
};

struct respond;

/*
 * Reads @path, a JSON array of {"method", "host", "path", "status", "headers", "body"}, of
 * which only "status" must be there; host and path are patterns of glob(7). NULL @path: an
 * empty table. -EINVAL with the place and the reason; errors of open.
 */
int respond_load(const char *path, struct respond **ret_respond, struct qp_error *err);
void respond_free(struct respond *respond);

DEFINE_CLEANUP(respond, struct respond *, respond_free);
#define _cleanup_respond_ _cleanup_(respond)

/* The first row that fits, else @otherwise, else 403. NULL for what the request does not have. A
 * row lives as long as the table; a NULL @respond is an empty one. */
const struct response *respond_find(const struct respond *respond, const char *method,
				    const char *host, const char *path,
				    const struct response *otherwise);

/* The answer to what is no HTTP. */
const struct response *respond_bad_request(void);

#endif
