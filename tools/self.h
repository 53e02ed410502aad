/* SPDX-License-Identifier: Apache-2.0 */
/* Where qp's own programs and scripts are: beside the running program, git's way. */
#ifndef QP_TOOLS_SELF_H
#define QP_TOOLS_SELF_H

#include "base/error.h"

/* The absolute path of @name in the folder of the running program; the caller's. -ENOENT
 * with the mend when it is not there. */
int self_file(const char *name, char **ret_path, struct qp_error *err);

#endif
