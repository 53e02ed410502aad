// SPDX-License-Identifier: Apache-2.0
/* Datagrams: questions for names, and large ones. */
#include "tools/bench/load.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define WINDOW	       64
#define WAIT_MS	       1000
#define QUERY_MAX      64
#define DATAGRAM_BYTES 65507 /* 65,535 with both headers */

static int datagram_socket(const char *address, uint16_t port, struct qp_error *err)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, address, &to.sin_addr);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return qp_error_set(err, -errno, "a socket: %s", strerror(errno));
	return steal_fd(&fd);
}

/* A question for the address of n<nth>.load.example; returns its length. */
static size_t query_make(uint64_t nth, uint8_t query[static QUERY_MAX])
{
	static const uint8_t rest[] = "\4load\7example\0\0\1\0\1";
	uint8_t head[] = {(uint8_t)(nth >> 8), (uint8_t)nth, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
	size_t at = sizeof(head);
	int len;

	memcpy(query, head, sizeof(head));
	len = snprintf((char *)query + at + 1, QUERY_MAX - at - 1, "n%lu", (unsigned long)nth);
	query[at] = (uint8_t)len;
	at += 1 + (size_t)len;
	memcpy(query + at, rest, sizeof(rest) - 1);
	return at + sizeof(rest) - 1;
}

static int query_send(int fd, struct load *load, struct qp_error *err)
{
	uint8_t query[QUERY_MAX];
	size_t len = query_make(load->attempts, query);

	if (send(fd, query, len, 0) < 0)
		return qp_error_set(err, -errno, "send: %s", strerror(errno));
	load->attempts++;
	load->bytes += len;
	return 0;
}

int load_queries(struct load *load, struct qp_error *err)
{
	_cleanup_close_ int fd = datagram_socket(LOAD_NAME_SERVER, 53, err);
	uint64_t begun_ns = bench_now_ns();
	uint8_t answer[512];
	int r = fd < 0 ? fd : 0;

	while (!r && load->answered < load->cnt) {
		struct pollfd readable = {.fd = fd, .events = POLLIN};

		while (!r && load->attempts < load->cnt && load->attempts - load->answered < WINDOW)
			r = query_send(fd, load, err);
		if (!r && poll(&readable, 1, WAIT_MS) != 1)
			break; /* an answer was lost; how many came is told */
		while (!r && recv(fd, answer, sizeof(answer), MSG_DONTWAIT) > 0)
			load->answered++;
	}
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return r;
}

int load_query_burst(struct load *load, struct qp_error *err)
{
	_cleanup_close_ int fd = datagram_socket(LOAD_NAME_SERVER, 53, err);
	uint64_t begun_ns = bench_now_ns();
	int r = fd < 0 ? fd : 0;

	while (!r && load->attempts < load->cnt)
		r = query_send(fd, load, err);
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return r;
}

int load_datagrams(struct load *load, struct qp_error *err)
{
	static char datagram[DATAGRAM_BYTES];
	_cleanup_close_ int fd = datagram_socket(LOAD_ADDRESS, 9999, err);
	uint64_t begun_ns = bench_now_ns();

	if (fd < 0)
		return fd;
	memset(datagram, 'd', sizeof(datagram));
	while (load->attempts < load->cnt) {
		if (send(fd, datagram, sizeof(datagram), 0) < 0)
			return qp_error_set(err, -errno, "send: %s", strerror(errno));
		load->attempts++;
		load->bytes += sizeof(datagram);
	}
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return 0;
}
