/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of bpf/syscalls.def for those who read events: names, kinds, argument roles. */
#ifndef QP_COLLECTOR_DECODE_CALL_H
#define QP_COLLECTOR_DECODE_CALL_H

#include "bpf/event.h"
#include "bpf/syscalls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_ARGS_CNT 6

/* The one bit of O_TMPFILE that no other flag shares, alike on all machines; O_DIRECTORY's,
 * which it holds too, is not. */
#define OPEN_TMPFILE_BIT 020000000

struct call_info {
	const char *name;
	uint8_t kind; /* enum qp_call_kind */
	bool by_path; /* QP_ROW_BY_PATH */
	uint8_t roles[CALL_ARGS_CNT];
	int16_t x86_64, aarch64, i386; /* numbers; -1: the ABI has no such call */
};

/* NULL for an identifier that the table does not have. */
const struct call_info *call_info_get(uint32_t call);

/*
 * The flags of a call of the kind OPEN. @how: the first @how_len bytes of openat2's struct
 * open_how, NULL where they could not be read, which is taken for the worst.
 */
uint64_t call_open_flags(const struct qp_call *call, const void *how, size_t how_len);

/* Whether a call by path acts on what a link in its (first) path's last place leads to. */
bool call_follows_last(const struct qp_call *call);

/* Whether the call's number is one that its identifier has in its ABI; not so when the table
 * that the log was recorded with is not this one. False for an unknown identifier or ABI. */
bool call_number_fits(const struct qp_call *call);

/* Whether its two paths change places. */
bool call_exchanges(const struct qp_call *call);

/* "EACCES" for 13; NULL for a number without a name. */
const char *errno_name(int number);

#endif
