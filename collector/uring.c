// SPDX-License-Identifier: Apache-2.0
/* bpf/uring.def as a table of userspace. */
#include "collector/uring.h"

#include "bpf/uring.h"

#include <stddef.h>

static const struct {
	const char *name;
	uint32_t call;
} ops[QP_URING_OP_CNT] = {
#define QP_URING(name, number, call, shape) [number] = {#name, QP_CALL_##call},
#include "bpf/uring.def"
#undef QP_URING
};

const char *uring_op_name(unsigned int opcode)
{
	return opcode < QP_URING_OP_CNT ? ops[opcode].name : NULL;
}

uint32_t uring_op_call(unsigned int opcode)
{
	return opcode < QP_URING_OP_CNT ? ops[opcode].call : QP_CALL_NONE;
}
