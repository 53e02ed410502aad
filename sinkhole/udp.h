/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams: DNS queries are answered, everything is recorded. */
#ifndef QP_SINKHOLE_UDP_H
#define QP_SINKHOLE_UDP_H

#include "sinkhole/resolver.h"

struct udp {
	struct resolver *resolver; /* borrowed */
};

/* Reads what waits on the listener @fd. 0 or a negative errno. */
int udp_drain(struct udp *udp, int fd);

/* Throws away what waits on the listener @fd, for which there is no time; how many that were. */
uint64_t udp_discard(int fd);

/* One datagram that was only seen: recorded, not answered. @len of its @bytes are there. */
void udp_record(struct udp *udp, const struct dns_exchange *exchange, const uint8_t *payload,
		size_t len, size_t bytes);

#endif
