/* SPDX-License-Identifier: Apache-2.0 */
/* An evidence log as text, in the words of strace(1). */
#ifndef QP_COLLECTOR_LOG_TEXT_H
#define QP_COLLECTOR_LOG_TEXT_H

#include "base/error.h"
#include "collector/log.h"

#include <stdio.h>

/*
 * Prints one line per record. A kernel event is "PID SECONDS call(arguments) = result" as
 * `strace -f -yy` has it; PID is the task's number in its own pid namespace, SECONDS is since
 * the start of the run. Any other record is a comment that begins with "# ". No byte of the
 * log reaches @out unescaped. 0, -ENOMEM, or the error of @out.
 */
int log_print_text(struct log_reader *reader, FILE *out, struct qp_error *err);

#endif
