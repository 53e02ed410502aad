// SPDX-License-Identifier: Apache-2.0
/* What io_uring does with sockets is recorded with their addresses, as the kernel has them. */
#include "tests/collector/capture_uring.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A listening socket; *ret_to is where it is. */
static int listener(struct sockaddr_in *ret_to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*ret_to);

	*ret_to = loopback(0);
	if (fd < 0 || bind(fd, (struct sockaddr *)ret_to, sizeof(*ret_to)) < 0 ||
	    listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)ret_to, &len) < 0)
		_exit(93);
	return fd;
}

static void stream(const struct capture *c)
{
	struct io_uring_sqe *sqe;
	struct sockaddr_in to;
	struct ring ring;
	int fd, from = listener(&to);

	(void)c;
	ring_need(&ring, 0);
	sqe = ring_next(&ring, IORING_OP_SOCKET, AF_INET);
	sqe->off = SOCK_STREAM;
	fd = ring_run(&ring);
	sqe = ring_next(&ring, IORING_OP_CONNECT, fd);
	sqe->addr = (uintptr_t)&to;
	sqe->off = sizeof(to);
	if (fd < 0 || ring_run(&ring))
		_exit(94);
	if (ring_do(&ring, IORING_OP_ACCEPT, from, NULL, 0) < 0 ||
	    ring_do(&ring, IORING_OP_SEND, fd, "hello", 5) != 5)
		_exit(95);
}

static const struct qp_sock *sock_of(const struct qp_event *event, unsigned int role)
{
	const struct qp_field *field = event_find(event, CALL_SIZE, QP_FIELD_SOCK, role);

	cr_assert_not_null(field);
	return (const struct qp_sock *)(field + 1);
}

Test(capture_uring_net, sees_a_connection_from_the_socket_to_the_last_byte)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_sock *sock;
	const struct qp_field *field;
	struct sockaddr_in named;

	if (!capture_possible())
		return;
	capture_run(&c, stream);
	cr_assert_eq(c.status, 0, "%x", c.status);
	cr_expect_eq(body_of(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_socket, 1))->args[1],
		     SOCK_STREAM);
	event = result_of(&c, QP_CALL_ID_connect, QP_URING_CONNECT, 0);
	sock = sock_of(event, 0);
	cr_expect_eq(sock->protocol, IPPROTO_TCP);
	field = event_find(submission_of(&c, QP_CALL_ID_connect), CALL_SIZE, QP_FIELD_SOCKADDR, 1);
	cr_assert(field && field->len == sizeof(named) && !field->flags);
	memcpy(&named, field + 1, sizeof(named));
	cr_expect_eq(ntohs(named.sin_port), sock->dport, "%u %u", ntohs(named.sin_port),
		     sock->dport);
	event = capture_event(&c, QP_EVENT_SOCKADDR, 0, 0);
	cr_assert_not_null(event);
	event = result_of(&c, QP_CALL_ID_sendto, QP_URING_SEND, 5);
	cr_expect_eq(sock_of(event, 0)->dport, sock->dport);
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_PAYLOAD, 1), "hello");
	cr_expect_eq(sock_of(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_accept4, 0), QP_ROLE_RET)
			     ->family,
		     AF_INET);
	cr_expect_eq(unfinished(&c), 0);
	capture_free(&c);
}

static void local(const struct capture *c)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int from = socket(AF_UNIX, SOCK_DGRAM, 0), fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct iovec vector = {"word", 4};
	struct msghdr message = {
		.msg_name = &at, .msg_namelen = sizeof(at), .msg_iov = &vector, .msg_iovlen = 1};
	struct io_uring_sqe *sqe;
	struct ring ring;

	(void)c;
	ring_need(&ring, 0);
	if (bind(from, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    ring_do(&ring, IORING_OP_SENDMSG, fd, &message, 1) != 4)
		_exit(94);
	sqe = ring_next(&ring, IORING_OP_SEND, fd);
	sqe->addr = (uintptr_t) "call";
	sqe->len = 4;
	sqe->addr2 = (uintptr_t)&at;
	sqe->addr_len = sizeof(at);
	if (ring_run(&ring) != 4)
		_exit(95);
}

static void expect_address(const struct qp_event *event, unsigned int role)
{
	const struct qp_field *field = event_find(event, CALL_SIZE, QP_FIELD_SOCKADDR, role);

	cr_assert(field && field->len > offsetof(struct sockaddr_un, sun_path) + 6);
	cr_expect_str_eq((const char *)(field + 1) + offsetof(struct sockaddr_un, sun_path),
			 "socket");
}

Test(capture_uring_net, names_whom_a_datagram_is_for)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, local);
	cr_assert_eq(c.status, 0, "%x", c.status);
	result_of(&c, QP_CALL_ID_sendmsg, QP_URING_SENDMSG, 4);
	expect_address(submission_of(&c, QP_CALL_ID_sendmsg), 1);
	result_of(&c, QP_CALL_ID_sendto, QP_URING_SEND, 4);
	expect_address(submission_of(&c, QP_CALL_ID_sendto), 4);
	capture_free(&c);
}

static void serve(const struct capture *c)
{
	struct sockaddr_in at = loopback(0);
	struct io_uring_sqe *sqe;
	struct ring ring;
	int fd = socket(AF_INET, SOCK_STREAM, 0), result;

	(void)c;
	ring_need(&ring, 0);
	sqe = ring_next(&ring, OP_BIND, fd);
	sqe->addr = (uintptr_t)&at;
	sqe->addr2 = sizeof(at);
	result = ring_run(&ring);
	if (result == -EINVAL) /* before 6.11 there is no such request */
		_exit(77);
	if (result || ring_do(&ring, OP_LISTEN, fd, NULL, 1) ||
	    ring_do(&ring, OP_FTRUNCATE, open("file", O_RDWR | O_CREAT, 0600), NULL, 0))
		_exit(95);
}

Test(capture_uring_net, sees_a_socket_bound_and_listening)
{
	struct capture c = {0};
	const struct qp_field *field;
	struct sockaddr_in named;

	if (!capture_possible())
		return;
	capture_run(&c, serve);
	if (WEXITSTATUS(c.status) == 77) {
		/* The kernel's refusal is a request that never was. */
		cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_bind, 0));
		cr_expect_eq(unfinished(&c), 0);
		capture_free(&c);
		return;
	}
	cr_assert_eq(c.status, 0, "%x", c.status);
	result_of(&c, QP_CALL_ID_bind, QP_URING_BIND, 0);
	field = event_find(submission_of(&c, QP_CALL_ID_bind), CALL_SIZE, QP_FIELD_SOCKADDR, 1);
	cr_assert(field && field->len == sizeof(named));
	memcpy(&named, field + 1, sizeof(named));
	cr_expect_eq(named.sin_family, AF_INET);
	cr_expect_eq(named.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	cr_expect_neq(sock_of(result_of(&c, QP_CALL_ID_listen, QP_URING_LISTEN, 0), 0)->sport, 0);
	expect_path(&c, result_of(&c, QP_CALL_ID_ftruncate, QP_URING_FTRUNCATE, 0), 0, "/file");
	capture_free(&c);
}
