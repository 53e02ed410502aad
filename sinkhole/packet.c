// SPDX-License-Identifier: Apache-2.0
/* IPv4 and IPv6 headers (RFC 791, RFC 8200), up to the ports. */
#include "sinkhole/packet.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define IPV4_HEADER    20
#define IPV6_HEADER    40
#define UDP_HEADER     8
#define EXTENSIONS_MAX 8

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void ports_parse(const uint8_t *bytes, size_t len, size_t at, bool first_fragment,
			struct packet *packet)
{
	if (!first_fragment || (packet->l4 != IPPROTO_TCP && packet->l4 != IPPROTO_UDP))
		return;
	if (len < at + UDP_HEADER)
		return;
	packet->src.port = (uint16_t)be16(bytes + at);
	packet->dst.port = (uint16_t)be16(bytes + at + 2);
	if (packet->l4 == IPPROTO_UDP && be16(bytes + at + 4) >= UDP_HEADER) {
		packet->payload = at + UDP_HEADER;
		packet->payload_bytes = be16(bytes + at + 4) - UDP_HEADER;
	}
}

static int ipv4_parse(const uint8_t *bytes, size_t len, struct packet *packet)
{
	size_t header_len = (size_t)(bytes[0] & 15) * 4;

	if (len < IPV4_HEADER || header_len < IPV4_HEADER || len < header_len)
		return -EBADMSG;
	packet->bytes = be16(bytes + 2);
	packet->l4 = bytes[9];
	packet->src = endpoint_make(AF_INET, bytes + 12, 0);
	packet->dst = endpoint_make(AF_INET, bytes + 16, 0);
	ports_parse(bytes, len, header_len, (be16(bytes + 6) & 0x1fff) == 0, packet);
	return 0;
}

static bool is_extension(uint8_t header)
{
	return header == IPPROTO_HOPOPTS || header == IPPROTO_ROUTING ||
	       header == IPPROTO_FRAGMENT || header == IPPROTO_DSTOPTS;
}

static int ipv6_parse(const uint8_t *bytes, size_t len, struct packet *packet)
{
	size_t at = IPV6_HEADER;
	bool first_fragment = true;
	uint8_t next;

	if (len < IPV6_HEADER)
		return -EBADMSG;
	packet->bytes = IPV6_HEADER + be16(bytes + 4);
	packet->src = endpoint_make(AF_INET6, bytes + 8, 0);
	packet->dst = endpoint_make(AF_INET6, bytes + 24, 0);
	next = bytes[6];
	for (int i = 0; i < EXTENSIONS_MAX && is_extension(next); i++) {
		if (len < at + 8)
			break;
		if (next == IPPROTO_FRAGMENT)
			first_fragment = (be16(bytes + at + 2) & 0xfff8) == 0;
		size_t size = next == IPPROTO_FRAGMENT ? 8 : ((size_t)bytes[at + 1] + 1) * 8;

		next = bytes[at];
		at += size;
	}
	packet->l4 = next;
	ports_parse(bytes, len, at, first_fragment, packet);
	return 0;
}

int packet_parse(const uint8_t *bytes, size_t len, struct packet *ret_packet)
{
	memset(ret_packet, 0, sizeof(*ret_packet));
	if (!len)
		return -EBADMSG;
	if (bytes[0] >> 4 == 4)
		return ipv4_parse(bytes, len, ret_packet);
	if (bytes[0] >> 4 == 6)
		return ipv6_parse(bytes, len, ret_packet);
	return -EBADMSG;
}
