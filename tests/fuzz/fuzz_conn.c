// SPDX-License-Identifier: Apache-2.0
/* Whole connections, of any protocol, in pieces: each has a record, however it ends. */
#include "sinkhole/conn.h"
#include "sinkhole/watch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define VALUES	"{\"a\": \"abcdefgh\", \"b\": \"npm_0123456789\"}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

static struct {
	int epoll_fd;
	struct record_log log;
	struct resolver resolver;
	struct conns *conns;
	struct decoys *decoys;
} side;

static void side_open(void)
{
	json_t *values = json_loads(VALUES, 0, NULL);

	require(decoys_new(values, &side.decoys, NULL) == 0);
	json_decref(values);
	side.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	side.log.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	side.resolver = (struct resolver){names_new(), &side.log, side.decoys};
	side.conns = conns_new(side.epoll_fd, &side.resolver, 4);
	require(side.conns != NULL);
}

static void turn(void)
{
	struct epoll_event event;

	while (epoll_wait(side.epoll_fd, &event, 1, 0) == 1) {
		struct watch *watch = event.data.ptr;

		watch->ready(watch);
		conns_bury(side.conns);
	}
}

static void send_in(int fd, const void *bytes, size_t len, size_t piece)
{
	for (size_t at = 0; at < len; at += piece) {
		if (send(fd, (const char *)bytes + at, len - at < piece ? len - at : piece,
			 MSG_NOSIGNAL) < 0)
			return;
		turn();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t address[4] = {203, 0, 113, 7};
	struct endpoint src = endpoint_make(AF_INET, address, 40000);
	struct endpoint dst = endpoint_make(AF_INET, address, 53);
	uint64_t before;
	int ends[2];

	if (!side.conns)
		side_open();
	if (len < 2)
		return 0;
	dst.port = data[0] & 1 ? 53 : 80;
	before = side.log.written = 0;
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
	require(conns_add(side.conns, ends[1], &src, &dst) == 0);
	if (data[0] & 2)
		send_in(ends[0], PREFACE, sizeof(PREFACE) - 1, sizeof(PREFACE));
	send_in(ends[0], data + 1, len - 1, data[0] & 4 ? len : (data[0] >> 3) + 1u);
	close(ends[0]);
	turn();
	conns_flush(side.conns);
	conns_bury(side.conns);
	require(side.log.error == 0 && side.log.written > before);
	return 0;
}
