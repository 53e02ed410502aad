// SPDX-License-Identifier: Apache-2.0
/* Names of groups as one file name, and back. The patterns are in pattern.c. */
#include "tools/collect/name.h"

#include "base/cleanup.h"

#include <openssl/evp.h>
#include <string.h>

#define HASH_BYTES 16 /* of the SHA-256 */

static bool stays(const char *path, size_t i)
{
	unsigned char c = (unsigned char)path[i];

	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return strchr("-_@:", c) || (c == '.' && i);
}

static char *flatten_whole(const char *path)
{
	size_t len = strlen(path), at = 0;
	char *flat = malloc(3 * len + 1);

	if (!flat)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (stays(path, i))
			flat[at++] = path[i];
		else
			at += (size_t)sprintf(flat + at, "%%%02X", (unsigned char)path[i]);
	}
	flat[at] = '\0';
	return flat;
}

char *name_flatten(const char *path)
{
	_cleanup_free_ char *flat = flatten_whole(path);
	unsigned char digest[EVP_MAX_MD_SIZE];
	size_t cut = NAME_FLAT_MAX - 2 - 2 * HASH_BYTES;

	if (!flat || strlen(flat) <= NAME_FLAT_MAX)
		return steal_ptr(flat);
	if (EVP_Digest(path, strlen(path), digest, NULL, EVP_sha256(), NULL) != 1)
		return NULL;
	for (size_t i = cut - 2; i < cut; i++)
		if (flat[i] == '%')
			cut = i;
	strcpy(flat + cut, "%%");
	for (size_t i = 0; i < HASH_BYTES; i++)
		sprintf(flat + cut + 2 + 2 * i, "%02x", digest[i]);
	return steal_ptr(flat);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *name_unflatten(const char *flat)
{
	_cleanup_free_ char *path = malloc(strlen(flat) + 1);
	size_t at = 0;

	if (!path)
		return NULL;
	for (size_t i = 0; flat[i]; i++) {
		int high, low;

		if (flat[i] != '%') {
			path[at++] = flat[i];
			continue;
		}
		high = hex_digit(flat[i + 1]);
		low = high < 0 ? -1 : hex_digit(flat[i + 2]);
		if (low < 0 || !(high | low))
			return NULL;
		path[at++] = (char)(high << 4 | low);
		i += 2;
	}
	path[at] = '\0';
	return steal_ptr(path);
}
