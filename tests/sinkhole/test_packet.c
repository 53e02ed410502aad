// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/packet.h"
#include "tests/sinkhole/exact.h"

#include <criterion/criterion.h>
#include <netinet/in.h>

static const uint8_t ipv4_udp[] = {
	0x46, 0, 0, 37, 0, 0,	 0,    0,    64,   17, 0,  0, 10, 23,  4,   17,	 224, 0,   0,
	251,  1, 1, 1,	0, 0xd4, 0x31, 0x14, 0xe9, 0,  13, 0, 0,  'h', 'e', 'l', 'l', 'o',
};
/* Hop-by-hop options, then a fragment header of a first fragment, then TCP. */
static const uint8_t ipv6_tcp[] = {
	0x60, 0,    0,	  0, 0, 36,   0, 64,   0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0,
	0,    0,    0,	  0, 1, 0x20, 1, 0x0d, 0xb8, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0,
	0,    2,    44,	  0, 5, 2,    0, 0,    1,    0, 6,    0,    0, 1, 0, 0, 0, 1, 0x9c,
	0x40, 0x01, 0xbb, 0, 0, 0,    0, 0,    0,    0, 0,    0x50, 2, 0, 0, 0, 0, 0, 0,
};

static int parse(const uint8_t *bytes, size_t len, struct packet *packet)
{
	_cleanup_free_ uint8_t *copy = exact_copy(bytes, len);

	return packet_parse(copy, len, packet);
}

Test(packet, reads_an_ipv4_datagram_behind_options)
{
	struct packet packet;
	char text[ENDPOINT_ADDRESS_SIZE];

	cr_assert_eq(parse(ipv4_udp, sizeof(ipv4_udp), &packet), 0);
	cr_expect_eq(packet.l4, IPPROTO_UDP);
	cr_expect_eq(packet.bytes, 37);
	cr_expect_str_eq(endpoint_address(&packet.src, text), "10.23.4.17");
	cr_expect_str_eq(endpoint_address(&packet.dst, text), "224.0.0.251");
	cr_expect_eq(packet.src.port, 54321);
	cr_expect_eq(packet.dst.port, 5353);
	cr_expect_eq(packet.payload, 32);
	cr_expect_eq(packet.payload_bytes, 5);
}

Test(packet, reads_ipv6_behind_extension_headers)
{
	struct packet packet;
	char text[ENDPOINT_ADDRESS_SIZE];

	cr_assert_eq(parse(ipv6_tcp, sizeof(ipv6_tcp), &packet), 0);
	cr_expect_eq(packet.l4, IPPROTO_TCP);
	cr_expect_eq(packet.bytes, 76);
	cr_expect_str_eq(endpoint_address(&packet.dst, text), "2001:db8::2");
	cr_expect_eq(packet.src.port, 40000);
	cr_expect_eq(packet.dst.port, 443);
}

Test(packet, reads_no_ports_from_a_later_fragment)
{
	uint8_t later[sizeof(ipv6_tcp)];
	struct packet packet;

	memcpy(later, ipv6_tcp, sizeof(later));
	later[40 + 8 + 3] = 0x08;
	cr_assert_eq(parse(later, sizeof(later), &packet), 0);
	cr_expect_eq(packet.l4, IPPROTO_TCP);
	cr_expect_eq(packet.dst.port, 0);
}

Test(packet, never_invents_what_is_cut_off)
{
	struct packet packet;

	for (size_t len = 0; len < 24; len++)
		cr_expect_eq(parse(ipv4_udp, len, &packet), -EBADMSG, "%zu bytes", len);
	for (size_t len = 24; len < 32; len++) {
		cr_expect_eq(parse(ipv4_udp, len, &packet), 0);
		cr_expect_eq(packet.dst.port, 0, "%zu bytes", len);
	}
	for (size_t len = 0; len < 40; len++)
		cr_expect_eq(parse(ipv6_tcp, len, &packet), -EBADMSG, "%zu bytes", len);
	for (size_t len = 40; len < 64; len++) {
		cr_expect_eq(parse(ipv6_tcp, len, &packet), 0);
		cr_expect_eq(packet.dst.port, 0, "%zu bytes", len);
	}
}
