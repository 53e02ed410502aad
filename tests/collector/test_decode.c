// SPDX-License-Identifier: Apache-2.0
/* Whole runs: what the older path's receipt of the same package says is expected here. */
#include "tests/collector/events_net.h"

#define NODE "/usr/local/bin/node"
#define HERE "/work/node_modules/qp-fixture-netbenign"

static void netbenign_resolves(struct script *s)
{
	ev_connect(s, 46, SOCK_DGRAM, 40661, "10.0.0.1", 53, 11, 0);
	ev_send(s, 46, QP_CALL_ID_sendmmsg, SOCK_DGRAM, 40661, "10.0.0.1", 53, 11, 2, NULL, 0);
	/* The resolver sorts addresses by connecting to each; nothing is sent. */
	ev_connect(s, 46, SOCK_DGRAM, 40662, "198.18.0.1", 0, 12, 0);
	ev_connect(s, 46, SOCK_STREAM, 33408, "198.18.0.1", 80, 13, -EINPROGRESS);
	ev_send(s, 46, QP_CALL_ID_write, SOCK_STREAM, 33408, "198.18.0.1", 80, 13, 104, NULL, 0);
	for (int i = 0; i < 2; i++)
		add_json(s, LOG_RECORD_SINKHOLE,
			 json_pack("{s:s, s:s, s:s, s:i, s:s, s:i, s:s, s:s, s:i, s:s?}", "type",
				   "dns", "t", "2026-11-04T15:50:26.867019Z", "srcIp", "10.0.0.2",
				   "srcPort", 40661, "dstIp", "10.0.0.1", "dstPort", 53, "proto",
				   "udp", "name", "downloads.qp-fixture.example", "qtype",
				   i ? 28 : 1, "answer", i ? NULL : "198.18.0.1"));
	add_json(s, LOG_RECORD_SINKHOLE,
		 json_pack("{s:s, s:s, s:s, s:i, s:s, s:i, s:s, s:s, s:i, s:s, s:s, s:s, s:i, s:b}",
			   "type", "tcp", "t", "2026-11-04T15:50:26.869462Z", "srcIp", "10.0.0.2",
			   "srcPort", 33408, "dstIp", "198.18.0.1", "dstPort", 80, "dstName",
			   "downloads.qp-fixture.example", "protocol", "http", "bytesReceived", 104,
			   "method", "GET", "host", "downloads.qp-fixture.example", "path",
			   "/prebuilt/v1/linux-x64.json", "payloadBytes", 0, "chunked", 0));
}

/* The run of the older path's receipt, as the kernel would tell it. */
static void netbenign(struct script *s)
{
	script_begin(s, "run");
	init_begins(s);
	phase_begins(s, COPY, 0);
	ev_open(s, 1, HERE "/check.js", O_WRONLY | O_CREAT, QP_PATH_CREATED, 500);
	phase_ends(s, COPY, 0);
	phase_begins(s, SCAN, 26);
	ev_exec(s, 26, NODE, "/work", "node|/opt/app/scan.js");
	ev_exit(s, 26, 0);
	phase_ends(s, SCAN, 0);
	phase_begins(s, REBUILD, 33);
	ev_exec(s, 33, NODE, "/work", "node|/opt/app/rebuild.js");
	ev_open(s, 33, "/home/ann/.npmrc", O_RDONLY, 0, 501);
	ev_fork(s, 33, 45);
	ev_exec(s, 45, "/usr/bin/sh", HERE, "sh|-c|node check.js");
	ev_fork(s, 45, 46);
	ev_exec(s, 46, NODE, HERE, "node|check.js");
	ev_open(s, 46, HERE "/check.js", O_RDONLY, 0, 500);
	ev_open(s, 46, "/proc/46/maps", O_RDONLY, 0, 502);
	netbenign_resolves(s);
	ev_exit(s, 46, 0);
	ev_exit(s, 45, 0);
	ev_exit(s, 33, 0);
	phase_ends(s, REBUILD, 0);
	phase_begins(s, HARNESS, 57);
	ev_exec(s, 57, NODE, "/work", "node|/opt/app/harness.js");
	add_json(s, LOG_RECORD_LOAD,
		 json_pack("{s:b, s:s, s:n, s:s}", "ok", 1, "mode", "fallback-require", "error",
			   "resolved", "node_modules/qp-fixture-netbenign/index.js"));
	ev_exit(s, 57, 0);
	phase_ends(s, HARNESS, 0);
	phase_begins(s, DONE, 0);
	phase_ends(s, DONE, 0);
	ev_exit(s, 1, 0);
	add_ends(s, 3);
	add_trailer(s);
}

static struct script script;
static struct run_facts facts;

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode, .fini = tidy);

Test(decode, names_of_the_netbenign_package_are_asked_for_once_with_both_types)
{
	const struct observation *o;

	netbenign(&script);
	script_decode(&script, &facts);
	o = only(&facts, OBSERVATION_NET_DNS);
	cr_assert_eq(o->actor, ACTOR_PACKAGE);
	cr_assert_eq(o->pid, 46);
	cr_assert_str_eq(o->exe, NODE);
	cr_assert_str_eq(o->package, "qp-fixture-netbenign");
	cr_assert_str_eq(o->dest, "downloads.qp-fixture.example");
	cr_assert_str_eq(o->orig_dest, "10.0.0.1:53");
	cr_assert_eq(o->port, 53);
	cr_assert_str_eq(o->proto, "udp");
	cr_assert_eq(o->blocked, TRISTATE_FALSE);
	cr_assert_eq(o->payload, TRISTATE_FALSE);
	cr_assert_eq(o->outcome, OUTCOME_EFFECTED);
	assert_json(o->extra, "{'sinkholeLogged': true, 'queries': ["
			      "{'name': 'downloads.qp-fixture.example', 'qtype': 1},"
			      "{'name': 'downloads.qp-fixture.example', 'qtype': 28}]}");
}

Test(decode, the_get_of_the_netbenign_package_is_one_connection_without_payload)
{
	const struct observation *o;

	netbenign(&script);
	script_decode(&script, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_NET_UDP), 0, "a connect alone sends nothing");
	o = only(&facts, OBSERVATION_NET_TCP);
	cr_assert_eq(o->actor, ACTOR_PACKAGE);
	cr_assert_eq(o->pid, 46);
	cr_assert_str_eq(o->dest, "downloads.qp-fixture.example");
	cr_assert_str_eq(o->orig_dest, "198.18.0.1:80");
	cr_assert_eq(o->port, 80);
	cr_assert_str_eq(o->proto, "http");
	cr_assert_null(o->sni);
	cr_assert_eq(o->blocked, TRISTATE_FALSE);
	cr_assert_eq(o->payload, TRISTATE_FALSE);
	cr_assert_eq(o->outcome, OUTCOME_EFFECTED);
	assert_json(o->extra,
		    "{'family': 'inet', 'sinkholeLogged': true, 'http': {'method': 'GET', 'host': "
		    "'downloads.qp-fixture.example', 'path': '/prebuilt/v1/linux-x64.json', "
		    "'payloadBytes': 0}}");
}

Test(decode, the_netbenign_package_spawns_what_its_script_says)
{
	const struct observation *o;

	netbenign(&script);
	script_decode(&script, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_SPAWN), 2);
	o = nth(&facts, OBSERVATION_SPAWN, 0);
	cr_assert_eq(o->actor, ACTOR_PACKAGE);
	cr_assert_eq(o->pid, 45);
	cr_assert_str_eq(o->exe, "/usr/bin/sh");
	cr_assert_null(o->asked);
	cr_assert_eq(o->blocked, TRISTATE_NULL);
	assert_json(o->extra, "{'argv': ['sh', '-c', 'node check.js']}");
	o = nth(&facts, OBSERVATION_SPAWN, 1);
	cr_assert_eq(o->pid, 46);
	assert_json(o->extra, "{'argv': ['node', 'check.js']}");
}

Test(decode, the_netbenign_run_is_complete)
{
	const struct observation *o;

	netbenign(&script);
	script_decode(&script, &facts);
	for (int i = 0; i < MARKER_CNT; i++)
		cr_assert(facts.markers[i].ok, "%s: %s", marker_name((enum marker)i),
			  json_dumps(facts.markers[i].detail, 0));
	assert_json(facts.markers[MARKER_HEARTBEAT].detail,
		    "{'nodeProcesses': 4, 'missing': [], 'reasons': {}}");
	assert_json(facts.markers[MARKER_PATHS_RESOLVED].detail, "{'unresolved': []}");
	assert_json(facts.markers[MARKER_KERNEL_TRACE].detail,
		    "{'syscalls': 10855, 'state': 'complete'}");
	assert_json(facts.markers[MARKER_SINKHOLE_LOG].detail,
		    "{'ready': true, 'unmatchedObservationIds': [], 'rule': 'every traced package "
		    "TCP connect / DNS query that reached the redirect has a sinkhole record "
		    "(AF-4)'}");
	assert_json(facts.markers[MARKER_ENDED_NORMALLY].detail, "{}");
	assert_json(facts.markers[MARKER_HARNESS_RAN].detail, "{}");
	/* Two spawns, a name, a connection, the load, six markers: as in the older receipt. */
	cr_assert_eq(facts.observations.cnt, 11);
	o = only(&facts, OBSERVATION_LOAD);
	cr_assert_eq(o->actor, ACTOR_HARNESS);
	cr_assert_eq(o->pid, 57);
	cr_assert_null(o->exe);
	assert_json(o->extra, "{'ok': true, 'mode': 'fallback-require', 'error': null, 'resolved': "
			      "'node_modules/qp-fixture-netbenign/index.js'}");
	assert_json(facts.roles, "{'stagePid': 1, 'npmPid': 33, 'harnessPid': 57, 'scanPid': 26}");
	for (size_t i = 5; i < 11; i++)
		cr_assert_eq(facts.observations.items[i].kind, OBSERVATION_COMPLETENESS);
}

Test(decode, observations_come_in_the_order_of_time_from_the_start)
{
	netbenign(&script);
	script_decode(&script, &facts);
	for (size_t i = 1; i < facts.observations.cnt; i++)
		cr_assert_leq(facts.observations.items[i - 1].t_ns,
			      facts.observations.items[i].t_ns);
	cr_assert_lt(facts.observations.items[0].t_ns, 1000000, "not counted from the start");
}
