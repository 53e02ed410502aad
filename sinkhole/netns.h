/* SPDX-License-Identifier: Apache-2.0 */
/* Network namespaces: found, entered, and their settings below /proc/sys/net. */
#ifndef QP_SINKHOLE_NETNS_H
#define QP_SINKHOLE_NETNS_H

#include "base/error.h"

#include <sys/types.h>

/*
 * Opens the namespace that exactly one of the three names: /run/netns/@name, that of the
 * process @pid (> 0), or the inherited descriptor @fd (>= 0), which stays the caller's.
 * The caller closes *ret_fd. -EINVAL when it is no network namespace, or is the caller's
 * own or the host's: a sinkhole there would swallow the host's traffic.
 */
int netns_open(const char *name, pid_t pid, int fd, int *ret_fd, struct qp_error *err);

/* Moves the caller into a new, empty network namespace; *ret_fd refers to it. */
int netns_new(int *ret_fd, struct qp_error *err);

/* Moves the caller into the namespace of @fd. */
int netns_enter(int fd, struct qp_error *err);

/* Writes @value to /proc/sys/net/@path of the namespace that the caller is in. 0 or a
 * negative errno. */
int netns_sysctl(const char *path, const char *value);

#endif
