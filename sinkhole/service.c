// SPDX-License-Identifier: Apache-2.0
/*
 * The loop. What a packet log and a listener say about the same connection is brought
 * together here: the log's copy is always queued first, so once a connection is accepted
 * the log is drained and the connection is struck from the flows that still wait.
 */
#include "sinkhole/service.h"

#include "sinkhole/conn.h"
#include "sinkhole/flows.h"
#include "sinkhole/nft.h"
#include "sinkhole/packet.h"
#include "sinkhole/udp.h"
#include "sinkhole/watch.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define EVENTS_MAX	  256
#define ACCEPTS_PER_EVENT 256
/* How long the end takes in what has arrived while the sandbox still sends. */
#define FINAL_DRAIN_MS 2000

struct listener {
	struct watch watch; /* first: what epoll hands back */
	struct service *service;
};

struct service {
	int epoll_fd;
	struct listener tcp4, tcp6, udp4, udp6, packets, signals;
	struct names *names;
	struct resolver resolver;
	struct conns *conns;
	struct flows *flows;
	struct nflog *nflog;
	struct record_log *log;
	struct udp udp;
	uint64_t lost; /* packets and connections that could not be taken in */
	int error;     /* the first failure of the loop, a negative errno */
	bool stop;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void flow_record(struct service *service, const struct flow *flow)
{
	record_tcp_none(&service->resolver, &flow->t, &flow->src, &flow->dst);
}

static void flow_begin(struct service *service, const struct packet *packet)
{
	struct flow flow = {packet->src, packet->dst, record_now(), now_ms()};

	/* Without room it is recorded at once; its connection then gets a second record. */
	if (flows_add(service->flows, &flow) < 0)
		flow_record(service, &flow);
}

/* A logged packet: the start of a connection, a datagram to a group, another protocol. */
static void packet_handle(void *context, const uint8_t *bytes, size_t len)
{
	struct service *service = context;
	struct dns_exchange exchange = {.t = record_now(), .proto = "udp"};
	struct decoy_hits hits = {};
	struct packet packet;
	struct record record;
	char text[ENDPOINT_ADDRESS_SIZE];

	if (packet_parse(bytes, len, &packet) < 0) {
		service->lost++;
		return;
	}
	if (packet.l4 == IPPROTO_TCP && packet.dst.port) {
		flow_begin(service, &packet);
		return;
	}
	if (packet.l4 == IPPROTO_UDP && packet.payload && packet.payload <= len) {
		size_t there = len - packet.payload;

		exchange.src = packet.src;
		exchange.dst = packet.dst;
		udp_record(&service->udp, &exchange, bytes + packet.payload,
			   there < packet.payload_bytes ? there : packet.payload_bytes,
			   packet.payload_bytes);
		return;
	}
	record = record_begin("packet", &exchange.t);
	record_text(&record, "srcIp", endpoint_address(&packet.src, text));
	record_text(&record, "dstIp", endpoint_address(&packet.dst, text));
	record_number(&record, "l4", packet.l4);
	record_number(&record, "bytes", packet.bytes);
	decoys_search(service->resolver.decoys, bytes, len, &hits);
	record_decoys(&record, service->resolver.decoys, &hits, false);
	record_write(service->log, &record);
}

static void fail(struct service *service, int r)
{
	if (r < 0 && service->error == 0)
		service->error = r;
}

static void packets_ready(struct watch *watch)
{
	struct service *service = ((struct listener *)watch)->service;

	fail(service, nflog_drain(service->nflog));
}

/* The descriptor, or a negative errno; makes room when descriptors run out. */
static int connection_accept(struct service *service, int fd, struct endpoint *ret_src)
{
	struct sockaddr_storage address;
	socklen_t len;
	int taken;

	do {
		len = sizeof(address);
		taken = accept4(fd, (struct sockaddr *)&address, &len,
				SOCK_NONBLOCK | SOCK_CLOEXEC);
	} while (taken < 0 && (errno == EMFILE || errno == ENFILE) &&
		 conns_drop_idlest(service->conns));
	if (taken < 0)
		return -errno;
	endpoint_from_sockaddr(&address, ret_src);
	return taken;
}

static void tcp_ready(struct watch *watch)
{
	struct service *service = ((struct listener *)watch)->service;

	for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
		struct sockaddr_storage address;
		socklen_t len = sizeof(address);
		struct endpoint src, dst;
		int fd = connection_accept(service, watch->fd, &src);

		if (fd == -EAGAIN)
			return;
		/* Errors of the connection at hand (accept(2)); its flow gets the record. */
		if (fd < 0)
			continue;
		if (getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
			close(fd);
			continue;
		}
		endpoint_from_sockaddr(&address, &dst);
		packets_ready(&service->packets.watch);
		if (conns_add(service->conns, fd, &src, &dst) < 0)
			continue;
		flows_remove(service->flows, &src, &dst);
	}
}

static void udp_ready(struct watch *watch)
{
	struct listener *listener = (struct listener *)watch;

	fail(listener->service, udp_drain(&listener->service->udp, watch->fd));
}

static void signal_ready(struct watch *watch)
{
	((struct listener *)watch)->service->stop = true;
}

static int listener_watch(struct service *service, struct listener *listener,
			  void (*ready)(struct watch *))
{
	listener->service = service;
	listener->watch.ready = ready;
	return listener->watch.fd < 0 ? 0 : watch_add(service->epoll_fd, &listener->watch);
}

static int service_watch(struct service *service)
{
	int r = listener_watch(service, &service->tcp4, tcp_ready);

	r = r < 0 ? r : listener_watch(service, &service->tcp6, tcp_ready);
	r = r < 0 ? r : listener_watch(service, &service->udp4, udp_ready);
	r = r < 0 ? r : listener_watch(service, &service->udp6, udp_ready);
	r = r < 0 ? r : listener_watch(service, &service->packets, packets_ready);
	return r < 0 ? r : listener_watch(service, &service->signals, signal_ready);
}

int service_new(const struct listeners *listeners, int signal_fd, struct record_log *log,
		const struct decoys *decoys, size_t conns_max, struct service **ret_service,
		struct qp_error *err)
{
	_cleanup_service_ struct service *service = calloc(1, sizeof(*service));
	int r;

	if (!service)
		return qp_error_set(err, -ENOMEM, "out of memory");
	service->tcp4.watch.fd = listeners->tcp4;
	service->tcp6.watch.fd = listeners->tcp6;
	service->udp4.watch.fd = listeners->udp4;
	service->udp6.watch.fd = listeners->udp6;
	service->signals.watch.fd = signal_fd;
	service->log = log;
	service->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	service->names = names_new();
	service->resolver = (struct resolver){service->names, log, decoys};
	service->udp.resolver = &service->resolver;
	service->conns = conns_new(service->epoll_fd, &service->resolver, conns_max);
	service->flows = flows_new();
	if (service->epoll_fd < 0 || !service->names || !service->conns || !service->flows)
		return qp_error_set(err, -ENOMEM, "out of memory");
	r = nflog_open(SERVICE_NFLOG_GROUP, NFT_LOG_BYTES, packet_handle, service, &service->nflog,
		       err);
	if (r < 0)
		return r;
	service->packets.watch.fd = nflog_fd(service->nflog);
	r = service_watch(service);
	if (r < 0)
		return qp_error_set(err, r, "epoll: %s", strerror(-r));
	*ret_service = steal_ptr(service);
	return 0;
}

void service_set_respond(struct service *service, const struct respond *respond)
{
	conns_set_respond(service->conns, respond);
}

void service_set_tls(struct service *service, struct tls_server *server)
{
	conns_set_tls(service->conns, server);
}

void service_free(struct service *service)
{
	if (!service)
		return;
	conns_free(service->conns);
	flows_free(service->flows);
	names_free(service->names);
	nflog_free(service->nflog);
	cleanup_close(&service->tcp4.watch.fd);
	cleanup_close(&service->tcp6.watch.fd);
	cleanup_close(&service->udp4.watch.fd);
	cleanup_close(&service->udp6.watch.fd);
	cleanup_close(&service->signals.watch.fd);
	cleanup_close(&service->epoll_fd);
	free(service);
}

/* Handles what is ready within @timeout_ms; returns the number of events. */
static int service_turn(struct service *service, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_wait(service->epoll_fd, events, EVENTS_MAX, timeout_ms);

	if (n < 0 && errno != EINTR)
		fail(service, -errno);
	for (int i = 0; i < n; i++) {
		struct watch *watch = events[i].data.ptr;

		watch->ready(watch);
	}
	conns_bury(service->conns);
	fail(service, service->log->error);
	return n;
}

/* Writes down what is due; returns how long the loop may sleep, in milliseconds. */
static int service_expire(struct service *service)
{
	uint64_t now = now_ms(), started;
	int conns_due = conns_expire(service->conns, now), flows_due = -1;
	struct flow flow;

	while (now > FLOW_WAIT_MS && flows_take_older(service->flows, now - FLOW_WAIT_MS, &flow))
		flow_record(service, &flow);
	if (flows_oldest(service->flows, &started))
		flows_due = (int)(started + FLOW_WAIT_MS + 1 - now);
	if (conns_due < 0 || flows_due < 0)
		return conns_due < 0 ? flows_due : conns_due;
	return conns_due < flows_due ? conns_due : flows_due;
}

/* Takes in what arrived before the end. False when more kept coming. */
static bool service_settle(struct service *service)
{
	uint64_t until = now_ms() + FINAL_DRAIN_MS;

	/* It stays readable and would never let the loop come to rest. */
	epoll_ctl(service->epoll_fd, EPOLL_CTL_DEL, service->signals.watch.fd, NULL);
	while (now_ms() < until && service->error == 0)
		if (service_turn(service, 0) == 0)
			return true;
	return false;
}

/* What is in no record: what was not understood, what found no room, what came too late. */
static uint64_t service_lost(const struct service *service)
{
	const struct listener *const listeners[] = {&service->udp4, &service->udp6};
	uint64_t lost = service->lost + socket_drops(service->packets.watch.fd);

	for (size_t i = 0; i < 2; i++)
		lost += udp_discard(listeners[i]->watch.fd) + socket_drops(listeners[i]->watch.fd);
	return lost;
}

int service_run(struct service *service, struct qp_error *err)
{
	struct flow flow;
	bool settled;

	while (!service->stop && service->error == 0)
		service_turn(service, service_expire(service));
	settled = service_settle(service);
	conns_flush(service->conns);
	while (flows_take_older(service->flows, UINT64_MAX, &flow))
		flow_record(service, &flow);
	fail(service, service->log->error);
	if (service->error < 0)
		return qp_error_set(err, service->error, "the sinkhole broke off: %s",
				    strerror(-service->error));
	record_end(service->log, settled, service_lost(service));
	if (service->log->error < 0)
		return qp_error_set(err, service->log->error, "cannot write records: %s",
				    strerror(-service->log->error));
	return 0;
}
