// SPDX-License-Identifier: Apache-2.0
/* Keys in memory: made, named, signing and verifying. keys_read.c reads them from files. */
#include "rules/keys_internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <string.h>

#define KEY_KDF_ITERATIONS 600000 /* of PBKDF2-HMAC-SHA-256 */

DEFINE_CLEANUP(md_ctx, EVP_MD_CTX *, EVP_MD_CTX_free);
DEFINE_CLEANUP(pkey, EVP_PKEY *, EVP_PKEY_free);
DEFINE_CLEANUP(pkcs8, PKCS8_PRIV_KEY_INFO *, PKCS8_PRIV_KEY_INFO_free);
DEFINE_CLEANUP(bio, BIO *, BIO_free_all);

void key_free(struct key *key)
{
	if (!key)
		return;
	EVP_PKEY_free(key->pkey);
	free(key);
}

void key_text_free(char *text)
{
	if (text)
		OPENSSL_cleanse(text, strlen(text));
	free(text);
}

int key_new_take(EVP_PKEY *taken, struct key **ret_key)
{
	_cleanup_(pkey) EVP_PKEY *pkey = taken;
	unsigned char *der = NULL;
	struct key *key;
	int len, r;

	/* What another algorithm signs means something else. */
	if (!EVP_PKEY_is_a(pkey, "ED25519"))
		return -EINVAL;
	len = i2d_PUBKEY(pkey, &der);
	if (len <= 0)
		return -EINVAL;
	key = calloc(1, sizeof(*key));
	r = key ? sha256_text(der, (size_t)len, key->id) : -ENOMEM;
	OPENSSL_free(der);
	if (r) {
		free(key);
		return r;
	}
	key->pkey = steal_ptr(pkey);
	*ret_key = key;
	return 0;
}

int key_generate(struct key **ret_key, struct qp_error *err)
{
	EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	int r = pkey ? key_new_take(pkey, ret_key) : -EIO;

	return r ? qp_error_set(err, r, "OpenSSL made no Ed25519 key") : 0;
}

/* A copy of what was written to @bio. */
static int bio_text(BIO *bio, char **ret_text)
{
	char *bytes;
	long len = BIO_get_mem_data(bio, &bytes);
	char *text = len > 0 ? malloc((size_t)len + 1) : NULL;

	if (!text)
		return -ENOMEM;
	memcpy(text, bytes, (size_t)len);
	text[len] = '\0';
	*ret_text = text;
	return 0;
}

/* PBES2 with AES-256 and a work factor of our own: the library's is of another age. */
static int encrypted_write(BIO *bio, PKCS8_PRIV_KEY_INFO *info, const char *passphrase)
{
	X509_ALGOR *pbe = PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), KEY_KDF_ITERATIONS, NULL, 0, NULL,
					    NID_hmacWithSHA256);
	X509_SIG *encrypted;
	int good;

	if (!pbe)
		return -EIO;
	encrypted = PKCS8_set0_pbe(passphrase, (int)strlen(passphrase), info, pbe);
	if (!encrypted) {
		X509_ALGOR_free(pbe);
		return -EIO;
	}
	good = PEM_write_bio_PKCS8(bio, encrypted);
	X509_SIG_free(encrypted);
	return good == 1 ? 0 : -EIO;
}

int key_private_pem(const struct key *key, const char *passphrase, char **ret_text)
{
	/* Secure memory is wiped when it is freed. */
	_cleanup_(bio) BIO *bio = BIO_new(BIO_s_secmem());
	_cleanup_(pkcs8) PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key->pkey);
	int r;

	if (!bio || !info)
		return -EIO;
	if (passphrase && *passphrase)
		r = encrypted_write(bio, info, passphrase);
	else
		r = PEM_write_bio_PKCS8_PRIV_KEY_INFO(bio, info) == 1 ? 0 : -EIO;
	return r ? r : bio_text(bio, ret_text);
}

int key_public_pem(const struct key *key, char **ret_text)
{
	_cleanup_(bio) BIO *bio = BIO_new(BIO_s_mem());

	if (!bio || PEM_write_bio_PUBKEY(bio, key->pkey) != 1)
		return -EIO;
	return bio_text(bio, ret_text);
}

const char *key_id(const struct key *key)
{
	return key->id;
}

int key_sign(const struct key *key, const void *bytes, size_t len,
	     unsigned char ret_signature[static SIGNATURE_BYTES])
{
	_cleanup_(md_ctx) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t signature_len = SIGNATURE_BYTES;

	if (!ctx || EVP_DigestSignInit(ctx, NULL, NULL, NULL, key->pkey) != 1 ||
	    EVP_DigestSign(ctx, ret_signature, &signature_len, bytes, len) != 1 ||
	    signature_len != SIGNATURE_BYTES)
		return -EIO;
	return 0;
}

bool key_verify(const struct key *key, const void *bytes, size_t len, const void *signature,
		size_t signature_len)
{
	_cleanup_(md_ctx) EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	/* 0 is a wrong signature, a negative value another failure: only 1 is good. */
	return ctx && signature_len == SIGNATURE_BYTES &&
	       EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key->pkey) == 1 &&
	       EVP_DigestVerify(ctx, signature, signature_len, bytes, len) == 1;
}
