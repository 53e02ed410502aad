// SPDX-License-Identifier: Apache-2.0
/* Certificates, judged by the openssl program. */
#include "sinkhole/leaf.h"

#include <criterion/criterion.h>
#include <openssl/pem.h>
#include <string.h>
#include <strings.h>

#define FILE_SIZE 64

/* The two as PEM files, which `openssl verify` is asked about. */
struct pair {
	struct authority *authority;
	struct leaves leaves;
	char folder[FILE_SIZE], root[FILE_SIZE + 16], leaf[FILE_SIZE + 16];
};

static void pair_open(struct pair *pair)
{
	char *text;
	FILE *file;

	memset(pair, 0, sizeof(*pair));
	snprintf(pair->folder, sizeof(pair->folder), "/tmp/qp-test-leaf-XXXXXX");
	cr_assert_not_null(mkdtemp(pair->folder));
	snprintf(pair->root, sizeof(pair->root), "%s/root.pem", pair->folder);
	snprintf(pair->leaf, sizeof(pair->leaf), "%s/leaf.pem", pair->folder);
	cr_assert_eq(authority_make(&pair->authority, NULL), 0);
	pair->leaves.authority = pair->authority;
	text = authority_pem(pair->authority);
	cr_expect_null(strstr(text, "PRIVATE KEY"));
	file = fopen(pair->root, "we");
	fputs(text, file);
	fclose(file);
	free(text);
}

static void pair_close(struct pair *pair)
{
	leaves_clear(&pair->leaves);
	authority_free(pair->authority);
	unlink(pair->root);
	unlink(pair->leaf);
	rmdir(pair->folder);
}

/* The certificate for @name at @address in pair->leaf. */
static const struct leaf *leaf_write(struct pair *pair, const char *name, size_t len,
				     const char *known_as, const char *address)
{
	uint8_t bytes[16] = {};
	uint8_t family = strchr(address, ':') ? AF_INET6 : AF_INET;
	struct endpoint endpoint;
	struct leaf_subject subject = {name, len, known_as, &endpoint};
	const struct leaf *leaf;
	FILE *file;

	inet_pton(family, address, bytes);
	endpoint = endpoint_make(family, bytes, 443);
	leaf = leaf_for(&pair->leaves, &subject);
	cr_assert_not_null(leaf);
	file = fopen(pair->leaf, "we");
	PEM_write_X509(file, leaf->certificate);
	fclose(file);
	return leaf;
}

/* Whether openssl holds it to be good with @options. */
static bool verifies(const struct pair *pair, const char *options)
{
	char command[1024];
	int len = snprintf(command, sizeof(command),
			   "openssl verify -x509_strict -purpose sslserver %s -no-CApath "
			   "-CAfile %s %s >/dev/null 2>&1",
			   options, pair->root, pair->leaf);

	cr_assert_lt(len, (int)sizeof(command));
	return system(command) == 0;
}

Test(leaf, is_good_for_what_was_asked_for_and_nothing_else)
{
	struct pair pair;

	pair_open(&pair);
	leaf_write(&pair, "Registry.NPMjs.example", 22, NULL, "203.0.113.7");
	cr_expect(verifies(&pair, "-verify_hostname registry.npmjs.example"));
	cr_expect_not(verifies(&pair, "-verify_hostname other.example"));
	cr_expect_not(verifies(&pair, "-verify_ip 203.0.113.7"));
	leaf_write(&pair, NULL, 0, NULL, "203.0.113.7");
	cr_expect(verifies(&pair, "-verify_ip 203.0.113.7"));
	cr_expect_not(verifies(&pair, "-verify_ip 203.0.113.8"));
	leaf_write(&pair, NULL, 0, "known.example", "2001:db8::7");
	cr_expect(verifies(&pair, "-verify_ip 2001:db8::7"));
	cr_expect(verifies(&pair, "-verify_hostname known.example"));
	leaf_write(&pair, "198.18.0.1", 10, NULL, "203.0.113.7");
	cr_expect(verifies(&pair, "-verify_ip 198.18.0.1"));
	pair_close(&pair);
}

/* ub-common-name (RFC 5280 appendix A.1) is 64; a host may have 253 characters. */
Test(leaf, bears_names_of_any_length_that_a_host_may_have)
{
	char name[254], options[300];
	struct pair pair;

	pair_open(&pair);
	for (size_t len = 60; len <= 253; len += 193) {
		for (size_t i = 0; i < len; i++)
			name[i] = i % 50 == 49 ? '.' : 'a';
		name[len] = '\0';
		leaf_write(&pair, name, len, NULL, "203.0.113.7");
		snprintf(options, sizeof(options), "-verify_hostname %s", name);
		cr_expect(verifies(&pair, options), "%zu", len);
	}
	pair_close(&pair);
}

/* Such a name cannot be certified; the address can. */
Test(leaf, falls_back_on_the_address_for_what_is_no_host)
{
	static const char *const names[] = {"a,b", "DNS:evil.example", "a b", "\xff\xfe", "a/b"};
	struct pair pair;

	pair_open(&pair);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		leaf_write(&pair, names[i], strlen(names[i]), NULL, "203.0.113.7");
		cr_expect(verifies(&pair, "-verify_ip 203.0.113.7"), "%s", names[i]);
		cr_expect_not(verifies(&pair, "-verify_hostname evil.example"));
	}
	leaf_write(&pair, "a\0b", 3, NULL, "203.0.113.7");
	cr_expect(verifies(&pair, "-verify_ip 203.0.113.7"));
	pair_close(&pair);
}

Test(leaf, is_made_once_for_a_name_and_the_oldest_goes)
{
	const struct leaf *first;
	struct pair pair;
	X509 *made;
	char name[32];

	pair_open(&pair);
	first = leaf_write(&pair, "first.example", 13, NULL, "203.0.113.7");
	made = first->certificate;
	X509_up_ref(made); /* so that its place is not taken by another */
	cr_expect_eq(leaf_write(&pair, "FIRST.example", 13, NULL, "203.0.113.8"), first);
	for (int i = 0; i < LEAVES_MAX; i++) {
		snprintf(name, sizeof(name), "n%d.example", i);
		leaf_write(&pair, name, strlen(name), NULL, "203.0.113.7");
	}
	cr_expect_neq(leaf_write(&pair, "first.example", 13, NULL, "203.0.113.7")->certificate,
		      made);
	X509_free(made);
	pair_close(&pair);
}

/* What a package sees of the authority must not tell what it is in. */
Test(leaf, has_an_issuer_that_gives_nothing_away)
{
	static const char *const words[] = {"qp",   "quarantine", "sandbox", "honey", "sink",
					    "fake", "test",	  "mitm",    "proxy", "intercept"};
	char first[AUTHORITY_NAME_SIZE] = "", name[AUTHORITY_NAME_SIZE];
	bool differs = false;

	for (int i = 0; i < 64; i++) {
		struct authority *authority;
		char subject[512];

		cr_assert_eq(authority_make(&authority, NULL), 0);
		X509_NAME_oneline(X509_get_subject_name(authority_certificate(authority)), subject,
				  sizeof(subject));
		for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
			cr_expect_null(strcasestr(subject, words[k]), "%s", subject);
		authority_name(authority, name);
		if (!i)
			strcpy(first, name);
		differs |= strcmp(first, name) != 0;
		authority_free(authority);
	}
	cr_expect(differs);
}
