/* SPDX-License-Identifier: Apache-2.0 */
/* The head of an IP packet, of which only the first bytes may be there. */
#ifndef QP_SINKHOLE_PACKET_H
#define QP_SINKHOLE_PACKET_H

#include "sinkhole/endpoint.h"

#include <stddef.h>

struct packet {
	struct endpoint src, dst; /* ports are 0 unless it is TCP or UDP and its header is there */
	uint8_t l4;		  /* IANA protocol number, behind any IPv6 extension headers */
	size_t bytes;		  /* the packet's whole length, as its header says */
	size_t payload;		  /* offset of what a UDP header carries; 0: not there */
	size_t payload_bytes;	  /* the length of that, as the UDP header says */
};

/* 0, or -EBADMSG when @bytes do not begin with a whole IPv4 or IPv6 header. */
int packet_parse(const uint8_t *bytes, size_t len, struct packet *ret_packet);

#endif
