// SPDX-License-Identifier: Apache-2.0
/* libnl's sockets and errors. */
#include "sinkhole/nl.h"

#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <string.h>

int nl_errno(int code)
{
	switch (code < 0 ? -code : code) {
	case NLE_SUCCESS:
		return 0;
	case NLE_EXIST:
		return -EEXIST;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_OPNOTSUPP:
	case NLE_AF_NOSUPPORT:
	case NLE_PROTO_MISMATCH:
		return -EOPNOTSUPP;
	case NLE_OBJ_NOTFOUND:
	case NLE_NODEV:
		return -ENODEV;
	case NLE_BUSY:
		return -EBUSY;
	default:
		return -EINVAL;
	}
}

int nl_error_set(struct qp_error *err, int code, const char *what)
{
	return qp_error_set(err, nl_errno(code), "%s: %s", what, nl_geterror(code));
}

int nl_open(int protocol, struct nl_sock **ret_sock, struct qp_error *err)
{
	_cleanup_nl_sock_ struct nl_sock *sock = nl_socket_alloc();
	int r;

	if (!sock)
		return qp_error_set(err, -ENOMEM, "out of memory");
	r = nl_connect(sock, protocol);
	if (r < 0)
		return nl_error_set(err, r,
				    protocol == NETLINK_ROUTE
					    ? "cannot reach the kernel's routing"
					    : "cannot reach the kernel's netfilter; load the "
					      "module nfnetlink");
	*ret_sock = steal_ptr(sock);
	return 0;
}
