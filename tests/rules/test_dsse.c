// SPDX-License-Identifier: Apache-2.0
/* Envelopes, base64 and keys, by the vectors of their specifications. */
#include "rules/base64.h"
#include "rules/dsse.h"
#include "rules/keys.h"
#include "rules/runrecord.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* RFC 4648, section 10. */
static const struct {
	const char *bytes, *text;
} vectors[] = {
	{"", ""},
	{"f", "Zg=="},
	{"fo", "Zm8="},
	{"foo", "Zm9v"},
	{"foob", "Zm9vYg=="},
	{"fooba", "Zm9vYmE="},
	{"foobar", "Zm9vYmFy"},
};

Test(base64, spells_the_vectors_of_the_rfc_and_reads_them_back)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		char *text = base64_encode(vectors[i].bytes, strlen(vectors[i].bytes));
		unsigned char *bytes;
		size_t len;

		cr_assert_str_eq(text, vectors[i].text);
		cr_assert_eq(base64_decode(text, strlen(text), &bytes, &len), 0);
		cr_assert_eq(len, strlen(vectors[i].bytes));
		cr_assert_str_eq((char *)bytes, vectors[i].bytes);
		free(text);
		free(bytes);
	}
}

Test(base64, reads_both_alphabets_but_not_in_one_text)
{
	unsigned char *bytes;
	size_t len;

	cr_assert_eq(base64_decode("+/+/", 4, &bytes, &len), 0);
	cr_assert_eq(memcmp(bytes, "\xfb\xff\xbf", 3), 0);
	free(bytes);
	cr_assert_eq(base64_decode("-_-_", 4, &bytes, &len), 0);
	cr_assert_eq(memcmp(bytes, "\xfb\xff\xbf", 3), 0);
	free(bytes);
	cr_assert_eq(base64_decode("+_+_", 4, &bytes, &len), -EINVAL);
}

Test(base64, refuses_every_other_spelling)
{
	static const char *const bad[] = {"Zg",	      "Zg=",	"Zh==", "Zm9=",	 "Z===", "====",
					  "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm9v=", "Zm=v", "Zm9*"};
	unsigned char *bytes;
	size_t len;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(base64_decode(bad[i], strlen(bad[i]), &bytes, &len), -EINVAL, "%s",
			     bad[i]);
}

/* FIPS 180-4's example. */
Test(base64, sha256_of_abc)
{
	char text[SHA256_TEXT_SIZE];

	cr_assert_eq(sha256_text("abc", 3, text), 0);
	cr_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* The vector of the DSSE specification. */
Test(dsse, pae_is_that_of_the_specification)
{
	size_t len;
	unsigned char *pae = dsse_pae("http://example.com/HelloWorld", "hello world", 11, &len);
	const char *expected = "DSSEv1 29 http://example.com/HelloWorld 11 hello world";

	cr_assert_eq(len, strlen(expected));
	cr_assert_eq(memcmp(pae, expected, len), 0);
	free(pae);
}

static struct key *key_of(const char *pem)
{
	char path[] = "/tmp/qp-test-key-XXXXXX";
	int fd = mkstemp(path);
	struct qp_error err = {0};
	struct key *key = NULL;

	cr_assert_eq(write(fd, pem, strlen(pem)), (ssize_t)strlen(pem));
	close(fd);
	cr_assert_eq(key_private_read(path, NULL, &key, &err), 0, "%s", err.text);
	unlink(path);
	return key;
}

/* RFC 8032, section 7.1, TEST 2: the message is one byte, 0x72. */
static const unsigned char rfc8032_seed[32] = {0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda,
					       0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f,
					       0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24,
					       0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb};
static const unsigned char rfc8032_signature[SIGNATURE_BYTES] = {
	0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f,
	0x64, 0x25, 0x40, 0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50, 0x3f, 0x8f, 0xb3, 0x76,
	0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda, 0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99,
	0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c, 0x38, 0x7b, 0x2e, 0xae,
	0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00};

/* PKCS #8 of an Ed25519 seed (RFC 8410, section 7). */
static void pem_of_seed(const unsigned char seed[static 32], char pem[static 256])
{
	unsigned char der[48] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
				 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
	char *body;

	memcpy(der + 16, seed, 32);
	body = base64_encode(der, sizeof(der));
	snprintf(pem, 256, "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n", body);
	free(body);
}

Test(keys, signs_as_the_rfc_does)
{
	unsigned char signature[SIGNATURE_BYTES];
	struct key *key;
	char pem[256];

	pem_of_seed(rfc8032_seed, pem);
	key = key_of(pem);
	cr_assert_eq(key_sign(key, "\x72", 1, signature), 0);
	cr_assert_eq(memcmp(signature, rfc8032_signature, SIGNATURE_BYTES), 0);
	cr_assert(key_verify(key, "\x72", 1, signature, SIGNATURE_BYTES));
	cr_assert_not(key_verify(key, "\x73", 1, signature, SIGNATURE_BYTES));
	cr_assert_not(key_verify(key, "\x72", 1, signature, SIGNATURE_BYTES - 1));
	for (size_t bit = 0; bit < 8 * SIGNATURE_BYTES; bit++) {
		unsigned char changed[SIGNATURE_BYTES];

		memcpy(changed, signature, sizeof(changed));
		changed[bit / 8] ^= (unsigned char)(1 << bit % 8);
		cr_assert_not(key_verify(key, "\x72", 1, changed, sizeof(changed)));
	}
	key_free(key);
}

Test(dsse, what_was_signed_is_read_back_and_verifies_under_that_key_only)
{
	struct key *key, *other;
	struct dsse dsse;
	size_t len;
	char *text;

	cr_assert_eq(key_generate(&key, NULL), 0);
	cr_assert_eq(key_generate(&other, NULL), 0);
	cr_assert_eq(dsse_sign(key, DSSE_TYPE_STATEMENT, "{\"a\":1}", 7, &text, &len, NULL), 0);
	cr_assert_eq(dsse_parse(text, len, DSSE_TYPE_STATEMENT, "envelope", &dsse, NULL), 0);
	cr_assert_eq(dsse.payload_len, 7);
	cr_assert_str_eq((char *)dsse.payload, "{\"a\":1}");
	cr_assert_eq(dsse_verify(&dsse, key, "signature", NULL), 0);
	cr_assert_eq(dsse_verify(&dsse, other, "signature", NULL), -EBADMSG);
	dsse_clear(&dsse);
	cr_assert_eq(dsse_parse(text, len, DSSE_TYPE_RECORD, "envelope", &dsse, NULL), -EBADMSG);
	free(text);
	key_free(key);
	key_free(other);
}

Test(runrecord, takes_the_sha512_of_an_integrity_and_nothing_else)
{
	/* SHA-512 of nothing: FIPS 180-4. */
	static const char *const empty =
		"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeo"
		"GlODJ6+SfaPg==";
	static const char *const hex =
		"cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff"
		"8318d2877eec2f63b931bd47417a81a538327af927da3e";
	char text[300], got[129];

	cr_assert(integrity_sha512(empty, got));
	cr_assert_str_eq(got, hex);
	snprintf(text, sizeof(text), "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk= %s?opt", empty);
	cr_assert(integrity_sha512(text, got));
	cr_assert_str_eq(got, hex);
	cr_assert_not(integrity_sha512("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", got));
	cr_assert_not(integrity_sha512("sha512-Zm9v", got));
	cr_assert_not(integrity_sha512("sha512-", got));
	cr_assert_not(integrity_sha512("", got));
	cr_assert_not(integrity_sha512(NULL, got));
}
