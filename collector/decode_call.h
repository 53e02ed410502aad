/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of bpf/syscalls.def for those who read events: names, kinds, argument roles. */
#ifndef QP_COLLECTOR_DECODE_CALL_H
#define QP_COLLECTOR_DECODE_CALL_H

#include "bpf/syscalls.h"

#include <stdint.h>

#define CALL_ARGS_CNT 6

struct call_info {
	const char *name;
	uint8_t kind; /* enum qp_call_kind */
	uint8_t roles[CALL_ARGS_CNT];
};

/* NULL for an identifier that the table does not have. */
const struct call_info *call_info_get(uint32_t call);

/* "EACCES" for 13; NULL for a number without a name. */
const char *errno_name(int number);

#endif
