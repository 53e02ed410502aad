// SPDX-License-Identifier: Apache-2.0
/* That addresses are the kernel's own, and what was sent is kept. All on loopback. */
#include "tests/collector/capture_run.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#define CALL_SIZE sizeof(struct qp_call)
#define PORT	  9

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static const struct qp_sock *sock_field(const struct qp_event *event, unsigned int role)
{
	const struct qp_field *field;

	cr_assert_not_null(event);
	field = event_find(event, CALL_SIZE, QP_FIELD_SOCK, role);
	cr_assert_not_null(field);
	return (const struct qp_sock *)(field + 1);
}

static void connect_udp(const struct capture *c)
{
	struct sockaddr_in to = loopback(PORT);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)c;
	connect(fd, (struct sockaddr *)&to, sizeof(to));
}

Test(capture_net, gives_the_hook_and_the_socket_the_same_address)
{
	struct capture c = {0};
	const struct qp_sockaddr *hook;
	const struct qp_event *event;
	const struct qp_sock *sock;

	if (!capture_possible())
		return;
	capture_run(&c, connect_udp);
	event = capture_event(&c, QP_EVENT_SOCKADDR, 0, 0);
	cr_assert_not_null(event);
	hook = event_body(event, sizeof(*hook));
	cr_expect_eq(hook->hook, QP_HOOK_CONNECT);
	cr_expect_eq(hook->family, AF_INET);
	cr_expect_eq(hook->protocol, IPPROTO_UDP);
	cr_expect_eq(hook->dport, PORT);
	cr_expect_arr_eq(hook->addr, "\x7f\0\0\1", 4);
	sock = sock_field(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_connect, 0), 0);
	cr_expect_eq(sock->family, AF_INET);
	cr_expect_eq(sock->dport, PORT);
	cr_expect_arr_eq(sock->daddr, "\x7f\0\0\1", 4);
	cr_expect_neq(sock->sport, 0);
	cr_expect_neq(hook->cookie, 0);
	cr_expect_eq(sock->cookie, hook->cookie);
	capture_free(&c);
}

static void send_everything(const struct capture *c)
{
	struct sockaddr_in to = loopback(PORT);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char big[QP_PAYLOAD_BYTES_MAX + 1];
	struct iovec iov[2] = {{"first", 5}, {"second", 6}};
	struct mmsghdr messages[1] = {{.msg_hdr = {.msg_name = &to,
						   .msg_namelen = sizeof(to),
						   .msg_iov = iov,
						   .msg_iovlen = 2}}};

	(void)c;
	memset(big, 'b', sizeof(big));
	sendto(fd, big, sizeof(big), 0, (struct sockaddr *)&to, sizeof(to));
	sendmsg(fd, &messages[0].msg_hdr, 0);
	sendmmsg(fd, messages, 1, 0);
}

Test(capture_net, keeps_the_beginning_and_the_address_of_what_is_sent)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_field *field;
	struct sockaddr_in to = loopback(PORT);

	if (!capture_possible())
		return;
	capture_run(&c, send_everything);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_sendto, 0);
	cr_assert_not_null(event);
	cr_expect_eq(((const struct qp_call *)event_body(event, CALL_SIZE))->ret,
		     QP_PAYLOAD_BYTES_MAX + 1);
	field = event_find(event, CALL_SIZE, QP_FIELD_PAYLOAD, 1);
	cr_assert_not_null(field);
	cr_expect_eq(field->len, QP_PAYLOAD_BYTES_MAX);
	field = event_find(event, CALL_SIZE, QP_FIELD_SOCKADDR, 4);
	cr_assert_not_null(field);
	cr_expect_eq(field->len, sizeof(to));
	cr_expect_arr_eq(field + 1, &to, sizeof(to));
	for (unsigned int call = QP_CALL_ID_sendmsg; call <= QP_CALL_ID_sendmmsg; call++) {
		event = capture_event(&c, QP_EVENT_CALL, call, 0);
		cr_assert_not_null(event);
		cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_PAYLOAD, 1), "first");
		field = event_find(event, CALL_SIZE, QP_FIELD_SOCKADDR, 1);
		cr_assert_not_null(field);
		cr_expect_arr_eq(field + 1, &to, sizeof(to));
	}
	cr_expect_not_null(capture_event(&c, QP_EVENT_SOCKADDR, 0, 2));
	capture_free(&c);
}

static void talk_tcp(const struct capture *c)
{
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at = loopback(0);
	socklen_t len = sizeof(at);

	(void)c;
	if (bind(server, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (struct sockaddr *)&at, &len) < 0 ||
	    connect(client, (struct sockaddr *)&at, sizeof(at)) < 0)
		_exit(98);
	accept4(server, NULL, NULL, SOCK_CLOEXEC);
	for (int i = 0; i < 11; i++)
		if (write(client, "GET / HTTP/1.1\r\n", 16) != 16)
			_exit(97);
}

Test(capture_net, records_the_first_write_to_a_connection_and_who_was_accepted)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_sock *accepted, *client;

	if (!capture_possible())
		return;
	capture_run(&c, talk_tcp);
	cr_assert_eq(c.status, 0);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_write, 0);
	client = sock_field(event, 0);
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_PAYLOAD, 1), "GET / HTTP/1.1\r\n");
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_write, 1));
	accepted = sock_field(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_accept4, 0), QP_ROLE_RET);
	cr_expect_eq(accepted->sport, client->dport);
	cr_expect_eq(accepted->dport, client->sport);
	cr_expect_not_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_listen, 0));
	cr_expect_not_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_bind, 0));
	capture_free(&c);
}

static void use_ipv6_and_unix(const struct capture *c)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6,
				   .sin6_port = htons(PORT),
				   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "absent.sock"};
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	(void)c;
	sendto(fd, "six", 3, 0, (struct sockaddr *)&six, sizeof(six));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(fd, (struct sockaddr *)&un, sizeof(un));
}

Test(capture_net, reads_ipv6_and_unix_addresses)
{
	struct capture c = {0};
	const struct qp_sockaddr *hook;
	const struct qp_event *event;
	const struct qp_field *field;
	struct in6_addr expected = IN6ADDR_LOOPBACK_INIT;

	if (!capture_possible())
		return;
	capture_run(&c, use_ipv6_and_unix);
	event = capture_event(&c, QP_EVENT_SOCKADDR, 0, 0);
	cr_assert_not_null(event);
	hook = event_body(event, sizeof(*hook));
	cr_expect_eq(hook->hook, QP_HOOK_SENDMSG);
	cr_expect_eq(hook->family, AF_INET6);
	cr_expect_arr_eq(hook->addr, &expected, 16);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_connect, 0);
	cr_assert_not_null(event);
	field = event_find(event, CALL_SIZE, QP_FIELD_SOCKADDR, 1);
	cr_assert_not_null(field);
	cr_expect_str_eq((const char *)(field + 1) + offsetof(struct sockaddr_un, sun_path),
			 "absent.sock");
	cr_expect_eq(((const struct qp_call *)event_body(event, CALL_SIZE))->ret, -ENOENT);
	capture_free(&c);
}
