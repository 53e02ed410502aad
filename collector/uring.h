/* SPDX-License-Identifier: Apache-2.0 */
/* io_uring's opcodes for those who read events and counters. */
#ifndef QP_COLLECTOR_URING_H
#define QP_COLLECTOR_URING_H

#include <stdint.h>

/* "OPENAT" for 18; NULL for a number that came after bpf/uring.def. */
const char *uring_op_name(unsigned int opcode);

/* The call as which its requests are recorded (enum qp_call_id); QP_CALL_NONE: they are only
 * counted. */
uint32_t uring_op_call(unsigned int opcode);

#endif
