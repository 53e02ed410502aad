// SPDX-License-Identifier: Apache-2.0
/* NFLOG: bound with libnl, read without its queues, since the order with accept matters. */
#include "sinkhole/nflog.h"

#include "sinkhole/nl.h"

#include <linux/netfilter/nfnetlink_log.h>
#include <netlink/netfilter/log.h>
#include <netlink/netlink.h>
#include <string.h>

#define RECEIVE_BYTES (8 * 1024 * 1024)
#define READ_SIZE     (128 * 1024)

DEFINE_CLEANUP(nfnl_log, struct nfnl_log *, nfnl_log_put);

struct nflog {
	struct nl_sock *sock;
	nflog_packet_fn handle;
	void *context;
	uint8_t buf[READ_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

DEFINE_CLEANUP(nflog, struct nflog *, nflog_free);

static int group_bind(struct nl_sock *sock, uint16_t group, uint32_t copy_bytes)
{
	_cleanup_(nfnl_log) struct nfnl_log *log = nfnl_log_alloc();

	if (!log)
		return -NLE_NOMEM;
	nfnl_log_set_group(log, group);
	nfnl_log_set_copy_mode(log, NFNL_LOG_COPY_PACKET);
	nfnl_log_set_copy_range(log, copy_bytes);
	nfnl_log_set_queue_threshold(log, 1);
	return nfnl_log_create(sock, log);
}

int nflog_open(uint16_t group, uint32_t copy_bytes, nflog_packet_fn handle, void *context,
	       struct nflog **ret_nflog, struct qp_error *err)
{
	_cleanup_(nflog) struct nflog *nflog = calloc(1, sizeof(*nflog));
	int size = RECEIVE_BYTES, r;

	if (!nflog)
		return qp_error_set(err, -ENOMEM, "out of memory");
	nflog->handle = handle;
	nflog->context = context;
	r = nl_open(NETLINK_NETFILTER, &nflog->sock, err);
	if (r < 0)
		return r;
	r = group_bind(nflog->sock, group, copy_bytes);
	if (r < 0)
		return nl_error_set(err, r,
				    "cannot listen to logged packets; load the module "
				    "nfnetlink_log");
	r = nl_socket_set_nonblocking(nflog->sock);
	if (r < 0)
		return nl_error_set(err, r, "cannot listen to logged packets");
	if (setsockopt(nflog_fd(nflog), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		return qp_error_set(err, -errno, "cannot make room for logged packets: %s",
				    strerror(errno));
	*ret_nflog = steal_ptr(nflog);
	return 0;
}

void nflog_free(struct nflog *nflog)
{
	if (!nflog)
		return;
	if (nflog->sock)
		nl_socket_free(nflog->sock);
	free(nflog);
}

int nflog_fd(const struct nflog *nflog)
{
	return nl_socket_get_fd(nflog->sock);
}

static void message_handle(struct nflog *nflog, struct nlmsghdr *header)
{
	struct nlattr *payload;

	if (header->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET))
		return;
	payload = nlmsg_find_attr(header, sizeof(struct nfgenmsg), NFULA_PAYLOAD);
	if (payload)
		nflog->handle(nflog->context, nla_data(payload), (size_t)nla_len(payload));
}

int nflog_drain(struct nflog *nflog)
{
	for (;;) {
		ssize_t n = recv(nflog_fd(nflog), nflog->buf, sizeof(nflog->buf), 0);
		int left = (int)n;

		/* How much found no room is asked of the socket at the end. */
		if (n < 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		for (struct nlmsghdr *h = (void *)nflog->buf; nlmsg_ok(h, left);
		     h = nlmsg_next(h, &left))
			message_handle(nflog, h);
	}
}
