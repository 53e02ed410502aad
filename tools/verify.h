/* SPDX-License-Identifier: Apache-2.0 */
/* Verifying a signed receipt: every check, in order, each of which may refuse it. */
#ifndef QP_TOOLS_VERIFY_H
#define QP_TOOLS_VERIFY_H

#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

struct verify_request {
	const char *envelope, *public_key, *log, *bundle; /* paths */
	uint64_t line;					  /* of the bundle; 0: by digest */
};

/* Prints a line to @out for each check that holds. 0; -EBADMSG with a refusal (rules/dsse.h),
 * or the error of a file that could not be read. */
int verify_signed(const struct verify_request *request, FILE *out, struct qp_error *err);

#endif
