/* SPDX-License-Identifier: Apache-2.0 */
/* Random choices for what is made up: persona, decoys, names. */
#ifndef QP_TOOLS_SANDBOX_RANDOM_H
#define QP_TOOLS_SANDBOX_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#define ALPHABET_HEX	"0123456789abcdef"
#define ALPHABET_ALNUM	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define ALPHABET_BASE32 "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
#define ALPHABET_BASE64 ALPHABET_ALNUM "+/"
#define ALPHABET_URL	ALPHABET_ALNUM "-_"

/* Fills @bytes from the kernel's generator. 0 or -errno. */
int random_bytes(void *bytes, size_t len);

/* An even choice from 0 to @bound - 1; @bound is at least 1. 0 or -errno. */
int random_below(uint32_t bound, uint32_t *ret_value);

/* @len characters of @alphabet and a NUL, into @text of @len + 1 bytes. 0 or -errno. */
int random_text(const char *alphabet, size_t len, char *text);

#endif
