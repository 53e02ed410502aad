/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ruleset of the sinkhole's network namespace, installed in one netlink batch: what is
 * logged, what goes to which listener.
 */
#ifndef QP_SINKHOLE_NFT_H
#define QP_SINKHOLE_NFT_H

#include "base/error.h"

#include <stdint.h>

/* Bytes of a packet that the log copies: all, so that it can be searched; nfnetlink_log
 * takes no more. */
#define NFT_LOG_BYTES 65531

/*
 * Logged to NFLOG @group: the first packet of each TCP connection, each UDP datagram to a
 * group of hosts, and each packet of another protocol, except what a kernel sends by
 * itself: neighbour discovery, multicast reports, ICMP errors. Every TCP segment and every
 * other UDP datagram, whatever its destination, goes to the transparent sockets on
 * @tcp_port and @udp_port. All or nothing; 0 or a negative errno with @err.
 */
int nft_install(uint16_t group, uint16_t tcp_port, uint16_t udp_port, struct qp_error *err);

#endif
