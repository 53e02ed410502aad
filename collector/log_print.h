/* SPDX-License-Identifier: Apache-2.0 */
/* An evidence log for people and their tools: one JSON object per record and line. */
#ifndef QP_COLLECTOR_LOG_PRINT_H
#define QP_COLLECTOR_LOG_PRINT_H

#include "base/error.h"
#include "collector/log.h"

#include <stdio.h>

/*
 * Prints {"n", "type", ...}: kernel events decoded, the JSON of other records as "record",
 * what cannot be decoded as "bytes", escaped, with the reason as "malformed". 0, -ENOMEM, or
 * the error of @out.
 */
int log_print_json(struct log_reader *reader, FILE *out, struct qp_error *err);

#endif
