/* SPDX-License-Identifier: Apache-2.0 */
/* What a host must be able to do, each thing tried for real. */
#ifndef QP_TOOLS_DOCTOR_H
#define QP_TOOLS_DOCTOR_H

#include "base/error.h"

#include <stddef.h>

#define FINDING_SIZE 256

struct doctor_check {
	const char *name;
	/* 0 and what was found, or a negative errno with cause and mend in @err. */
	int (*check)(char ret_found[static FINDING_SIZE], struct qp_error *err);
};

extern const struct doctor_check doctor_checks[];
extern const size_t doctor_checks_cnt;

#endif
