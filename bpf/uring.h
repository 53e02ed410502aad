/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* io_uring's opcodes as bpf/uring.def names them, and how their requests are counted. */
#ifndef QP_BPF_URING_H
#define QP_BPF_URING_H

#include "bpf/event.h"
#include "bpf/syscalls.h"

enum qp_uring_op {
#define QP_URING(name, number, ...) QP_URING_##name = number,
#include "bpf/uring.def"
#undef QP_URING
	QP_URING_OP_CNT
};

/* Beyond the byte that an opcode is. */
#define QP_URING_NUMBERS 256

/* Requests of one opcode in one slot, on one CPU. */
struct qp_uring_count {
	uint64_t submitted;
	uint64_t finished; /* their result was seen, or the kernel refused them at once */
	uint64_t silent;   /* asked for no result when they succeed */
};

/* A key of `uring_counts`. */
#define QP_URING_KEY(slot, opcode) ((uint32_t)(slot)*QP_URING_NUMBERS + (opcode))

#endif
