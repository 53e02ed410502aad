// SPDX-License-Identifier: Apache-2.0
/* Opening the listeners, and the sockets that answer datagrams. */
#include "sinkhole/listen.h"

#include "base/cleanup.h"
#include "sinkhole/endpoint.h"
#include "sinkhole/netns.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>

#define BACKLOG	      4096
#define UDP_RCVBUF    (8 * 1024 * 1024)
#define PORT_ATTEMPTS 16

static int option_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int transparent_set(int fd, int family, bool udp)
{
	int r;

	if (family == AF_INET) {
		r = option_set(fd, SOL_IP, IP_TRANSPARENT, 1);
		return r == 0 && udp ? option_set(fd, SOL_IP, IP_RECVORIGDSTADDR, 1) : r;
	}
	r = option_set(fd, SOL_IPV6, IPV6_V6ONLY, 1);
	if (r == 0)
		r = option_set(fd, SOL_IPV6, IPV6_TRANSPARENT, 1);
	return r == 0 && udp ? option_set(fd, SOL_IPV6, IPV6_RECVORIGDSTADDR, 1) : r;
}

/* Binds to @port of every address; 0: one that is free. The descriptor or -errno. */
static int listener_open(int family, int type, uint16_t port)
{
	static const uint8_t any[16];
	struct endpoint wanted = endpoint_make((uint8_t)family, any, port);
	struct sockaddr_storage address;
	socklen_t len = endpoint_to_sockaddr(&wanted, &address);
	_cleanup_close_ int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool udp = type == SOCK_DGRAM;
	int r;

	if (fd < 0)
		return -errno;
	r = transparent_set(fd, family, udp);
	/* A datagram to our own port number is answered from beside this socket. */
	if (r == 0 && udp)
		r = option_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (r == 0 && udp)
		r = option_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, UDP_RCVBUF);
	if (r < 0)
		return r;
	if (bind(fd, (struct sockaddr *)&address, len) < 0 || (!udp && listen(fd, BACKLOG) < 0))
		return -errno;
	return steal_fd(&fd);
}

static int port_of(int fd, uint16_t *ret_port)
{
	struct sockaddr_storage address;
	struct endpoint endpoint;
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return -errno;
	endpoint_from_sockaddr(&address, &endpoint);
	*ret_port = endpoint.port;
	return 0;
}

/* The families' sockets of one type, on the same port. */
static int pair_open(int type, bool ipv4, bool ipv6, int *ret_fd4, int *ret_fd6, uint16_t *ret_port)
{
	int r = -EADDRINUSE;

	for (int i = 0; i < PORT_ATTEMPTS && r == -EADDRINUSE; i++) {
		_cleanup_close_ int fd4 = ipv4 ? listener_open(AF_INET, type, 0) : -1;
		_cleanup_close_ int fd6 = -1;
		uint16_t port = 0;

		if (ipv4 && fd4 < 0)
			return fd4;
		r = ipv4 ? port_of(fd4, &port) : 0;
		if (r < 0)
			return r;
		fd6 = ipv6 ? listener_open(AF_INET6, type, port) : -1;
		if (ipv6 && fd6 < 0) {
			r = fd6;
			continue;
		}
		r = ipv4 ? 0 : port_of(fd6, &port);
		if (r < 0)
			return r;
		*ret_fd4 = steal_fd(&fd4);
		*ret_fd6 = steal_fd(&fd6);
		*ret_port = port;
		return 0;
	}
	return r;
}

int listeners_open(bool ipv4, bool ipv6, struct listeners *ret_listeners, struct qp_error *err)
{
	_cleanup_close_ int tcp4 = -1, tcp6 = -1;
	int r;

	/* Answers come from the port that was asked, 53 above all, and nobody may bind it
	 * once privileges are gone unless the namespace lets everybody. */
	r = netns_sysctl("ipv4/ip_unprivileged_port_start", "0");
	if (r == 0 && ipv6)
		r = netns_sysctl("ipv6/ip_nonlocal_bind", "1");
	if (r < 0)
		return qp_error_set(err, r,
				    "cannot write below /proc/sys/net: %s; it must be mounted "
				    "read-write",
				    strerror(-r));
	r = pair_open(SOCK_STREAM, ipv4, ipv6, &tcp4, &tcp6, &ret_listeners->tcp_port);
	if (r == 0)
		r = pair_open(SOCK_DGRAM, ipv4, ipv6, &ret_listeners->udp4, &ret_listeners->udp6,
			      &ret_listeners->udp_port);
	if (r < 0)
		return qp_error_set(err, r, "cannot open the listeners: %s; run as root",
				    strerror(-r));
	ret_listeners->tcp4 = steal_fd(&tcp4);
	ret_listeners->tcp6 = steal_fd(&tcp6);
	return 0;
}

uint64_t socket_drops(int fd)
{
	uint32_t info[SK_MEMINFO_VARS] = {};
	socklen_t len = sizeof(info);

	if (fd < 0)
		return 0;
	/* Older kernels fill less of it. */
	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0 ||
	    len < (SK_MEMINFO_DROPS + 1) * sizeof(info[0]))
		return 1;
	return info[SK_MEMINFO_DROPS];
}

int reply_socket_open(const struct endpoint *source)
{
	struct sockaddr_storage address;
	socklen_t len = endpoint_to_sockaddr(source, &address);
	_cleanup_close_ int fd =
		socket(source->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = option_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (r < 0)
		return r;
	if (bind(fd, (struct sockaddr *)&address, len) < 0)
		return -errno;
	return steal_fd(&fd);
}
