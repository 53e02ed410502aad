// SPDX-License-Identifier: Apache-2.0
/* Addresses: those the sinkhole hands out stand for names, those of the sandbox's own
 * network are drawn anew for each run. */
#include "tools/diff/fold_internal.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

/* The sinkhole answers with addresses of 198.18.0.0/15 (RFC 2544) and fd00::/8. */
#define SINKHOLE_NET  0xc6120000U
#define SINKHOLE_MASK 0xfffe0000U
#define LOOPBACK_NET  0x7f000000U
#define LOOPBACK_MASK 0xff000000U

static const char *word4(const struct fold *fold, in_addr_t address)
{
	if ((address & SINKHOLE_MASK) == SINKHOLE_NET)
		return "{sinkhole}";
	if (fold->mask.s_addr && (address & fold->mask.s_addr) == fold->subnet.s_addr)
		return "{local}";
	/* Where containers have their resolver; the sandbox's own has a subnet. */
	return address == 0x7f00000b ? "{local}" : NULL;
}

const char *fold_address_word(const struct fold *fold, const char *address)
{
	const char *name = json_string_value(json_object_get(fold->names, address));
	struct in6_addr v6;
	struct in_addr v4;

	if (name)
		return name;
	if (inet_pton(AF_INET, address, &v4) == 1)
		return word4(fold, ntohl(v4.s_addr));
	if (inet_pton(AF_INET6, address, &v6) == 1 && v6.s6_addr[0] == 0xfd && !v6.s6_addr[1])
		return "{sinkhole}";
	return NULL;
}

bool fold_is_local(const struct fold *fold, const char *address)
{
	const char *word = fold_address_word(fold, address);
	struct in6_addr v6;
	struct in_addr v4;

	if (word)
		return !strcmp(word, "{local}");
	if (inet_pton(AF_INET, address, &v4) == 1)
		return !v4.s_addr || (ntohl(v4.s_addr) & LOOPBACK_MASK) == LOOPBACK_NET;
	return inet_pton(AF_INET6, address, &v6) == 1 &&
	       (IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6));
}

const char *fold_address_at(const struct fold *fold, const char *text, size_t *ret_len)
{
	char address[ADDRESS_SIZE];
	size_t len = 0;

	if (!isxdigit((unsigned char)*text))
		return NULL;
	len = strspn(text, "0123456789.");
	if (len < 7 || len >= sizeof(address) || isalpha((unsigned char)text[len]))
		len = strspn(text, "0123456789abcdef:.");
	if (len < 4 || len >= sizeof(address))
		return NULL;
	while (text[len - 1] == '.')
		len--;
	memcpy(address, text, len);
	address[len] = '\0';
	*ret_len = len;
	return fold_address_word(fold, address);
}

char *fold_address(const struct fold *fold, const char *endpoint)
{
	const char *colon = strrchr(endpoint, ':'), *word;
	bool bracketed = *endpoint == '[' && colon && colon[-1] == ']';
	_cleanup_free_ char *address = NULL;
	char *text;

	if (!colon)
		colon = endpoint + strlen(endpoint);
	address = bracketed ? strndup(endpoint + 1, (size_t)(colon - endpoint) - 2)
			    : strndup(endpoint, (size_t)(colon - endpoint));
	if (!address)
		return NULL;
	word = fold_address_word(fold, address);
	if (!word)
		return strdup(endpoint);
	return asprintf(&text, "%s%s", word, colon) < 0 ? NULL : text;
}
