// SPDX-License-Identifier: Apache-2.0
/* Making, writing and reading the authority of a run. */
#include "base/authority.h"

#include "base/io.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

#define CURVE		"P-256"
#define SERIAL_BYTES	16
#define PEM_BYTES_MAX	16384
#define DAY_SECONDS	(24L * 60 * 60)
#define ROOT_DAYS	(20U * 365)
#define ROOT_AGE_MIN	(2U * 365)
#define ROOT_AGE_SPREAD (5U * 365)

struct authority {
	EVP_PKEY *key;
	X509 *certificate;
};

DEFINE_CLEANUP(x509, X509 *, X509_free);
DEFINE_CLEANUP(bio, BIO *, BIO_free_all);
DEFINE_CLEANUP(bignum, BIGNUM *, BN_free);

/* Who might sign certificates: no authority of that name exists. */
static const struct {
	const char *country, *organization, *name;
} identities[] = {
	{"US", "Meridian Trust Services, Inc.", "Meridian Global Root CA"},
	{"US", "Northbridge Security LLC", "Northbridge Public Root CA"},
	{"CH", "Alpentrust AG", "Alpentrust Root Certification Authority"},
	{"NL", "Veldhuis Digital Trust B.V.", "Veldhuis TLS Root CA"},
	{"GB", "Harrowgate Certification Ltd", "Harrowgate ECC Root CA"},
	{"SE", "Nordlund Trust Center AB", "Nordlund Trust Center Root"},
	{"CA", "Laurentian Identity Corp.", "Laurentian Root CA"},
	{"DE", "Elbmark Vertrauensdienste GmbH", "Elbmark Root CA"},
};

static unsigned random_below(unsigned bound)
{
	unsigned value = 0;

	RAND_bytes((unsigned char *)&value, sizeof(value));
	return value % bound;
}

static int serial_set(X509 *certificate)
{
	unsigned char bytes[SERIAL_BYTES];
	_cleanup_(bignum) BIGNUM *number = NULL;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return 0;
	bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive, never shorter */
	number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	return number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
}

X509 *authority_blank(EVP_PKEY *key, const X509_NAME *issuer, unsigned from_days,
		      unsigned valid_days)
{
	_cleanup_(x509) X509 *certificate = X509_new();
	long from = -(long)from_days * DAY_SECONDS;

	if (!certificate || X509_set_version(certificate, X509_VERSION_3) != 1 ||
	    !serial_set(certificate) || X509_set_pubkey(certificate, key) != 1 ||
	    X509_set_issuer_name(certificate, issuer) != 1 ||
	    !X509_gmtime_adj(X509_getm_notBefore(certificate), from) ||
	    !X509_gmtime_adj(X509_getm_notAfter(certificate),
			     from + (long)valid_days * DAY_SECONDS))
		return NULL;
	return steal_ptr(certificate);
}

int authority_extend(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	int r;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	if (!extension)
		return 0;
	r = X509_add_ext(certificate, extension, -1);
	X509_EXTENSION_free(extension);
	return r;
}

static int subject_set(X509 *certificate)
{
	size_t i = random_below(sizeof(identities) / sizeof(*identities));
	X509_NAME *name = X509_get_subject_name(certificate);
	const struct {
		const char *field, *text;
	} parts[] = {
		{"C", identities[i].country},
		{"O", identities[i].organization},
		{"CN", identities[i].name},
	};

	for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++)
		if (X509_NAME_add_entry_by_txt(name, parts[k].field, MBSTRING_UTF8,
					       (const unsigned char *)parts[k].text, -1, -1,
					       0) != 1)
			return 0;
	return X509_set_issuer_name(certificate, name);
}

static int root_make(struct authority *authority)
{
	_cleanup_(x509) X509 *root = NULL;
	X509_NAME *nobody = X509_NAME_new();

	authority->key = EVP_EC_gen(CURVE);
	if (nobody && authority->key)
		root = authority_blank(authority->key, nobody,
				       ROOT_AGE_MIN + random_below(ROOT_AGE_SPREAD), ROOT_DAYS);
	X509_NAME_free(nobody);
	if (!root || !subject_set(root) ||
	    !authority_extend(root, root, NID_basic_constraints, "critical,CA:TRUE") ||
	    !authority_extend(root, root, NID_key_usage, "critical,keyCertSign,cRLSign") ||
	    !authority_extend(root, root, NID_subject_key_identifier, "hash") ||
	    !X509_sign(root, authority->key, EVP_sha256()))
		return -EIO;
	authority->certificate = steal_ptr(root);
	return 0;
}

int authority_make(struct authority **ret_authority, struct qp_error *err)
{
	_cleanup_authority_ struct authority *authority = calloc(1, sizeof(*authority));

	if (!authority)
		return qp_error_set(err, -ENOMEM, "out of memory");
	if (root_make(authority) < 0)
		return qp_error_set(err, -EIO, "cannot make a certificate authority: %s",
				    ERR_reason_error_string(ERR_peek_last_error()));
	*ret_authority = steal_ptr(authority);
	return 0;
}

/* Whether @bio holds a key and its certificate. */
static bool pair_read(struct authority *authority, BIO *bio)
{
	authority->key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	authority->certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	return authority->key && authority->certificate &&
	       X509_check_private_key(authority->certificate, authority->key) == 1;
}

int authority_read(int fd, struct authority **ret_authority, struct qp_error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(bio) BIO *bio = NULL;
	struct authority *authority;
	bool good;
	size_t len;
	int r = read_all(fd, PEM_BYTES_MAX, &text, &len);

	if (r < 0)
		return qp_error_set(err, r, "certificate authority: descriptor %d: %s", fd,
				    strerror(-r));
	bio = BIO_new_mem_buf(text, (int)len);
	authority = calloc(1, sizeof(*authority));
	good = bio && authority && pair_read(authority, bio);
	explicit_bzero(text, len);
	if (good) {
		*ret_authority = authority;
		return 0;
	}
	authority_free(authority);
	return qp_error_set(err, -EINVAL,
			    "certificate authority: descriptor %d holds no private key and its "
			    "certificate as PEM",
			    fd);
}

void authority_free(struct authority *authority)
{
	if (!authority)
		return;
	EVP_PKEY_free(authority->key);
	X509_free(authority->certificate);
	free(authority);
}

EVP_PKEY *authority_key(const struct authority *authority)
{
	return authority->key;
}

X509 *authority_certificate(const struct authority *authority)
{
	return authority->certificate;
}

static char *pem(const struct authority *authority, bool with_key)
{
	_cleanup_(bio) BIO *bio = BIO_new(BIO_s_secmem());
	char *bytes;
	long len;

	if (!bio ||
	    (with_key &&
	     PEM_write_bio_PrivateKey(bio, authority->key, NULL, NULL, 0, NULL, NULL) != 1) ||
	    PEM_write_bio_X509(bio, authority->certificate) != 1)
		return NULL;
	len = BIO_get_mem_data(bio, &bytes);
	return strndup(bytes, (size_t)len);
}

char *authority_pem(const struct authority *authority)
{
	return pem(authority, false);
}

char *authority_key_pem(const struct authority *authority)
{
	return pem(authority, true);
}

void authority_name(const struct authority *authority, char name[static AUTHORITY_NAME_SIZE])
{
	name[0] = '\0';
	X509_NAME_get_text_by_NID(X509_get_subject_name(authority->certificate), NID_commonName,
				  name, AUTHORITY_NAME_SIZE);
}

int authority_sha256(const struct authority *authority, char text[static AUTHORITY_SHA256_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (X509_digest(authority->certificate, EVP_sha256(), digest, &len) != 1)
		return -EIO;
	for (unsigned i = 0; i < len; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", digest[i]);
	return 0;
}

void authority_hash(const struct authority *authority, char text[static AUTHORITY_HASH_SIZE])
{
	snprintf(
		text, 9, "%08lx",
		X509_NAME_hash_ex(X509_get_subject_name(authority->certificate), NULL, NULL, NULL) &
			0xffffffffUL);
}
