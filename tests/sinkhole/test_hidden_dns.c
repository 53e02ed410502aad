// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/hidden_dns.h"
#include "tests/sinkhole/exact.h"

#include <criterion/criterion.h>

static struct endpoint at(uint16_t port, uint8_t first)
{
	const uint8_t bytes[4] = {first, first, first, first};

	return endpoint_make(AF_INET, bytes, port);
}

static const char *of_tls(uint16_t port, uint8_t address, const char *sni, const char *alpn)
{
	struct endpoint dst = at(port, address);
	struct tls_hello hello = {};

	hello.sni_len = strlen(sni);
	memcpy(hello.sni, sni, hello.sni_len);
	hello.alpn_cnt = *alpn != 0;
	hello.alpn_len[0] = (uint8_t)strlen(alpn);
	memcpy(hello.alpn, alpn, strlen(alpn));
	return hidden_dns_tls(&dst, &hello);
}

Test(hidden_dns, is_told_by_port_protocol_name_and_address)
{
	cr_expect_str_eq(of_tls(853, 203, "a.example", ""), "dot");
	cr_expect_str_eq(of_tls(8443, 203, "a.example", "dot"), "dot");
	cr_expect_str_eq(of_tls(443, 203, "mozilla.Cloudflare-DNS.com", "h2"), "doh");
	cr_expect_str_eq(of_tls(443, 8, "", "h2"), "doh");
	cr_expect_null(of_tls(443, 203, "a.example", "h2"));
	cr_expect_null(of_tls(443, 203, "notdns.google", "h2"));
	cr_expect_null(of_tls(8443, 8, "", "h2"));
}

static const char *of_http(const char *request)
{
	struct http_head head = {};

	cr_assert_eq(http_head_scan(&head, request, strlen(request)), HTTP_DONE);
	return hidden_dns_http(&head, request);
}

Test(hidden_dns, is_told_by_the_path_of_a_request)
{
	cr_expect_str_eq(of_http("GET /dns-query?dns=AAABAAAB HTTP/1.1\r\nHost: x\r\n\r\n"), "doh");
	cr_expect_str_eq(of_http("POST /dns-query HTTP/1.1\r\nHost: x\r\n\r\n"), "doh");
	cr_expect_null(of_http("GET /dns-query-docs HTTP/1.1\r\nHost: x\r\n\r\n"));
	cr_expect_null(of_http("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
}

/* The first bytes of the client's Initial packet of RFC 9001, appendix A.2. */
static const uint8_t initial[] = {0xc0, 0x00, 0x00, 0x00, 0x01, 0x08, 0x83, 0x94, 0xc8, 0xf0,
				  0x3e, 0x51, 0x57, 0x08, 0x00, 0x00, 0x44, 0x9e, 0x7b, 0x9a};

static bool looks_like(const uint8_t *bytes, size_t len)
{
	_cleanup_free_ uint8_t *exact = exact_copy(bytes, len);
	uint32_t version;

	return quic_looks_like(exact, len, &version);
}

Test(hidden_dns, knows_the_beginning_of_a_quic_connection)
{
	uint8_t other[sizeof(initial)];
	struct endpoint dst = at(853, 203);
	uint32_t version = 0;

	cr_expect(quic_looks_like(initial, sizeof(initial), &version));
	cr_expect_eq(version, 1);
	for (size_t len = 0; len <= sizeof(initial); len++)
		cr_expect_eq(looks_like(initial, len), len >= 15, "%zu bytes", len);
	memcpy(other, initial, sizeof(other));
	other[4] = 9;
	cr_expect_not(looks_like(other, sizeof(other)), "no version that is in use");
	memcpy(other, initial, sizeof(other));
	other[5] = 21;
	cr_expect_not(looks_like(other, sizeof(other)), "a connection id beyond 20 bytes");
	cr_expect_str_eq(hidden_dns_quic(&dst), "doq");
	dst.port = 443;
	cr_expect_null(hidden_dns_quic(&dst));
}
