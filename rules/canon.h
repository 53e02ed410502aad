/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical JSON (RFC 8785): one spelling per value, so that receipts compare as bytes. */
#ifndef QP_RULES_CANON_H
#define QP_RULES_CANON_H

#include <jansson.h>
#include <stddef.h>

/* The longest number is "-2.2250738585072014e-308" and the like. */
#define CANON_NUMBER_SIZE 32

/*
 * Spells @value in canonical form, without a newline at the end. *ret_text is a new buffer
 * with a NUL after its *ret_len bytes; the caller frees it.
 *
 * Every number is a double, as RFC 8785 has it: an integer beyond 2^53 is spelt as the
 * double nearest to it. -EINVAL for what has no canonical form: NaN, infinity, text that is
 * not UTF-8; -ELOOP past 256 levels; -ENOMEM.
 */
int canon_dump(const json_t *value, char **ret_text, size_t *ret_len);

/* ECMAScript's Number::toString (ECMA-262, 6.1.6.1.20). -EINVAL for NaN and infinity. */
int canon_number(double value, char ret_text[static CANON_NUMBER_SIZE]);

#endif
