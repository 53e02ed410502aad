/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that people type: parsed whole, with a range; junk after the digits is an error. */
#ifndef QP_BASE_NUMBER_H
#define QP_BASE_NUMBER_H

#include <stdint.h>

/* Decimal digits only. 0; -EINVAL for anything else; -ERANGE outside [min, max]. */
int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value);

/*
 * A number of bytes: digits, then nothing, K, M, G (powers of 1024) or the same with
 * "iB" (256M, 256MiB). Errors as number_parse.
 */
int bytes_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bytes);

/*
 * A number with up to three decimals, given back in thousandths: "0.5" is 500.
 * Errors as number_parse; @min and @max are thousandths too.
 */
int milli_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_milli);

#endif
