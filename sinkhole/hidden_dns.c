// SPDX-License-Identifier: Apache-2.0
/* What tells encrypted look-ups from other traffic without reading them. */
#include "sinkhole/hidden_dns.h"

#include <string.h>
#include <strings.h>

#define DNS_TLS_PORT	   853
#define HTTPS_PORT	   443
#define QUIC_LONG	   0xc0 /* long header, and the bit that version 1 fixes */
#define QUIC_CID_MAX	   20
#define QUIC_HEAD_MIN	   7 /* first byte, version, two lengths of no connection id */
#define QUIC_V1		   1
#define QUIC_V2		   0x6b3343cf
#define QUIC_DRAFT	   0xff000000
#define QUIC_DRAFT_MASK	   0xffffff00
#define QUIC_RESERVED	   0x0a0a0a0a /* RFC 9000 section 15: to force negotiation */
#define QUIC_RESERVED_MASK 0x0f0f0f0f

/* Public resolvers that speak HTTPS; a name stands for what is below it too. */
static const char *const resolver_names[] = {
	"dns.google",	   "cloudflare-dns.com", "one.one.one.one",	"dns.quad9.net",
	"doh.opendns.com", "dns.nextdns.io",	 "dns.adguard-dns.com", "doh.cleanbrowsing.org",
};
static const char *const resolver_addresses[] = {
	"8.8.8.8",
	"8.8.4.4",
	"1.1.1.1",
	"1.0.0.1",
	"9.9.9.9",
	"149.112.112.112",
	"2001:4860:4860::8888",
	"2001:4860:4860::8844",
	"2606:4700:4700::1111",
	"2606:4700:4700::1001",
	"2620:fe::fe",
};

static bool alpn_has(const struct tls_hello *hello, const char *wanted)
{
	size_t at = 0;

	for (size_t i = 0; i < hello->alpn_cnt; i++) {
		if (hello->alpn_len[i] == strlen(wanted) &&
		    !memcmp(hello->alpn + at, wanted, hello->alpn_len[i]))
			return true;
		at += hello->alpn_len[i];
	}
	return false;
}

static bool name_is_below(const char *name, size_t len, const char *parent)
{
	size_t parent_len = strlen(parent);

	if (len < parent_len || strncasecmp(name + len - parent_len, parent, parent_len) != 0)
		return false;
	return len == parent_len || name[len - parent_len - 1] == '.';
}

static bool is_resolver(const struct endpoint *dst, const struct tls_hello *hello)
{
	char text[ENDPOINT_ADDRESS_SIZE];

	for (size_t i = 0; i < sizeof(resolver_names) / sizeof(resolver_names[0]); i++)
		if (name_is_below((const char *)hello->sni, hello->sni_len, resolver_names[i]))
			return true;
	endpoint_address(dst, text);
	for (size_t i = 0; i < sizeof(resolver_addresses) / sizeof(resolver_addresses[0]); i++)
		if (!strcmp(text, resolver_addresses[i]))
			return true;
	return false;
}

const char *hidden_dns_tls(const struct endpoint *dst, const struct tls_hello *hello)
{
	if (dst->port == DNS_TLS_PORT || alpn_has(hello, "dot"))
		return "dot";
	return dst->port == HTTPS_PORT && is_resolver(dst, hello) ? "doh" : NULL;
}

const char *hidden_dns_path(const char *path, size_t len)
{
	static const char query[] = "/dns-query";
	size_t query_len = sizeof(query) - 1;

	if (len < query_len || memcmp(path, query, query_len) != 0)
		return NULL;
	return len == query_len || path[query_len] == '?' ? "doh" : NULL;
}

const char *hidden_dns_http(const struct http_head *head, const char *bytes)
{
	return hidden_dns_path(bytes + head->target.offset, head->target.len);
}

bool quic_looks_like(const uint8_t *bytes, size_t len, uint32_t *ret_version)
{
	size_t at = 5;

	if (len < QUIC_HEAD_MIN || (bytes[0] & QUIC_LONG) != QUIC_LONG)
		return false;
	*ret_version = (uint32_t)bytes[1] << 24 | (uint32_t)bytes[2] << 16 |
		       (uint32_t)bytes[3] << 8 | bytes[4];
	if (*ret_version != QUIC_V1 && *ret_version != QUIC_V2 &&
	    (*ret_version & QUIC_DRAFT_MASK) != QUIC_DRAFT &&
	    (*ret_version & QUIC_RESERVED_MASK) != QUIC_RESERVED)
		return false;
	/* Destination and source connection id. */
	for (int i = 0; i < 2; i++) {
		if (at >= len || bytes[at] > QUIC_CID_MAX)
			return false;
		at += 1u + bytes[at];
	}
	return at <= len;
}

const char *hidden_dns_quic(const struct endpoint *dst)
{
	return dst->port == DNS_TLS_PORT ? "doq" : NULL;
}
