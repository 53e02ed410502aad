/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that makes receipts of finished logs, so that neither a long derivation nor a
 * slow reader of stdout keeps the collector from its ring.
 */
#ifndef QP_TOOLS_COLLECT_RECEIPTS_H
#define QP_TOOLS_COLLECT_RECEIPTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct receipts {
	pid_t pid;
	int fd;
	char **waiting; /* paths of logs that the process has not taken yet */
	size_t waiting_cnt;
	uint64_t refused; /* logs whose receipts were not asked for: too many waited */
};

#define RECEIPTS_NONE ((struct receipts){.fd = -1})

/* Starts the process. With @json it prints each observation to stdout as one line of JSON. */
int receipts_start(struct receipts *receipts, bool json, struct qp_error *err);

/* Asks for the receipt of the log at @path, "X.qplog": it will be "X.receipt.json". */
void receipts_ask(struct receipts *receipts, const char *path);

/* Hands over what waits, as far as the process takes it without waiting. */
void receipts_push(struct receipts *receipts);

/* Hands over all, waits for the end. 0, or -EIO when a receipt could not be made. */
int receipts_finish(struct receipts *receipts);

#endif
