// SPDX-License-Identifier: Apache-2.0
#include "tests/collector/events_net.h"

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

TestSuite(decode_net, .init = begin, .fini = tidy);

/* A record from 10.0.0.2 with the members of @more added. */
static void add_sinkhole(const char *type, int sport, const char *to, int dport, json_t *more)
{
	json_t *record = json_pack("{s:s, s:s, s:s, s:i, s:s, s:i}", "type", type, "t",
				   "2026-11-04T15:50:15.232Z", "srcIp", "10.0.0.2", "srcPort",
				   sport, "dstIp", to, "dstPort", dport);

	cr_assert(more);
	json_object_update(record, more);
	json_decref(more);
	add_json(s, LOG_RECORD_SINKHOLE, record);
}

static json_t *question(const char *name, int qtype)
{
	return json_pack("{s:s, s:s, s:i, s:n}", "proto", "udp", "name", name, "qtype", qtype,
			 "answer");
}

static json_t *protocol(const char *name, int bytes)
{
	return json_pack("{s:s, s:i}", "protocol", name, "bytesReceived", bytes);
}

static void assert_marker(bool ok, const char *unmatched)
{
	cr_assert_eq(facts.markers[MARKER_SINKHOLE_LOG].ok, ok, "%s",
		     json_dumps(facts.markers[MARKER_SINKHOLE_LOG].detail, 0));
	assert_json(json_object_get(facts.markers[MARKER_SINKHOLE_LOG].detail,
				    "unmatchedObservationIds"),
		    unmatched);
}

Test(decode_net, a_decoy_that_left_is_told_of_by_its_label)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 443, 1, 0);
	add_sinkhole("tcp", 4000, "203.0.113.7", 443,
		     json_pack("{s:s, s:i, s:[s], s:[s, s]}", "protocol", "tls", "bytesReceived", 9,
			       "decoys", "npm-token", "decoyEncodings", "base64", "escaped"));
	exec_ends(s, 0, &facts);
	assert_json(json_object_get(only(&facts, OBSERVATION_NET_TCP)->extra, "decoys"),
		    "['npm-token']");
	assert_json(json_object_get(only(&facts, OBSERVATION_NET_TCP)->extra, "decoyEncodings"),
		    "['base64', 'escaped']");
}

Test(decode_net, a_name_that_carries_data_is_payload)
{
	json_t *record = question("0123.t.example", 1);

	json_object_set_new(record, "carries",
			    json_pack("{s:i, s:i, s:[s]}", "chars", 44, "entropyCentibits", 390,
				      "by", "entropy"));
	add_sinkhole("dns", 4000, "203.0.113.7", 53, record);
	exec_ends(s, 0, &facts);
	cr_assert_eq(only(&facts, OBSERVATION_NET_DNS)->payload, TRISTATE_TRUE);
	assert_json(json_object_get(only(&facts, OBSERVATION_NET_DNS)->extra, "carries"),
		    "{'chars': 44, 'entropyCentibits': 390, 'by': ['entropy']}");
}

Test(decode_net, what_could_not_be_searched_fails_the_marker)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 443, 1, 0);
	add_sinkhole("tcp", 4000, "203.0.113.7", 443,
		     json_pack("{s:s, s:i, s:b}", "protocol", "unknown", "bytesReceived", 9,
			       "unsearched", 1));
	exec_ends(s, 0, &facts);
	cr_assert(!facts.markers[MARKER_SINKHOLE_LOG].ok);
}

Test(decode_net, a_connection_that_the_sinkhole_did_not_see_fails_the_marker)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 443, 1, 0);
	exec_ends(s, 0, &facts);
	cr_assert_eq(only(&facts, OBSERVATION_NET_TCP)->outcome, OUTCOME_EFFECTED);
	cr_assert_str_eq(only(&facts, OBSERVATION_NET_TCP)->dest, "203.0.113.7");
	assert_json(extra(only(&facts, OBSERVATION_NET_TCP), "sinkholeLogged"), "false");
	assert_marker(false, "['o2']");
	cr_assert_eq(facts.observations.items[1].kind, OBSERVATION_NET_TCP);
}

Test(decode_net, what_the_sinkhole_missed_is_named)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 443, 1, 0);
	ev_connect(s, 10, SOCK_STREAM, 4001, "203.0.113.8", 8080, 2, -ECONNREFUSED);
	exec_ends(s, 0, &facts);
	assert_marker(false, "['o2', 'o3']");
	assert_json(
		json_array_get(
			json_object_get(facts.markers[MARKER_SINKHOLE_LOG].detail, "missing"), 1),
		"'tcp 203.0.113.8:8080 by pid 10, /usr/bin/sh'");
}

Test(decode_net, what_is_sent_to_the_sandboxs_own_address_stays_there)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "10.23.4.17", 8080, 1, 0);
	add_sinkhole("ready", 0, "0.0.0.0", 0,
		     json_pack("{s:[s, s]}", "addresses", "10.23.4.17", "2001:db8:17:4::11"));
	exec_ends(s, 1, &facts);
	assert_marker(true, "[]");
	assert_json(extra(only(&facts, OBSERVATION_NET_TCP), "loopback"), "true");
}

Test(decode_net, a_connect_under_way_is_an_attempt_until_the_sinkhole_saw_it)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 443, 1, -EINPROGRESS);
	ev_connect(s, 10, SOCK_STREAM, 4001, "203.0.113.8", 443, 2, -EINPROGRESS);
	add_sinkhole("tcp", 4001, "203.0.113.8", 443, protocol("none", 0));
	exec_ends(s, 1, &facts);
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->outcome, OUTCOME_ATTEMPTED);
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->outcome, OUTCOME_EFFECTED);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->proto, "none");
	assert_marker(false, "['o2']");
}

Test(decode_net, a_refused_connect_is_blocked_and_needs_no_record)
{
	ev_connect(s, 10, SOCK_STREAM, 0, "203.0.113.7", 443, 1, -ENETUNREACH);
	exec_ends(s, 0, &facts);
	cr_assert_eq(only(&facts, OBSERVATION_NET_TCP)->outcome, OUTCOME_ATTEMPTED);
	cr_assert_eq(only(&facts, OBSERVATION_NET_TCP)->blocked, TRISTATE_TRUE);
	assert_marker(true, "[]");
}

Test(decode_net, what_stays_on_this_host_is_told_and_needs_no_record)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "127.0.0.1", 8080, 1, -EINPROGRESS);
	ev_send(s, 10, QP_CALL_ID_sendto, SOCK_STREAM, 4000, "127.0.0.1", 8080, 1, 99, NULL, 0);
	exec_ends(s, 0, &facts);
	assert_json(only(&facts, OBSERVATION_NET_TCP)->extra,
		    "{'family': 'inet', 'sinkholeLogged': false, 'loopback': true, 'bytes': 99}");
	cr_assert_eq(only(&facts, OBSERVATION_NET_TCP)->outcome, OUTCOME_EFFECTED);
	cr_assert_eq(only(&facts, OBSERVATION_NET_TCP)->payload, TRISTATE_FALSE);
	assert_marker(true, "[]");
}

Test(decode_net, a_body_and_raw_bytes_are_payload_and_a_handshake_is_none)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 80, 1, 0);
	ev_connect(s, 10, SOCK_STREAM, 4001, "203.0.113.7", 443, 2, 0);
	ev_connect(s, 10, SOCK_STREAM, 4002, "203.0.113.7", 4444, 3, 0);
	add_sinkhole("tcp", 4000, "203.0.113.7", 80,
		     json_pack("{s:s, s:i, s:s, s:s, s:s, s:i, s:b}", "protocol", "http",
			       "bytesReceived", 200, "method", "POST", "host", "x.example", "path",
			       "/", "payloadBytes", 133, "chunked", 0));
	add_sinkhole("tcp", 4001, "203.0.113.7", 443,
		     json_pack("{s:s, s:i, s:s, s:[s]}", "protocol", "tls", "bytesReceived", 517,
			       "sni", "x.example", "alpn", "h2"));
	add_sinkhole("tcp", 4002, "203.0.113.7", 4444, protocol("unknown", 5));
	exec_ends(s, 3, &facts);
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->payload, TRISTATE_TRUE);
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->payload, TRISTATE_FALSE);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->sni, "x.example");
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->proto, "tls");
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 2)->payload, TRISTATE_TRUE);
	assert_marker(true, "[]");
}

Test(decode_net, bytes_of_a_protocol_that_has_a_name_are_payload_too)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 25, 1, 0);
	ev_connect(s, 10, SOCK_STREAM, 4001, "203.0.113.7", 22, 2, 0);
	add_sinkhole("tcp", 4000, "203.0.113.7", 25,
		     json_pack("{s:s, s:i, s:[{s:s, s:i}]}", "protocol", "smtp", "bytesReceived",
			       200, "mails", "from", "a", "bytes", 7));
	add_sinkhole("tcp", 4001, "203.0.113.7", 22,
		     json_pack("{s:s, s:i, s:{s:s}}", "protocol", "ssh", "bytesReceived", 11,
			       "proxy", "protocol", "socks5"));
	exec_ends(s, 2, &facts);
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->payload, TRISTATE_TRUE);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->proto, "smtp");
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 0), "mails"),
		    "[{'from': 'a', 'bytes': 7}]");
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 0), "bytes"), "200");
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->payload, TRISTATE_TRUE);
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 1), "proxy"), "{'protocol': 'socks5'}");
	assert_marker(true, "[]");
}

Test(decode_net, each_request_of_a_connection_is_told_of)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 80, 1, 0);
	for (int i = 0; i < 101; i++)
		add_sinkhole("tcp", 4000, "203.0.113.7", 80,
			     json_pack("{s:s, s:s, s:s, s:s, s:i}", "protocol", "http", "method",
				       "PUT", "host", "x.example", "path", "/", "payloadBytes",
				       i == 77 ? 5 : 0));
	exec_ends(s, 101, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_NET_TCP), 64, "bounded");
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 63)->payload, TRISTATE_TRUE,
		     "a body among those beyond the bound counts");
}

Test(decode_net, a_source_port_used_twice_for_one_destination_shares_records_in_order)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 80, 1, 0);
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 80, 2, 0);
	add_sinkhole("tcp", 4000, "203.0.113.7", 80, protocol("none", 0));
	add_sinkhole("tcp", 4000, "203.0.113.7", 80, protocol("unknown", 3));
	exec_ends(s, 2, &facts);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->proto, "none");
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->proto, "unknown");
	assert_marker(true, "[]");
}

Test(decode_net, names_asked_for_on_one_socket_are_told_apart)
{
	ev_connect(s, 10, SOCK_DGRAM, 4000, "10.0.0.1", 53, 1, 0);
	ev_send(s, 10, QP_CALL_ID_sendto, SOCK_DGRAM, 4000, "10.0.0.1", 53, 1, 30, NULL, 0);
	add_sinkhole("dns", 4000, "10.0.0.1", 53, question("a.example", 1));
	add_sinkhole("dns", 4000, "10.0.0.1", 53, question("b.example", 16));
	add_sinkhole("dns", 4000, "10.0.0.1", 53, question("a.example", 28));
	add_sinkhole("dns", 4000, "10.0.0.1", 53, question("a.example", 28));
	exec_ends(s, 4, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_NET_DNS), 2);
	cr_assert_eq(count(&facts, OBSERVATION_NET_UDP), 0);
	assert_json(extra(nth(&facts, OBSERVATION_NET_DNS, 0), "queries"),
		    "[{'name': 'a.example', 'qtype': 1}, {'name': 'a.example', 'qtype': 28}]");
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_DNS, 1)->dest, "b.example");
}

Test(decode_net, a_query_that_only_the_kernel_saw_is_named_by_its_payload)
{
	/* RFC 1035: id, flags RD, one question: x.example, AAAA, IN. */
	static const char query[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
				    "\x01x\x07"
				    "example\x00\x00\x1c\x00\x01";

	ev_connect(s, 10, SOCK_DGRAM, 4000, "9.9.9.9", 5353, 1, 0);
	ev_send(s, 10, QP_CALL_ID_sendto, SOCK_DGRAM, 4000, "9.9.9.9", 5353, 1, 27, query,
		sizeof(query) - 1);
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_NET_DNS)->dest, "x.example");
	cr_assert_str_eq(only(&facts, OBSERVATION_NET_DNS)->orig_dest, "9.9.9.9:5353");
	assert_json(extra(only(&facts, OBSERVATION_NET_DNS), "queries"),
		    "[{'name': 'x.example', 'qtype': 28}]");
	assert_marker(false, "['o2']");
}

Test(decode_net, a_datagram_is_told_with_its_size_and_a_mere_connect_is_not)
{
	ev_connect(s, 10, SOCK_DGRAM, 4000, "198.51.100.9", 53, 1, 0);
	ev_connect(s, 10, SOCK_DGRAM, 4001, "198.51.100.9", 53, 2, 0);
	ev_send(s, 10, QP_CALL_ID_sendmsg, SOCK_DGRAM, 4001, "198.51.100.9", 53, 2, 12, "hello", 5);
	add_sinkhole("udp", 4001, "198.51.100.9", 53, json_pack("{s:i}", "bytes", 12));
	add_sinkhole(
		"malformed", 4001, "198.51.100.9", 53,
		json_pack("{s:s, s:s, s:i}", "proto", "udp", "why", "no DNS message", "bytes", 12));
	exec_ends(s, 2, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_NET_UDP)->orig_dest, "198.51.100.9:53");
	assert_json(extra(only(&facts, OBSERVATION_NET_UDP), "bytes"), "12");
	assert_marker(true, "[]");
}

Test(decode_net, the_destination_of_a_datagram_is_the_kernels_copy)
{
	struct qp_sock sock = sock_v4(SOCK_DGRAM, 4000, "0.0.0.0", 0, 5);
	struct qp_sockaddr hook = {.hook = QP_HOOK_SENDMSG,
				   .family = AF_INET,
				   .protocol = IPPROTO_UDP,
				   .type = SOCK_DGRAM,
				   .dport = 99,
				   .cookie = 5,
				   .addr = {203, 0, 113, 9}};
	struct building b = begin_event(s, QP_EVENT_SOCKADDR, 10, &hook, sizeof(hook));

	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_sendto, 4,
		       ARGS(5, 0x7000, 4, 0, 0x7100, 16));
	add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	add_sockaddr_v4(&b, 4, "127.0.0.1", 1); /* changed by another thread meanwhile */
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_NET_UDP)->orig_dest, "203.0.113.9:99");
	assert_marker(false, "['o2']");
}

Test(decode_net, a_mapped_address_is_ipv4_and_ipv6_has_brackets)
{
	struct qp_sock sock = {.family = AF_INET6,
			       .type = SOCK_STREAM,
			       .protocol = IPPROTO_TCP,
			       .sport = 4000,
			       .dport = 80,
			       .cookie = 1};
	struct building b;

	for (int i = 0; i < 2; i++) {
		inet_pton(AF_INET6, i ? "fd00::7" : "::ffff:203.0.113.7", sock.daddr);
		sock.cookie++;
		b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_connect, 0, ARGS(5, 0x7000, 28));
		add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
		emit(s, &b);
	}
	add_sinkhole("tcp", 4000, "203.0.113.7", 80, protocol("none", 0));
	add_sinkhole("tcp", 4000, "fd00::7", 80, protocol("none", 0));
	exec_ends(s, 2, &facts);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->orig_dest, "203.0.113.7:80");
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 0), "family"), "'inet'");
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->orig_dest, "[fd00::7]:80");
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 1), "family"), "'inet6'");
	assert_marker(true, "[]");
}

Test(decode_net, a_record_that_nothing_explains_is_the_packages_and_is_named)
{
	const struct observation *o;

	add_sinkhole("tcp", 4000, "203.0.113.7", 4444, protocol("unknown", 5));
	exec_ends(s, 1, &facts);
	o = only(&facts, OBSERVATION_NET_TCP);
	cr_assert_eq(o->pid, -1);
	cr_assert_eq(o->actor, ACTOR_PACKAGE);
	cr_assert_eq(o->payload, TRISTATE_TRUE);
	cr_assert_eq(o->t_ns, 1000000000, "a second after the preamble's start");
	assert_json(json_object_get(facts.markers[MARKER_SINKHOLE_LOG].detail,
				    "unexplainedObservationIds"),
		    "['o2']");
}

Test(decode_net, a_connect_that_never_returned_is_on_its_way)
{
	struct qp_sockaddr hook = {.hook = QP_HOOK_CONNECT,
				   .family = AF_INET,
				   .protocol = IPPROTO_TCP,
				   .type = SOCK_STREAM,
				   .dport = 99,
				   .cookie = 5,
				   .addr = {203, 0, 113, 9}};
	struct building b = begin_event(s, QP_EVENT_SOCKADDR, 10, &hook, sizeof(hook));

	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_eq(only(&facts, OBSERVATION_NET_TCP)->outcome, OUTCOME_ATTEMPTED);
	assert_marker(false, "['o2']");
}

Test(decode_net, a_count_that_does_not_agree_fails_the_marker)
{
	exec_ends(s, 1, &facts);
	assert_marker(false, "[]");
}

/* What was read under TLS counts like what came in the clear. */
Test(decode_net, a_body_under_tls_is_data_and_a_refusal_is_told)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 443, 1, 0);
	ev_connect(s, 10, SOCK_STREAM, 4001, "203.0.113.8", 443, 2, 0);
	add_sinkhole("tcp", 4000, "203.0.113.7", 443,
		     json_pack("{s:s, s:i, s:s, s:s}", "protocol", "tls", "bytesReceived", 517,
			       "sni", "x.example", "handshake", "accepted"));
	add_sinkhole("tcp", 4000, "203.0.113.7", 443,
		     json_pack("{s:s, s:i, s:s, s:i, s:b, s:{s:s, s:s}}", "protocol", "http",
			       "bytesReceived", 200, "method", "POST", "payloadBytes", 3, "chunked",
			       0, "inTls", "sni", "x.example", "version", "TLSv1.3"));
	add_sinkhole("tcp", 4001, "203.0.113.8", 443,
		     json_pack("{s:s, s:i, s:s, s:s, s:s}", "protocol", "tls", "bytesReceived", 517,
			       "sni", "y.example", "handshake", "refused", "alert", "unknown_ca"));
	exec_ends(s, 3, &facts);
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->payload, TRISTATE_FALSE);
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->payload, TRISTATE_TRUE);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->proto, "http");
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->sni, "x.example");
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 1), "underTls"), "'TLSv1.3'");
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 2)->payload, TRISTATE_FALSE);
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 2), "alert"), "'unknown_ca'");
	assert_marker(true, "[]");
}
