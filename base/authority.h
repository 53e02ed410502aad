/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate authority of one run, with whose certificates a sinkhole answers TLS: an
 * elliptic curve key and a root certificate of plausible, made-up names. The key is written
 * to nothing but a pipe.
 */
#ifndef QP_BASE_AUTHORITY_H
#define QP_BASE_AUTHORITY_H

#include "base/cleanup.h"
#include "base/error.h"

#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>

#define AUTHORITY_NAME_SIZE   64
#define AUTHORITY_SHA256_SIZE 65 /* hexadecimal digits and a NUL */
#define AUTHORITY_HASH_SIZE   9

struct authority;

/* 0 or a negative errno with @err. */
int authority_make(struct authority **ret_authority, struct qp_error *err);

/* Reads the key and the certificate that authority_key_pem gave, from @fd to its end. */
int authority_read(int fd, struct authority **ret_authority, struct qp_error *err);

void authority_free(struct authority *authority);

DEFINE_CLEANUP(authority, struct authority *, authority_free);
#define _cleanup_authority_ _cleanup_(authority)

/* Both live as long as the authority. */
EVP_PKEY *authority_key(const struct authority *authority);
X509 *authority_certificate(const struct authority *authority);

/* The certificate as PEM; the caller's. NULL when out of memory. */
char *authority_pem(const struct authority *authority);

/* The private key and the certificate as PEM, for authority_read; the caller's, to be wiped
 * with explicit_bzero. NULL when out of memory. */
char *authority_key_pem(const struct authority *authority);

/* The common name of its subject. */
void authority_name(const struct authority *authority, char name[static AUTHORITY_NAME_SIZE]);

/* The digest of the certificate's DER. 0 or -EIO. */
int authority_sha256(const struct authority *authority, char text[static AUTHORITY_SHA256_SIZE]);

/*
 * The name below which OpenSSL looks for the certificate in a folder of them: eight
 * hexadecimal digits, to which ".0" is added (openssl-rehash(1)).
 */
void authority_hash(const struct authority *authority, char text[static AUTHORITY_HASH_SIZE]);

/* A new certificate of version 3 with a random serial number, valid from @from_days before
 * now for @valid_days, for @key and issued by @issuer; NULL when that fails. What a
 * root and a leaf have in common: subject, extensions and signature are missing. */
X509 *authority_blank(EVP_PKEY *key, const X509_NAME *issuer, unsigned from_days,
		      unsigned valid_days);

/* Adds the extension @nid with OpenSSL's text @value (x509v3_config(5)), which must not come
 * from the network. False when that fails. */
int authority_extend(X509 *certificate, X509 *issuer, int nid, const char *value);

#endif
