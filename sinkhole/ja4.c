// SPDX-License-Identifier: Apache-2.0
/*
 * t (TCP), the highest version, d or i (with or without a server name), how many cipher
 * suites and extensions, the first protocol's ends; then what digests of the sorted suites,
 * and of the sorted extensions with the signature algorithms as sent, begin with.
 */
#include "sinkhole/ja4.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX      99
#define DIGEST_SHOWN   6 /* bytes */
#define NUMBER_CHARS   5 /* four digits and what separates them */
#define EXTENSION_SNI  0
#define EXTENSION_ALPN 16

static const struct {
	uint16_t version;
	const char *name, *ja4;
} versions[] = {
	{0x0304, "1.3", "13"}, {0x0303, "1.2", "12"},  {0x0302, "1.1", "11"},
	{0x0301, "1.0", "10"}, {0x0300, "ssl3", "s3"},
};

const char *tls_version_name(uint16_t version)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].version == version)
			return versions[i].name;
	return NULL;
}

static const char *highest_version(const struct tls_hello *hello)
{
	uint16_t highest = hello->versions.cnt ? 0 : hello->legacy_version;

	for (size_t i = 0; i < hello->versions.cnt; i++)
		if (hello->versions.items[i] > highest)
			highest = hello->versions.items[i];
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].version == highest)
			return versions[i].ja4;
	return "00";
}

static bool is_alnum(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The first and last character of the first protocol, or of its hexadecimal spelling. */
static void protocol_ends(const struct tls_hello *hello, char ret_ends[static 3])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t first = hello->alpn[0];
	uint8_t last = hello->alpn_cnt ? hello->alpn[hello->alpn_len[0] - 1] : 0;

	strcpy(ret_ends, "00");
	if (!hello->alpn_cnt)
		return;
	ret_ends[0] = digits[first >> 4];
	ret_ends[1] = digits[last & 15];
	if (is_alnum(first) && is_alnum(last)) {
		ret_ends[0] = (char)first;
		ret_ends[1] = (char)last;
	}
}

static int number_compare(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Appends the numbers, four digits each, with commas between them. */
static size_t list_print(const struct tls_list *list, char *text)
{
	size_t used = 0;

	for (size_t i = 0; i < list->cnt; i++)
		used += (size_t)snprintf(text + used, NUMBER_CHARS + 1, i ? ",%04x" : "%04x",
					 list->items[i]);
	return used;
}

/* The digest's first bytes; zeros for no text at all. */
static int digest_print(const char *text, size_t len, const EVP_MD *sha256, char *out)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {};

	if (len && EVP_Digest(text, len, digest, NULL, sha256, NULL) != 1)
		return -EIO;
	for (size_t i = 0; i < DIGEST_SHOWN; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return 0;
}

int ja4_print(const struct tls_hello *hello, const EVP_MD *sha256, char ret_text[static JA4_SIZE])
{
	char text[2 * TLS_LIST_MAX * NUMBER_CHARS + 2], ends[3];
	char suites_digest[2 * DIGEST_SHOWN + 1], extensions_digest[2 * DIGEST_SHOWN + 1];
	struct tls_list suites = hello->suites, extensions = {};
	size_t len;
	int r;

	for (size_t i = 0; i < hello->extensions.cnt; i++)
		if (hello->extensions.items[i] != EXTENSION_SNI &&
		    hello->extensions.items[i] != EXTENSION_ALPN)
			extensions.items[extensions.cnt++] = hello->extensions.items[i];
	qsort(suites.items, suites.cnt, sizeof(suites.items[0]), number_compare);
	qsort(extensions.items, extensions.cnt, sizeof(extensions.items[0]), number_compare);
	r = digest_print(text, list_print(&suites, text), sha256, suites_digest);
	len = list_print(&extensions, text);
	if (hello->signatures.cnt) {
		text[len++] = '_';
		len += list_print(&hello->signatures, text + len);
	}
	r = r < 0 ? r : digest_print(text, len, sha256, extensions_digest);
	if (r < 0)
		return r;
	protocol_ends(hello, ends);
	snprintf(ret_text, JA4_SIZE, "t%s%c%02u%02u%s_%s_%s", highest_version(hello),
		 hello->sni_len ? 'd' : 'i',
		 (unsigned)(suites.cnt > COUNT_MAX ? COUNT_MAX : suites.cnt),
		 (unsigned)(hello->extensions.cnt > COUNT_MAX ? COUNT_MAX : hello->extensions.cnt),
		 ends, suites_digest, extensions_digest);
	return 0;
}
