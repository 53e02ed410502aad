/* SPDX-License-Identifier: Apache-2.0 */
/* An address and a port, of either family, as the sinkhole compares and prints them. */
#ifndef QP_SINKHOLE_ENDPOINT_H
#define QP_SINKHOLE_ENDPOINT_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define ENDPOINT_ADDRESS_SIZE INET6_ADDRSTRLEN

struct endpoint {
	uint8_t family;	     /* AF_INET or AF_INET6 */
	uint16_t port;	     /* host byte order */
	uint8_t address[16]; /* network byte order; an IPv4 address fills the first four, the
			      * rest is zero */
};

/* @bytes are 4 or 16, as @family says; @port is in host byte order. */
struct endpoint endpoint_make(uint8_t family, const void *bytes, uint16_t port);

/* False when the family is neither AF_INET nor AF_INET6; *ret_endpoint is then all zero. */
bool endpoint_from_sockaddr(const struct sockaddr_storage *address, struct endpoint *ret_endpoint);

/* Returns the length of *ret_address. */
socklen_t endpoint_to_sockaddr(const struct endpoint *endpoint,
			       struct sockaddr_storage *ret_address);

/* Prints the address, without the port, as inet_ntop does; returns @buf. */
const char *endpoint_address(const struct endpoint *endpoint,
			     char buf[static ENDPOINT_ADDRESS_SIZE]);

/* A total order; 0 when family, address and port are the same. */
int endpoint_compare(const struct endpoint *a, const struct endpoint *b);

#endif
