/* SPDX-License-Identifier: Apache-2.0 */
/* The transparent sockets on which everything from the sandbox arrives. */
#ifndef QP_SINKHOLE_LISTEN_H
#define QP_SINKHOLE_LISTEN_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct endpoint;

struct listeners {
	int tcp4, tcp6, udp4, udp6;  /* -1: none; non-blocking */
	uint16_t tcp_port, udp_port; /* the same for both families */
};

/* Opens those of the families asked for in the caller's namespace. On failure none is left open. */
int listeners_open(bool ipv4, bool ipv6, struct listeners *ret_listeners, struct qp_error *err);

/*
 * A socket that sends UDP from @source, whatever its address; any user may make it after
 * listeners_open. The descriptor or a negative errno.
 */
int reply_socket_open(const struct endpoint *source);

/* What the kernel has dropped of what came to the socket @fd, exactly: SO_RXQ_OVFL tells it only
 * with the next message that is taken in, of which there may be none. 1 when it cannot be told; 0
 * for -1. */
uint64_t socket_drops(int fd);

#endif
