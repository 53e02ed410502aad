/* SPDX-License-Identifier: Apache-2.0 */
/* Ed25519 keys (RFC 8032) in PEM: making, reading, signing, verifying. No other algorithm. */
#ifndef QP_RULES_KEYS_H
#define QP_RULES_KEYS_H

#include "base/error.h"
#include "rules/base64.h"

#include <stdbool.h>
#include <stddef.h>

#define SIGNATURE_BYTES 64

struct key;

/*
 * Reads a private key, PKCS #8 in PEM. @path may be /dev/fd/N, whose descriptor is then
 * closed, or credential:NAME for the file NAME of $CREDENTIALS_DIRECTORY (systemd-creds).
 * @passphrase_path names the file whose first line opens an encrypted key, "-" standard
 * input; NULL for none. -EINVAL when it is no such key, -EACCES when the passphrase lacks
 * or is wrong, or the file's error.
 */
int key_private_read(const char *path, const char *passphrase_path, struct key **ret_key,
		     struct qp_error *err);

/* Reads a public key, SubjectPublicKeyInfo in PEM. A private one is refused with -EINVAL. */
int key_public_read(const char *path, struct key **ret_key, struct qp_error *err);

/* Makes a new pair. */
int key_generate(struct key **ret_key, struct qp_error *err);

/* The halves in PEM; a passphrase that is not NULL or "" encrypts the private one. New strings that
 * the caller wipes (key_text_free) or frees. */
int key_private_pem(const struct key *key, const char *passphrase, char **ret_text);
int key_public_pem(const struct key *key, char **ret_text);

/* Wipes and frees; NULL is fine. */
void key_text_free(char *text);

/* Reads a passphrase: the first line, at most 1023 bytes, not empty. "-": standard input. */
int key_passphrase_read(const char *path, char **ret_passphrase, struct qp_error *err);

/* SHA-256 of the SubjectPublicKeyInfo in DER; lives as long as the key. */
const char *key_id(const struct key *key);

/* 0, or -EIO when the library fails. */
int key_sign(const struct key *key, const void *bytes, size_t len,
	     unsigned char ret_signature[static SIGNATURE_BYTES]);

/* Whether the signature is this key's of these bytes; false also when anything fails. */
bool key_verify(const struct key *key, const void *bytes, size_t len, const void *signature,
		size_t signature_len);

void key_free(struct key *key);

#endif
