// SPDX-License-Identifier: Apache-2.0
/* Issuing certificates. Names come from the network: none passes through OpenSSL's parser of
 * extension texts. */
#include "sinkhole/leaf.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <string.h>

#define CURVE	   "P-256"
#define LEAF_AGE   31 /* days */
#define LEAF_DAYS  90
#define HOST_MAX   253 /* of a host, RFC 1035 section 2.3.4 */
#define COMMON_MAX 64  /* ub-common-name, RFC 5280 appendix A.1 */
#define TEXT_SIZE  (2 * (HOST_MAX + 1) + ENDPOINT_ADDRESS_SIZE)

DEFINE_CLEANUP(x509, X509 *, X509_free);
DEFINE_CLEANUP(pkey, EVP_PKEY *, EVP_PKEY_free);

/* What a certificate is made for, once it was looked at. */
struct identity {
	char host[HOST_MAX + 1], known_as[HOST_MAX + 1]; /* "": none */
	unsigned char address[16];
	int address_len;
	char address_text[ENDPOINT_ADDRESS_SIZE];
};

/* Letters, digits, hyphens, dots, and the underscore that hosts have all the same. */
static bool host_take(char host[static HOST_MAX + 1], const char *name, size_t len)
{
	if (!len || len > HOST_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '-' || c == '.' || c == '_'))
			return false;
		host[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	host[len] = '\0';
	return true;
}

static int address_take(struct identity *identity, const char *text)
{
	bool is_v6 = strchr(text, ':');

	if (inet_pton(is_v6 ? AF_INET6 : AF_INET, text, identity->address) != 1)
		return -EINVAL;
	identity->address_len = is_v6 ? 16 : 4;
	snprintf(identity->address_text, sizeof(identity->address_text), "%s", text);
	return 0;
}

/* A client that sends an address as its name (RFC 6066 forbids it) gets it as an address. */
static struct identity identity_of(const struct leaf_subject *subject)
{
	struct identity identity = {};
	char text[ENDPOINT_ADDRESS_SIZE];

	if (subject->known_as)
		host_take(identity.known_as, subject->known_as, strlen(subject->known_as));
	if (subject->name && host_take(identity.host, subject->name, subject->name_len)) {
		if (strlen(identity.host) >= sizeof(identity.address_text) ||
		    address_take(&identity, identity.host) < 0)
			return identity;
		identity.host[0] = '\0';
		return identity;
	}
	identity.host[0] = '\0';
	endpoint_address(subject->address, text);
	address_take(&identity, text);
	return identity;
}

static bool alternative_add(GENERAL_NAMES *names, int type, const void *bytes, int len)
{
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_STRING *value = type == GEN_DNS ? (ASN1_STRING *)ASN1_IA5STRING_new()
					     : (ASN1_STRING *)ASN1_OCTET_STRING_new();

	if (!name || !value || ASN1_STRING_set(value, bytes, len) != 1 ||
	    !sk_GENERAL_NAME_push(names, name)) {
		GENERAL_NAME_free(name);
		ASN1_STRING_free(value);
		return false;
	}
	GENERAL_NAME_set0_value(name, type, value);
	return true;
}

static bool alternatives_set(X509 *certificate, const struct identity *identity, bool critical)
{
	GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
	const char *host = identity->host, *known_as = identity->known_as;
	bool good = names != NULL;

	if (good && *host)
		good = alternative_add(names, GEN_DNS, host, (int)strlen(host));
	if (good && *known_as && strcmp(known_as, host) != 0)
		good = alternative_add(names, GEN_DNS, known_as, (int)strlen(known_as));
	if (good && identity->address_len)
		good = alternative_add(names, GEN_IPADD, identity->address, identity->address_len);
	good = good && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, critical,
					 X509V3_ADD_DEFAULT) == 1;
	sk_GENERAL_NAME_pop_free(names, GENERAL_NAME_free);
	return good;
}

static X509 *certificate_make(const struct leaves *leaves, EVP_PKEY *key,
			      const struct identity *identity)
{
	X509 *issuer = authority_certificate(leaves->authority);
	_cleanup_(x509) X509 *made =
		authority_blank(key, X509_get_subject_name(issuer), LEAF_AGE, LEAF_DAYS);
	const char *common = *identity->host ? identity->host : identity->address_text;
	bool nameless = strlen(common) > COMMON_MAX;

	if (!made ||
	    (!nameless &&
	     X509_NAME_add_entry_by_NID(X509_get_subject_name(made), NID_commonName, MBSTRING_ASC,
					(const unsigned char *)common, -1, -1, 0) != 1))
		return NULL;
	/* An empty subject makes the other names critical, RFC 5280 section 4.2.1.6. */
	if (!alternatives_set(made, identity, nameless) ||
	    !authority_extend(made, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
	    !authority_extend(made, issuer, NID_key_usage, "critical,digitalSignature") ||
	    !authority_extend(made, issuer, NID_ext_key_usage, "serverAuth,clientAuth") ||
	    !authority_extend(made, issuer, NID_subject_key_identifier, "hash") ||
	    !authority_extend(made, issuer, NID_authority_key_identifier, "keyid") ||
	    !X509_sign(made, authority_key(leaves->authority), EVP_sha256()))
		return NULL;
	return steal_ptr(made);
}

static void leaf_clear(struct leaf *leaf)
{
	EVP_PKEY_free(leaf->key);
	X509_free(leaf->certificate);
	free(leaf->text);
	*leaf = (struct leaf){};
}

void leaves_clear(struct leaves *leaves)
{
	for (size_t i = 0; i < LEAVES_MAX; i++)
		leaf_clear(&leaves->items[i]);
}

const struct leaf *leaf_for(struct leaves *leaves, const struct leaf_subject *subject)
{
	struct identity identity = identity_of(subject);
	_cleanup_(pkey) EVP_PKEY *key = NULL;
	_cleanup_(x509) X509 *certificate = NULL;
	_cleanup_free_ char *copy = NULL;
	struct leaf *leaf;
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "%s|%s|%s", identity.host, identity.known_as,
		 identity.address_text);
	for (size_t i = 0; i < LEAVES_MAX && leaves->items[i].text; i++)
		if (!strcmp(leaves->items[i].text, text))
			return &leaves->items[i];
	key = EVP_EC_gen(CURVE);
	certificate = key ? certificate_make(leaves, key, &identity) : NULL;
	copy = strdup(text);
	if (!certificate || !copy)
		return NULL;
	leaf = &leaves->items[leaves->next];
	leaves->next = (leaves->next + 1) % LEAVES_MAX;
	leaf_clear(leaf);
	*leaf = (struct leaf){steal_ptr(key), steal_ptr(certificate), steal_ptr(copy)};
	return leaf;
}
