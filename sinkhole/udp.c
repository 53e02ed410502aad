// SPDX-License-Identifier: Apache-2.0
/* Datagrams of every port. */
#include "sinkhole/udp.h"

#include "base/cleanup.h"
#include "sinkhole/hidden_dns.h"
#include "sinkhole/listen.h"
#include "sinkhole/talk.h"

#include <netinet/in.h>
#include <string.h>

#define DNS_PORT	    53
#define DATAGRAM_MAX	    65536
#define DATAGRAMS_PER_EVENT 256
#define DISCARD_MAX	    1000000 /* more than fit into a socket's room */
#define UDP_REPLY_MIN	    512	    /* RFC 1035 section 4.2.1 */
#define UDP_REPLY_MAX	    4096

struct datagram {
	struct dns_exchange exchange;
	size_t len;
	uint8_t bytes[DATAGRAM_MAX];
};

static void plain_record(struct udp *udp, const struct dns_exchange *exchange,
			 const uint8_t *payload, size_t len, size_t bytes)
{
	struct record record = record_begin("udp", &exchange->t);
	size_t shown = len < RECORD_FIRST_BYTES ? len : RECORD_FIRST_BYTES;
	struct decoy_hits hits = {};
	uint32_t version;
	const char *protocol = talk_tell_datagram(payload, len, exchange->dst.port);
	bool searched;

	record_flow(&record, &exchange->src, &exchange->dst);
	record_text(&record, "dstName", names_find(udp->resolver->names, &exchange->dst));
	record_number(&record, "bytes", bytes);
	record_bytes(&record, "firstBytes", payload, shown);
	if (quic_looks_like(payload, len, &version)) {
		record_text(&record, "protocol", "quic");
		record_number(&record, "quicVersion", version);
		if (hidden_dns_quic(&exchange->dst))
			record_text(&record, "service", hidden_dns_quic(&exchange->dst));
	} else if (protocol) {
		record_text(&record, "protocol", protocol);
	}
	searched = decoys_search(udp->resolver->decoys, payload, len, &hits);
	record_decoys(&record, udp->resolver->decoys, &hits,
		      udp->resolver->decoys && (!searched || len < bytes));
	record_write(udp->resolver->log, &record);
}

/* Records the datagram; true when it has a reply, which is then in @buf. */
static bool datagram_record(struct udp *udp, const struct dns_exchange *exchange,
			    const uint8_t *payload, size_t len, size_t bytes, uint8_t *buf,
			    size_t *size)
{
	bool is_dns = exchange->dst.port == DNS_PORT;
	struct dns_query query;
	const char *why = "";
	uint32_t version;

	if (len == bytes && dns_query_parse(payload, len, &query, &why) == 0) {
		size_t limit =
			query.opt_payload > UDP_REPLY_MIN ? query.opt_payload : UDP_REPLY_MIN;

		*size = resolver_answer(udp->resolver, exchange, payload, len, &query, buf,
					limit < *size ? limit : *size);
		return true;
	}
	/* Elsewhere other protocols begin as DNS does, QUIC among them. */
	if (len == bytes && (is_dns || (dns_looks_like_query(payload, len) &&
					!quic_looks_like(payload, len, &version))))
		record_malformed(udp->resolver->log, exchange, "dns", bytes, why);
	plain_record(udp, exchange, payload, len, bytes);
	*size = is_dns && len == bytes ? dns_refusal_build(payload, len, buf) : 0;
	return *size != 0;
}

void udp_record(struct udp *udp, const struct dns_exchange *exchange, const uint8_t *payload,
		size_t len, size_t bytes)
{
	uint8_t reply[UDP_REPLY_MAX];
	size_t size = sizeof(reply);

	datagram_record(udp, exchange, payload, len, bytes, reply, &size);
}

static void reply_send(const struct dns_exchange *exchange, const uint8_t *reply, size_t len)
{
	_cleanup_close_ int fd = reply_socket_open(&exchange->dst);
	struct sockaddr_storage to;
	socklen_t to_len = endpoint_to_sockaddr(&exchange->src, &to);

	/* The client asks again when an answer is lost; that it asked is recorded. */
	if (fd >= 0)
		sendto(fd, reply, len, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&to, to_len);
}

static void control_parse(struct msghdr *message, struct datagram *datagram)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct sockaddr_storage address = {};
		size_t len = c->cmsg_len - CMSG_LEN(0);

		if ((c->cmsg_level == SOL_IP && c->cmsg_type == IP_ORIGDSTADDR) ||
		    (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_ORIGDSTADDR)) {
			memcpy(&address, CMSG_DATA(c),
			       len < sizeof(address) ? len : sizeof(address));
			endpoint_from_sockaddr(&address, &datagram->exchange.dst);
		}
	}
}

/* 0 or a negative errno, -EAGAIN when none waits. */
static int datagram_receive(int fd, struct datagram *datagram)
{
	struct sockaddr_storage from = {};
	char control[256] __attribute__((aligned(__alignof__(struct cmsghdr))));
	struct iovec iov = {datagram->bytes, sizeof(datagram->bytes)};
	struct msghdr message = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	datagram->len = (size_t)n;
	datagram->exchange = (struct dns_exchange){.t = record_now(), .proto = "udp"};
	endpoint_from_sockaddr(&from, &datagram->exchange.src);
	control_parse(&message, datagram);
	return 0;
}

uint64_t udp_discard(int fd)
{
	uint64_t cnt = 0;
	char byte;

	while (fd >= 0 && cnt < DISCARD_MAX && recv(fd, &byte, 1, MSG_DONTWAIT) >= 0)
		cnt++;
	return cnt;
}

int udp_drain(struct udp *udp, int fd)
{
	static struct datagram datagram;

	for (int i = 0; i < DATAGRAMS_PER_EVENT; i++) {
		uint8_t reply[UDP_REPLY_MAX];
		size_t size = sizeof(reply);
		int r = datagram_receive(fd, &datagram);

		if (r == -EINTR)
			continue;
		/* An ICMP error for an earlier reply is reported here, and means nothing. */
		if (r == -ECONNREFUSED)
			continue;
		if (r < 0)
			return r == -EAGAIN ? 0 : r;
		if (datagram_record(udp, &datagram.exchange, datagram.bytes, datagram.len,
				    datagram.len, reply, &size) &&
		    size)
			reply_send(&datagram.exchange, reply, size);
	}
	return 0;
}
