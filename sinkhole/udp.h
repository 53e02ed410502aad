/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams: DNS queries are answered, everything is recorded. */
#ifndef QP_SINKHOLE_UDP_H
#define QP_SINKHOLE_UDP_H

#include "sinkhole/resolver.h"

struct udp {
	struct resolver *resolver; /* borrowed */
	uint64_t lost;		   /* datagrams that the kernel dropped for want of room */
};

/* Reads what waits on the listener @fd. @dropped is that listener's own, 0 at first. 0 or
 * a negative errno. */
int udp_drain(struct udp *udp, int fd, uint32_t *dropped);

/* One datagram that was only seen: recorded, not answered. @len of its @bytes are there. */
void udp_record(struct udp *udp, const struct dns_exchange *exchange, const uint8_t *payload,
		size_t len, size_t bytes);

#endif
