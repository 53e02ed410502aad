/* SPDX-License-Identifier: Apache-2.0 */
/* A name for the kind of program that sent a ClientHello, after JA4's published description. */
#ifndef QP_SINKHOLE_JA4_H
#define QP_SINKHOLE_JA4_H

#include "sinkhole/tls.h"

#include <openssl/evp.h>

#define JA4_SIZE 37 /* with its NUL */

/* "1.3", "1.2" and so on; NULL for a version that has no name. */
const char *tls_version_name(uint16_t version);

/* 0, or -EIO when the digest @sha256 failed. */
int ja4_print(const struct tls_hello *hello, const EVP_MD *sha256, char ret_text[static JA4_SIZE]);

#endif
