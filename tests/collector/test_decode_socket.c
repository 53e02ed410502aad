// SPDX-License-Identifier: Apache-2.0
/* Sockets that are neither TCP nor UDP, local ones, and those that wait for others. */
#include "tests/collector/events_net.h"

#include <sys/un.h>

static struct script script;
static struct script *const s = &script;
static struct run_facts facts;

static void begin(void)
{
	exec_begins(s);
}

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode_socket, .init = begin, .fini = tidy);

static void add_packet(int l4, const char *to)
{
	add_json(s, LOG_RECORD_SINKHOLE,
		 json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "type", "packet", "t",
			   "2026-11-04T15:50:15.232Z", "srcIp", "10.0.0.2", "dstIp", to, "l4", l4,
			   "bytes", 84));
}

Test(decode_socket, what_the_kernel_says_by_itself_is_nobodys)
{
	add_packet(58, "ff02::16");
	add_packet(1, "10.0.0.1");
	add_packet(132, "203.0.113.7");
	exec_ends(s, 3, &facts);
	assert_json(extra(only(&facts, OBSERVATION_NET_OTHER), "protocol"), "132");
	cr_assert_str_eq(only(&facts, OBSERVATION_NET_OTHER)->dest, "203.0.113.7");
}

Test(decode_socket, a_ping_is_told_by_its_socket_and_its_packet)
{
	ev_call(s, 10, QP_CALL_ID_socket, 5, ARGS(AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
	add_packet(1, "203.0.113.7");
	exec_ends(s, 1, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_NET_OTHER), 2);
}

Test(decode_socket, ordinary_sockets_are_nothing_by_themselves)
{
	ev_call(s, 10, QP_CALL_ID_socket, 5, ARGS(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
	ev_call(s, 10, QP_CALL_ID_socket, 5, ARGS(AF_INET, SOCK_STREAM, 0));
	ev_call(s, 10, QP_CALL_ID_socket, 5, ARGS(AF_INET6, SOCK_DGRAM, IPPROTO_UDP));
	ev_call(s, 10, QP_CALL_ID_socket, 5, ARGS(AF_UNIX, SOCK_STREAM, 0));
	exec_ends(s, 0, &facts);
	cr_assert_eq(facts.observations.cnt, 1 + MARKER_CNT);
}

Test(decode_socket, other_families_are_told_once)
{
	for (int i = 0; i < 3; i++)
		ev_call(s, 10, QP_CALL_ID_socket, -EAFNOSUPPORT, ARGS(AF_VSOCK, SOCK_STREAM, 0));
	exec_ends(s, 0, &facts);
	cr_assert_eq(only(&facts, OBSERVATION_NET_OTHER)->outcome, OUTCOME_ATTEMPTED);
}

static void local_connect(const char *path, size_t len, int64_t ret)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct building b =
		begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_connect, ret, ARGS(5, 0x7000, len + 2));

	memcpy(un.sun_path, path, len);
	add_field(&b, QP_FIELD_SOCKADDR, 1, 0, &un, len + 2);
	emit(s, &b);
}

Test(decode_socket, local_sockets_are_told_by_their_path)
{
	local_connect("/run/user/1/bus\0junk", 20, 0);
	local_connect("\0abstract", 9, -ECONNREFUSED);
	local_connect("/var/run/nscd/socket", 21, -ENOENT);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_NET_UNIX), 2);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_UNIX, 0)->path, "/run/user/1/bus");
	cr_assert_eq(nth(&facts, OBSERVATION_NET_UNIX, 0)->outcome, OUTCOME_EFFECTED);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_UNIX, 1)->path, "\\x00abstract");
	cr_assert_eq(count(&facts, OBSERVATION_TAMPER), 0);
}

Test(decode_socket, a_container_engines_socket_is_an_attack)
{
	local_connect("/var/run/docker.sock", 21, -ENOENT);
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_TAMPER)->path, "/var/run/docker.sock");
}

static void bind_to(uint16_t port, int type)
{
	struct qp_sock sock = sock_v4(type, port, "0.0.0.0", 0, 9);
	struct building b =
		begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_bind, 0, ARGS(5, 0x7000, 16));

	add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	add_sockaddr_v4(&b, 1, "0.0.0.0", port);
	emit(s, &b);
}

Test(decode_socket, waiting_for_others_is_told_once_and_a_bind_to_any_port_is_not)
{
	struct qp_sock sock = sock_v4(SOCK_STREAM, 8080, "0.0.0.0", 0, 9);
	struct building b;

	bind_to(0, SOCK_DGRAM);
	bind_to(8080, SOCK_STREAM);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_listen, 0, ARGS(5, 128));
	add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_eq(only(&facts, OBSERVATION_NET_LISTEN)->port, 8080);
	cr_assert_str_eq(only(&facts, OBSERVATION_NET_LISTEN)->proto, "tcp");
}
