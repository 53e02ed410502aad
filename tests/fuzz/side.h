/* SPDX-License-Identifier: Apache-2.0 */
/* The sinkhole's side of the connections that fuzz targets make. */
#ifndef QP_TESTS_FUZZ_SIDE_H
#define QP_TESTS_FUZZ_SIDE_H

#include "sinkhole/conn.h"
#include "sinkhole/watch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define VALUES "{\"a\": \"abcdefgh\", \"b\": \"npm_0123456789\"}"

static inline void require(int claim)
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

static inline void side_open(void)
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

static inline void turn(void)
{
	struct epoll_event event;

	while (epoll_wait(side.epoll_fd, &event, 1, 0) == 1) {
		struct watch *watch = event.data.ptr;

		watch->ready(watch);
		conns_bury(side.conns);
	}
}

static inline void send_in(int fd, const void *bytes, size_t len, size_t piece)
{
	for (size_t at = 0; at < len; at += piece) {
		if (send(fd, (const char *)bytes + at, len - at < piece ? len - at : piece,
			 MSG_NOSIGNAL) < 0)
			return;
		turn();
	}
}

#endif
