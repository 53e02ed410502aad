/* SPDX-License-Identifier: Apache-2.0 */
/* libnl: cleanup attributes, and its error codes as ours. */
#ifndef QP_SINKHOLE_NL_H
#define QP_SINKHOLE_NL_H

#include "base/cleanup.h"
#include "base/error.h"

#include <netlink/addr.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

DEFINE_CLEANUP(nl_sock, struct nl_sock *, nl_socket_free);
DEFINE_CLEANUP(nl_msg, struct nl_msg *, nlmsg_free);
DEFINE_CLEANUP(nl_addr, struct nl_addr *, nl_addr_put);
#define _cleanup_nl_sock_ _cleanup_(nl_sock)
#define _cleanup_nl_msg_  _cleanup_(nl_msg)
#define _cleanup_nl_addr_ _cleanup_(nl_addr)

/* A socket of the network namespace that the caller is in. 0, or a negative errno with
 * @err. */
int nl_open(int protocol, struct nl_sock **ret_sock, struct qp_error *err);

/* A libnl code as a negative errno; 0 stays 0. */
int nl_errno(int code);

/* Sets "@what: reason" and returns the negative errno of a libnl code. */
int nl_error_set(struct qp_error *err, int code, const char *what);

#endif
