/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that the ruleset logs, received over netlink. */
#ifndef QP_SINKHOLE_NFLOG_H
#define QP_SINKHOLE_NFLOG_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct nflog;

/* @bytes: the packet from its IP header on, at most as much as the rule copies. */
typedef void (*nflog_packet_fn)(void *context, const uint8_t *bytes, size_t len);

/* Listens to @group of the caller's network namespace, @copy_bytes of each packet. */
int nflog_open(uint16_t group, uint32_t copy_bytes, nflog_packet_fn handle, void *context,
	       struct nflog **ret_nflog, struct qp_error *err);
void nflog_free(struct nflog *nflog);

/* For epoll; stays its own. */
int nflog_fd(const struct nflog *nflog);

/* Hands over every packet that is waiting. 0 or a negative errno; what found no room is told by
 * socket_drops. */
int nflog_drain(struct nflog *nflog);

#endif
