/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of keys share. Nobody else includes this. */
#ifndef QP_RULES_KEYS_INTERNAL_H
#define QP_RULES_KEYS_INTERNAL_H

#include "rules/keys.h"

#include <openssl/evp.h>

struct key {
	EVP_PKEY *pkey;
	char id[SHA256_TEXT_SIZE];
};

/* Takes the library's key over, also on failure. -EINVAL unless it is Ed25519. */
int key_new_take(EVP_PKEY *taken, struct key **ret_key);

#endif
