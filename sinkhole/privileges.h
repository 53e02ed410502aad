/* SPDX-License-Identifier: Apache-2.0 */
/* Giving up everything that is not needed to read sockets and write records. */
#ifndef QP_SINKHOLE_PRIVILEGES_H
#define QP_SINKHOLE_PRIVILEGES_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * For good: no capability, user and group @id, no new privileges, no core dump, an end
 * when @parent (getppid() at the start) ends, and a list of system calls outside of which
 * the kernel kills. Every descriptor that is needed must be open. 0 or a negative errno
 * with @err; then the caller must end.
 */
int privileges_drop(uint32_t id, pid_t parent, struct qp_error *err);

/* Allows @wanted descriptors, or as many as may be had; returns that number. */
size_t descriptors_allow(size_t wanted);

#endif
