// SPDX-License-Identifier: Apache-2.0
/* Which reads of variables become observations, and when a node was not heard. */
#include "tests/collector/events.h"

static struct script script;
static struct script *const s = &script;
static struct run_facts facts;

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode_env, .fini = tidy);

static void ev_env_flags(uint32_t pid, const char *name, uint8_t flags)
{
	struct building b = begin_event(s, QP_EVENT_ENV, pid, "", 0);

	add_field(&b, QP_FIELD_STRING, 0, flags, name, strlen(name));
	emit(s, &b);
}

static void ev_env(uint32_t pid, const char *name)
{
	ev_env_flags(pid, name, 0);
}

/* The sandbox was one whose C library was watched. */
static void begin_watched(void)
{
	exec_begins(s);
	add_json(s, LOG_RECORD_SANDBOX,
		 json_pack("{s:s, s:[s]}", "container", "c", "envLibraries", "/lib/libc.so.6"));
}

static void fork_node(uint32_t pid)
{
	ev_fork(s, 10, pid);
	ev_exec(s, pid, "/usr/bin/node", "/work", "node|x.js");
}

static void assert_name(size_t index, const char *name)
{
	const struct observation *o = nth(&facts, OBSERVATION_ENV_READ, index);

	cr_assert_str_eq(json_string_value(extra(o, "name")), name);
	cr_assert_eq(o->outcome, OUTCOME_NONE);
	cr_assert_eq(o->actor, ACTOR_PACKAGE);
}

Test(decode_env, a_name_is_told_once_for_each_program)
{
	begin_watched();
	fork_node(11);
	ev_env(11, "NPM_TOKEN");
	ev_env(11, "NPM_TOKEN");
	fork_node(12);
	ev_env(12, "NPM_TOKEN");
	ev_fork(s, 12, 13);
	ev_exec(s, 13, "/work/thing", "/work", "thing");
	ev_env(13, "NPM_TOKEN");
	ev_env(13, "THING_COLOR");
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_ENV_READ), 3);
	assert_name(0, "NPM_TOKEN");
	assert_name(1, "NPM_TOKEN");
	assert_name(2, "THING_COLOR");
	cr_assert_str_eq(nth(&facts, OBSERVATION_ENV_READ, 1)->exe, "/work/thing");
}

Test(decode_env, what_a_runtime_asks_for_by_itself_is_not_told)
{
	begin_watched();
	fork_node(11);
	ev_env(11, "NODE_OPTIONS");
	ev_env(11, "LC_ALL");
	ev_env(11, "npm_config_user_agent");
	ev_env(11, "NODE_AUTH_TOKEN");
	ev_env(11, "npm_config__authToken");
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_ENV_READ), 2);
	assert_name(0, "NODE_AUTH_TOKEN");
	assert_name(1, "npm_config__authToken");
}

Test(decode_env, programs_of_the_system_are_told_by_names_of_keys_alone)
{
	begin_watched();
	ev_fork(s, 10, 11);
	ev_exec(s, 11, "/usr/bin/git", "/work", "git|status");
	ev_env(11, "GIT_TRACE");
	ev_env(11, "aws_secret_access_key");
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_ENV_READ), 1);
	assert_name(0, "aws_secret_access_key");
}

Test(decode_env, a_name_of_odd_bytes_is_spelt_out)
{
	begin_watched();
	fork_node(11);
	ev_env(11, "A\n\xff");
	ev_env_flags(11, "LONG", QP_FIELD_TRUNCATED);
	exec_ends(s, 0, &facts);
	assert_name(0, "A\\x0a\\xff");
	assert_name(1, "LONG");
	cr_assert(json_is_true(extra(nth(&facts, OBSERVATION_ENV_READ, 1), "truncated")));
}

Test(decode_env, a_name_that_could_not_be_read_is_missing_evidence)
{
	begin_watched();
	fork_node(11);
	ev_env_flags(11, "", QP_FIELD_FAULT);
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_env, a_node_that_asks_for_nothing_was_not_heard)
{
	begin_watched();
	fork_node(11);
	ev_env(11, "NODE_OPTIONS");
	fork_node(12);
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_HEARTBEAT].ok);
	assert_json(facts.markers[MARKER_HEARTBEAT].detail,
		    "{'nodeProcesses': 2, 'missing': ['pid 12'], 'reasons': {'pid 12': 'node ran, "
		    "and no read of an environment variable was seen'}}");
}

Test(decode_env, each_exec_of_node_is_to_be_heard)
{
	begin_watched();
	fork_node(11);
	ev_exec(s, 11, "/usr/bin/node", "/work", "node|y.js");
	ev_env(11, "NODE_OPTIONS");
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_HEARTBEAT].ok);
}

Test(decode_env, nothing_is_expected_where_no_library_is_watched)
{
	exec_begins(s);
	fork_node(11);
	exec_ends(s, 0, &facts);
	cr_assert(facts.markers[MARKER_HEARTBEAT].ok);
}
