/* SPDX-License-Identifier: Apache-2.0 */
/* A system call's arguments and result as strace(1) spells them. */
#ifndef QP_COLLECTOR_LOG_TEXT_CALL_H
#define QP_COLLECTOR_LOG_TEXT_CALL_H

#include "collector/decode_event.h"
#include "collector/log_text_value.h"

#include <stdio.h>

/* "name(arguments", without the bracket that ends them; @machine is the log's. 0 or -ENOMEM. */
int text_call(FILE *out, const struct kernel_event *event, enum text_machine machine);

/* "= result" of a call that returned, with the error's name and words. 0 or -ENOMEM. */
int text_result(FILE *out, const struct kernel_event *event);

/* A comment that says which request of io_uring it is; nothing for a system call. */
void text_request(FILE *out, const struct kernel_event *event);

#endif
