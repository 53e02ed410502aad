/* SPDX-License-Identifier: Apache-2.0 */
/* What the one epoll loop waits for: a descriptor and who handles it. */
#ifndef QP_SINKHOLE_WATCH_H
#define QP_SINKHOLE_WATCH_H

#include <errno.h>
#include <sys/epoll.h>

struct watch {
	int fd;
	void (*ready)(struct watch *watch);
};

/* Waits until @watch->fd can be read. @watch must live until the descriptor is closed and
 * the events of the same epoll_wait are handled. 0 or a negative errno. */
static inline int watch_add(int epoll_fd, struct watch *watch)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) < 0 ? -errno : 0;
}

#endif
