/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648) and hexadecimal, as signatures and digests are spelt. */
#ifndef QP_RULES_BASE64_H
#define QP_RULES_BASE64_H

#include <stddef.h>

#define SHA256_BYTES	 32
#define SHA256_TEXT_SIZE 65 /* 64 hex digits and the NUL */

/* Standard alphabet with padding. A new string, the caller's; NULL when out of memory. */
char *base64_encode(const void *bytes, size_t len);

/*
 * The inverse, of the standard or the URL-safe alphabet, not of both in one text. Padding,
 * whole groups and zero bits at the end are required, so that a value has one spelling.
 * *ret_bytes has a NUL after its *ret_len bytes and is the caller's. 0, -EINVAL, -ENOMEM.
 */
int base64_decode(const char *text, size_t len, unsigned char **ret_bytes, size_t *ret_len);

/* Lowercase; @ret_text holds 2 * @len + 1 bytes. */
void hex_encode(const void *bytes, size_t len, char *ret_text);

/* SHA-256 in lowercase hex. 0 or -ENOMEM. */
int sha256_text(const void *bytes, size_t len, char ret_text[static SHA256_TEXT_SIZE]);

#endif
