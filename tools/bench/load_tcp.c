// SPDX-License-Identifier: Apache-2.0
/* Connections: very many, very slow ones, half ones, fat ones. */
#include "tools/bench/load.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define FIRST_PORT  10000
#define PORTS_CNT   50000
#define SPARE_FDS   64
#define EVENTS_MAX  512
#define JUNK_CONNS  16
#define JUNK_PIECE  65536
#define DRIP_ROUNDS 8
#define SPOOFED_NET 0x0a170464u /* 10.23.4.100, and the addresses after it */
#define SPOOFED_CNT 100

int load_connect(const char *address, uint16_t port, bool wait)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int flags = SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK);
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

	inet_pton(AF_INET, address, &to.sin_addr);
	if (fd < 0 || (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS))
		return -errno;
	return steal_fd(&fd);
}

struct crowd {
	int epoll_fd;
	int *fds;
	uint64_t cnt;
};

static void cleanup_crowd(struct crowd *crowd)
{
	for (uint64_t i = 0; i < crowd->cnt; i++)
		close(crowd->fds[i]);
	free(crowd->fds);
	if (crowd->epoll_fd >= 0)
		close(crowd->epoll_fd);
}

/* Begins @cnt connections without waiting for any. */
static int crowd_begin(struct crowd *crowd, uint64_t cnt, struct qp_error *err)
{
	const struct rlimit limit = {cnt + SPARE_FDS, cnt + SPARE_FDS};

	setrlimit(RLIMIT_NOFILE, &limit);
	crowd->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	crowd->fds = calloc(cnt, sizeof(*crowd->fds));
	if (!crowd->fds || crowd->epoll_fd < 0)
		return qp_error_set(err, -ENOMEM, "out of memory");
	while (crowd->cnt < cnt) {
		int fd = load_connect(LOAD_ADDRESS, (uint16_t)(FIRST_PORT + crowd->cnt % PORTS_CNT),
				      false);

		if (fd < 0)
			return qp_error_set(err, fd, "connect: %s", strerror(-fd));
		crowd->fds[crowd->cnt++] = fd;
	}
	return 0;
}

/* Waits until @events have come for each. Returns how many they came for without an error. */
static uint64_t crowd_wait(struct crowd *crowd, uint32_t events)
{
	struct epoll_event ready[EVENTS_MAX];
	uint64_t left = crowd->cnt, fine = 0;

	for (uint64_t i = 0; i < crowd->cnt; i++) {
		struct epoll_event wanted = {.events = events, .data.fd = crowd->fds[i]};

		if (epoll_ctl(crowd->epoll_fd, EPOLL_CTL_ADD, crowd->fds[i], &wanted) < 0)
			return 0;
	}
	while (left) {
		int n = epoll_wait(crowd->epoll_fd, ready, EVENTS_MAX, LOAD_PATIENCE_MS);

		if (n <= 0)
			return fine;
		/* The end of a connection is told again and again to who goes on to wait. */
		for (int i = 0; i < n; i++) {
			epoll_ctl(crowd->epoll_fd, EPOLL_CTL_DEL, ready[i].data.fd, NULL);
			fine += !(ready[i].events & EPOLLERR);
		}
		left -= (uint64_t)n;
	}
	return fine;
}

static void crowd_send(struct crowd *crowd, struct load *load, const char *text)
{
	for (uint64_t i = 0; i < crowd->cnt; i++) {
		ssize_t n = send(crowd->fds[i], text, strlen(text), MSG_NOSIGNAL);

		load->bytes += n > 0 ? (uint64_t)n : 0;
	}
}

int load_connections(struct load *load, struct qp_error *err)
{
	__attribute__((cleanup(cleanup_crowd))) struct crowd crowd = {.epoll_fd = -1};
	uint64_t begun_ns = bench_now_ns();
	int r = crowd_begin(&crowd, load->cnt, err);

	if (r)
		return r;
	load->attempts = crowd.cnt;
	load->answered = crowd_wait(&crowd, EPOLLOUT);
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	crowd_send(&crowd, load, "load");
	for (uint64_t i = 0; i < crowd.cnt; i++)
		shutdown(crowd.fds[i], SHUT_WR);
	/* The other end ends when it has read all. */
	if (crowd_wait(&crowd, EPOLLIN) != crowd.cnt)
		return qp_error_set(err, -ETIMEDOUT, "not every connection was ended");
	return 0;
}

int load_slow(struct load *load, struct qp_error *err)
{
	__attribute__((cleanup(cleanup_crowd))) struct crowd crowd = {.epoll_fd = -1};
	uint64_t begun_ns = bench_now_ns();
	int r = crowd_begin(&crowd, load->cnt, err);

	if (r)
		return r;
	load->attempts = crowd.cnt;
	load->answered = crowd_wait(&crowd, EPOLLOUT);
	crowd_send(&crowd, load, "GET / HTTP/1.1\r\nX: ");
	for (int i = 0; i < DRIP_ROUNDS; i++)
		crowd_send(&crowd, load, "x");
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return 0;
}

int load_junk(struct load *load, struct qp_error *err)
{
	static char junk[JUNK_PIECE];
	uint64_t begun_ns = bench_now_ns(), state = 0x9e3779b97f4a7c15;
	int fds[JUNK_CONNS];

	for (size_t i = 0; i < sizeof(junk); i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		junk[i] = (char)(i ? state : 0x80);
	}
	for (load->attempts = 0; load->attempts < JUNK_CONNS; load->attempts++) {
		fds[load->attempts] = load_connect(LOAD_ADDRESS, FIRST_PORT, true);
		if (fds[load->attempts] < 0)
			return qp_error_set(err, fds[load->attempts], "connect: %s",
					    strerror(-fds[load->attempts]));
	}
	for (size_t i = 0; load->bytes < load->cnt; i++) {
		size_t want =
			load->cnt - load->bytes < JUNK_PIECE ? load->cnt - load->bytes : JUNK_PIECE;
		ssize_t n = send(fds[i % JUNK_CONNS], junk, want, MSG_NOSIGNAL);

		if (n < 0)
			return qp_error_set(err, -errno, "send: %s", strerror(errno));
		load->bytes += (uint64_t)n;
	}
	for (size_t i = 0; i < JUNK_CONNS; i++) {
		char end;

		shutdown(fds[i], SHUT_WR);
		load->answered += recv(fds[i], &end, 1, 0) == 0;
		close(fds[i]);
	}
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return 0;
}

static uint16_t checksum(const void *bytes, size_t len, uint32_t sum)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)b[i] << 8 | b[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

struct syn {
	struct iphdr ip;
	struct tcphdr tcp;
};

/* The @nth SYN: another source each time, by address or port. */
static struct syn syn_make(uint64_t nth)
{
	struct syn syn = {
		.ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_TCP},
		.tcp = {.doff = 5, .syn = 1, .window = htons(64240)},
	};
	struct {
		uint32_t from, to;
		uint8_t zero, protocol;
		uint16_t len;
	} pseudo = {.protocol = IPPROTO_TCP, .len = htons(sizeof(syn.tcp))};
	uint32_t sum;

	syn.ip.saddr = htonl(SPOOFED_NET + (uint32_t)(nth % SPOOFED_CNT));
	inet_pton(AF_INET, LOAD_ADDRESS, &syn.ip.daddr);
	syn.ip.tot_len = htons(sizeof(syn));
	syn.tcp.source = htons((uint16_t)(FIRST_PORT + nth / SPOOFED_CNT));
	syn.tcp.dest = htons(443);
	syn.tcp.seq = htonl((uint32_t)nth * 2654435761u);
	pseudo.from = syn.ip.saddr;
	pseudo.to = syn.ip.daddr;
	sum = (uint16_t)~ntohs(checksum(&pseudo, sizeof(pseudo), 0));
	syn.tcp.check = checksum(&syn.tcp, sizeof(syn.tcp), sum);
	return syn;
}

int load_half_open(struct load *load, struct qp_error *err)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	uint64_t begun_ns = bench_now_ns();

	if (fd < 0)
		return qp_error_set(err, -errno, "a raw socket: %s", strerror(errno));
	while (load->attempts < load->cnt) {
		struct syn syn = syn_make(load->attempts);
		struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = syn.ip.daddr};

		if (sendto(fd, &syn, sizeof(syn), 0, (struct sockaddr *)&to, sizeof(to)) < 0)
			return qp_error_set(err, -errno, "send: %s", strerror(errno));
		load->attempts++;
	}
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return 0;
}
