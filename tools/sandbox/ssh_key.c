// SPDX-License-Identifier: Apache-2.0
/* The openssh-key-v1 container around an Ed25519 key of OpenSSL's making. */
#include "tools/sandbox/ssh_key.h"

#include "base/cleanup.h"
#include "tools/sandbox/random.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <string.h>

#define KEY_BYTES      32
#define COMMENT_MAX    100
#define BLOB_BYTES_MAX 512
#define BASE64_SIZE    (BLOB_BYTES_MAX * 4 / 3 + 8)
#define LINE_CHARS     70
#define CIPHER_BLOCK   8
#define SECRET_LINE                                                           \
	3 /* from 0: characters 210 to 279, bytes 158 to 209 of the blob; the \
	   * seed is bytes 161 to 192, and only the public key comes before */

DEFINE_CLEANUP(evp_key, EVP_PKEY *, EVP_PKEY_free);

/* SSH's wire format (RFC 4251, section 5): lengths are 32 bits, big-endian. */
struct blob {
	unsigned char bytes[BLOB_BYTES_MAX];
	size_t len;
};

static void blob_raw(struct blob *blob, const void *bytes, size_t len)
{
	memcpy(blob->bytes + blob->len, bytes, len);
	blob->len += len;
}

static void blob_u32(struct blob *blob, uint32_t value)
{
	unsigned char bytes[] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
				 (unsigned char)(value >> 8), (unsigned char)value};

	blob_raw(blob, bytes, sizeof(bytes));
}

static void blob_string(struct blob *blob, const void *bytes, size_t len)
{
	blob_u32(blob, (uint32_t)len);
	blob_raw(blob, bytes, len);
}

static void blob_text(struct blob *blob, const char *text)
{
	blob_string(blob, text, strlen(text));
}

static void blob_public(struct blob *blob, const unsigned char *public_key)
{
	blob_text(blob, "ssh-ed25519");
	blob_string(blob, public_key, KEY_BYTES);
}

static int blob_private(struct blob *blob, const unsigned char *private_key,
			const unsigned char *public_key, const char *comment)
{
	struct blob key = {.len = 0}, secret = {.len = 0};
	uint32_t check;
	int r = random_bytes(&check, sizeof(check));

	if (r)
		return r;
	blob_public(&key, public_key);
	blob_u32(&secret, check);
	blob_u32(&secret, check);
	blob_public(&secret, public_key);
	blob_u32(&secret, 2 * KEY_BYTES);
	blob_raw(&secret, private_key, KEY_BYTES);
	blob_raw(&secret, public_key, KEY_BYTES);
	blob_text(&secret, comment);
	for (unsigned char pad = 1; secret.len % CIPHER_BLOCK; pad++)
		blob_raw(&secret, &pad, 1);
	blob_raw(blob, "openssh-key-v1", sizeof("openssh-key-v1"));
	blob_text(blob, "none"); /* cipher */
	blob_text(blob, "none"); /* key derivation */
	blob_text(blob, "");	 /* its options */
	blob_u32(blob, 1);	 /* one key */
	blob_string(blob, key.bytes, key.len);
	blob_string(blob, secret.bytes, secret.len);
	return 0;
}

static int private_format(const struct blob *blob, char **ret_file, char **ret_secret)
{
	char base64[BASE64_SIZE], lines[BASE64_SIZE + BASE64_SIZE / LINE_CHARS + 2];
	_cleanup_free_ char *file = NULL, *secret = NULL;
	size_t len = (size_t)EVP_EncodeBlock((unsigned char *)base64, blob->bytes, (int)blob->len);
	size_t out = 0;

	for (size_t at = 0; at < len; at += LINE_CHARS) {
		size_t part = len - at < LINE_CHARS ? len - at : LINE_CHARS;

		memcpy(lines + out, base64 + at, part);
		out += part;
		lines[out++] = '\n';
	}
	lines[out] = '\0';
	secret = strndup(base64 + (size_t)SECRET_LINE * LINE_CHARS, LINE_CHARS);
	if (!secret || asprintf(&file,
				"-----BEGIN OPENSSH PRIVATE KEY-----\n%s"
				"-----END OPENSSH PRIVATE KEY-----\n",
				lines) < 0)
		return -ENOMEM;
	*ret_file = steal_ptr(file);
	*ret_secret = steal_ptr(secret);
	return 0;
}

int ssh_key_make(const char *comment, char **ret_private, char **ret_public, char **ret_secret)
{
	_cleanup_(evp_key) EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	unsigned char private_key[KEY_BYTES], public_key[KEY_BYTES];
	size_t private_len = KEY_BYTES, public_len = KEY_BYTES;
	_cleanup_free_ char *file = NULL, *line = NULL, *secret = NULL;
	struct blob private_blob = {.len = 0}, public_blob = {.len = 0};
	char base64[BASE64_SIZE];
	int r;

	if (strlen(comment) > COMMENT_MAX)
		return -EINVAL;
	if (!key || EVP_PKEY_get_raw_private_key(key, private_key, &private_len) != 1 ||
	    EVP_PKEY_get_raw_public_key(key, public_key, &public_len) != 1)
		return -EIO;
	r = blob_private(&private_blob, private_key, public_key, comment);
	if (!r)
		r = private_format(&private_blob, &file, &secret);
	if (r)
		return r;
	blob_public(&public_blob, public_key);
	EVP_EncodeBlock((unsigned char *)base64, public_blob.bytes, (int)public_blob.len);
	if (asprintf(&line, "ssh-ed25519 %s %s\n", base64, comment) < 0) {
		line = NULL;
		return -ENOMEM;
	}
	*ret_private = steal_ptr(file);
	*ret_public = steal_ptr(line);
	*ret_secret = steal_ptr(secret);
	return 0;
}
