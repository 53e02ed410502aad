/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one spelling of hostile bytes: every byte that is not printable UTF-8, every
 * control character and the backslash become \xHH, so that a spelling names exactly one
 * sequence of bytes and is safe on a terminal and in JSON.
 */
#ifndef QP_BASE_ESCAPE_H
#define QP_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns a new NUL-terminated string that the caller frees, NULL when out of memory. */
char *escape_bytes(const void *bytes, size_t len);

/* The same for what a program printed: newlines and tabs stay as they are. */
char *escape_lines(const void *bytes, size_t len);

/*
 * The inverse. Returns a new buffer with a NUL after its *ret_len bytes, which the
 * caller frees; NULL with errno EINVAL when @text is no spelling escape_bytes makes.
 */
char *unescape_text(const char *text, size_t *ret_len);

/* The length in bytes of the valid UTF-8 character at @p of @len bytes, 0 if it is none. */
size_t utf8_char_len(const unsigned char *p, size_t len);

/* Whether the character of @n bytes at @p is one that escape_bytes spells out: it moves the
 * cursor, hides or reorders text, or is the backslash. */
bool utf8_char_is_unsafe(const unsigned char *p, size_t n);

#endif
