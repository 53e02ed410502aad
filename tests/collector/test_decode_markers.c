// SPDX-License-Identifier: Apache-2.0
#include "tests/collector/events.h"

static struct script script;
static struct script *const s = &script;
static struct run_facts facts;

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode_markers, .fini = tidy);

static void assert_state(const char *text)
{
	const json_t *detail = facts.markers[MARKER_KERNEL_TRACE].detail;
	const char *state = json_string_value(json_object_get(detail, "state"));

	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
	cr_assert(strstr(state, text), "%s", state);
}

Test(decode_markers, a_complete_command_has_all_six)
{
	exec_begins(s);
	exec_ends(s, 0, &facts);
	for (int i = 0; i < MARKER_CNT; i++)
		cr_assert(facts.markers[i].ok, "%s", marker_name((enum marker)i));
	assert_json(facts.markers[MARKER_HARNESS_RAN].detail, "{'asked': false}");
}

Test(decode_markers, a_missing_event_is_counted)
{
	exec_begins(s);
	s->seq += 3;
	exec_ends(s, 0, &facts);
	assert_state("3 events are missing");
}

Test(decode_markers, events_of_several_cpus_may_come_interleaved)
{
	struct building late;

	exec_begins(s);
	/* CPU 1 has its own numbers; its event was made before one that comes first. */
	late = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_chdir, 0, ARGS(0x7000));
	head_of(&late)->cpu = 1;
	head_of(&late)->seq = 1;
	s->seq--;
	ev_open(s, 10, "/etc/x", O_WRONLY, 0, 7);
	emit(s, &late);
	exec_ends(s, 0, &facts);
	cr_assert(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_markers, an_event_is_used_at_its_time_not_at_its_place)
{
	struct qp_fork body = {OUTSIDE + 11, OUTSIDE + 11, 11, 11, 0};
	struct building fork_event;

	exec_begins(s);
	fork_event = begin_event(s, QP_EVENT_FORK, 10, &body, sizeof(body));
	head_of(&fork_event)->cpu = 1;
	head_of(&fork_event)->seq = 1;
	s->seq--;
	ev_exec(s, 11, "/usr/bin/node", "/work", "node");
	emit(s, &fork_event);
	exec_ends(s, 0, &facts);
	assert_json(facts.markers[MARKER_HEARTBEAT].detail,
		    "{'nodeProcesses': 1, 'missing': [], 'reasons': {}}");
}

Test(decode_markers, two_events_of_one_number_are_noticed)
{
	exec_begins(s);
	s->seq--;
	exec_ends(s, 0, &facts);
	assert_state("one sequence number");
}

Test(decode_markers, lost_events_are_named_even_if_no_number_is_missing)
{
	exec_begins(s);
	phase_ends(s, RUN, 0);
	add_ends(s, 0);
	add_json(s, LOG_RECORD_TRAILER,
		 json_pack("{s:{s:i, s:{s:I, s:I, s:i}}, s:b}", "counters", "syscalls", 1, "events",
			   "produced", (json_int_t)s->events + 5, "delivered",
			   (json_int_t)s->events, "lost", 5, "complete", 1));
	script_decode(s, &facts);
	assert_state("5 events were lost");
}

Test(decode_markers, an_event_that_was_delivered_and_is_not_in_the_log_is_noticed)
{
	exec_begins(s);
	s->events++;
	exec_ends(s, 0, &facts);
	assert_state("are in the log");
}

Test(decode_markers, a_log_without_trailer_or_with_more_behind_it_is_incomplete)
{
	exec_begins(s);
	script_decode(s, &facts);
	assert_state("no trailer");
	run_facts_clear(&facts);
	exec_begins(s);
	phase_ends(s, RUN, 0);
	add_trailer(s);
	add_ends(s, 0);
	script_decode(s, &facts);
	assert_state("goes on after its trailer");
}

Test(decode_markers, a_cut_log_is_incomplete_in_every_way)
{
	struct log_reader *reader;
	char *bytes;
	size_t len;

	exec_begins(s);
	ev_open(s, 10, "/etc/x", O_WRONLY, 0, 7);
	add_phase(s, "run", "end", 0);
	log_writer_abandon(s->log);
	cr_assert_eq(read_file_at(AT_FDCWD, s->path, 1 << 20, &bytes, &len), 0);
	cr_assert_eq(log_reader_open_memory(bytes, len - 3, &reader, NULL), 0);
	cr_assert_eq(decode_log(reader, &facts, NULL), 0);
	log_reader_free(reader);
	free(bytes);
	remove_tree_at(AT_FDCWD, s->folder);
	assert_state("cut or damaged");
	cr_assert_str_eq(only(&facts, OBSERVATION_FILE_WRITE)->path, "/etc/x");
	cr_assert_not(facts.markers[MARKER_HEARTBEAT].ok);
	cr_assert_not(facts.markers[MARKER_SINKHOLE_LOG].ok);
	cr_assert_not(facts.markers[MARKER_ENDED_NORMALLY].ok);
}

Test(decode_markers, a_phase_without_its_heartbeats_is_named)
{
	exec_begins(s);
	ev_exit(s, 10, 0);
	add_phase(s, "run", "end", 0);
	add_ends(s, 0);
	add_trailer(s);
	script_decode(s, &facts);
	cr_assert_not(facts.markers[MARKER_HEARTBEAT].ok);
	assert_json(json_object_get(facts.markers[MARKER_HEARTBEAT].detail, "missing"),
		    "['run:end']");
}

Test(decode_markers, only_pid_1_with_the_right_nonce_beats)
{
	exec_begins(s);
	ev_call(s, 10, QP_CALL_ID_prctl, -EINVAL,
		ARGS(QP_HEARTBEAT, NONCE_HIGH, NONCE_LOW, RUN, 1));
	ev_call(s, 1, QP_CALL_ID_prctl, -EINVAL, ARGS(QP_HEARTBEAT, NONCE_HIGH, 7, RUN, 1));
	add_phase(s, "run", "end", 0);
	add_ends(s, 0);
	add_trailer(s);
	script_decode(s, &facts);
	cr_assert_not(facts.markers[MARKER_HEARTBEAT].ok);
}

Test(decode_markers, a_node_that_came_from_nowhere_is_named)
{
	exec_begins(s);
	ev_exec(s, 66, "/usr/local/bin/node", "/work", "node");
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_HEARTBEAT].ok);
	assert_json(json_object_get(facts.markers[MARKER_HEARTBEAT].detail, "missing"),
		    "['pid 66']");
}

Test(decode_markers, an_end_by_the_clock_is_no_normal_end_and_a_limit)
{
	exec_begins(s);
	ev_exit(s, 10, 0);
	phase_ends(s, RUN, 0);
	add_json(s, LOG_RECORD_SINKHOLE_END,
		 json_pack("{s:b, s:b, s:i}", "ready", 1, "flushed", 1, "records", 0));
	add_json(s, LOG_RECORD_END,
		 json_pack("{s:n, s:s, s:[s, s]}", "exitCode", "endedBy", "time", "limitsHit",
			   "pids", "time"));
	add_trailer(s);
	script_decode(s, &facts);
	cr_assert_not(facts.markers[MARKER_ENDED_NORMALLY].ok);
	assert_json(facts.markers[MARKER_ENDED_NORMALLY].detail,
		    "{'endedBy': 'time', 'exitCode': null}");
	cr_assert_eq(count(&facts, OBSERVATION_LIMIT), 2);
	assert_json(extra(nth(&facts, OBSERVATION_LIMIT, 0), "what"), "'pids'");
	assert_json(extra(nth(&facts, OBSERVATION_LIMIT, 1), "what"), "'time'");
}

Test(decode_markers, a_part_that_failed_makes_the_end_abnormal)
{
	exec_begins(s);
	add_json(s, LOG_RECORD_ERROR, json_pack("{s:s, s:s}", "part", "sinkhole", "text", "x"));
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_ENDED_NORMALLY].ok);
}

/* A run whose every phase has a process and ends with that phase's status. */
static void run_with(const int rc[6], bool loads)
{
	script_begin(s, "run");
	init_begins(s);
	for (int phase = COPY; phase <= DONE; phase++) {
		bool own = phase == COPY || phase == DONE;

		phase_begins(s, phase, own ? 0 : 10 + (uint32_t)phase);
		if (!own)
			ev_exit(s, 10 + (uint32_t)phase, rc[phase]);
		phase_ends(s, phase, rc[phase]);
	}
	add_json(s, LOG_RECORD_LOAD,
		 json_pack("{s:b, s:s, s:s, s:n}", "ok", loads, "mode", "require", "error",
			   "Error: no", "resolved"));
	add_ends(s, 0);
	add_trailer(s);
	script_decode(s, &facts);
}

Test(decode_markers, a_run_whose_phases_all_succeed_had_its_harness)
{
	run_with((const int[6]){0}, true);
	cr_assert(facts.markers[MARKER_HARNESS_RAN].ok);
}

Test(decode_markers, a_failed_script_is_a_harness_that_did_not_run)
{
	run_with((const int[6]){[REBUILD] = 1}, true);
	cr_assert_not(facts.markers[MARKER_HARNESS_RAN].ok);
	assert_json(facts.markers[MARKER_HARNESS_RAN].detail, "{'rebuild': 'ended with status 1'}");
}

Test(decode_markers, a_package_that_did_not_load_is_one_too)
{
	run_with((const int[6]){0}, false);
	assert_json(facts.markers[MARKER_HARNESS_RAN].detail, "{'load': 'Error: no'}");
}

Test(decode_markers, who_only_collects_has_no_sinkhole_and_no_harness)
{
	script_begin(s, "collect");
	ev_exec(s, 500, "/usr/bin/true", "/", "true");
	ev_open(s, 500, "/etc/x", O_WRONLY, 0, 7);
	add_trailer(s);
	script_decode(s, &facts);
	cr_assert(facts.markers[MARKER_SINKHOLE_LOG].ok);
	assert_json(facts.markers[MARKER_SINKHOLE_LOG].detail, "{'ready': false, 'asked': false}");
	assert_json(facts.markers[MARKER_HARNESS_RAN].detail, "{'asked': false}");
	cr_assert(facts.markers[MARKER_KERNEL_TRACE].ok);
	cr_assert_eq(only(&facts, OBSERVATION_SPAWN)->actor, ACTOR_PACKAGE);
	cr_assert_eq(only(&facts, OBSERVATION_FILE_WRITE)->actor, ACTOR_PACKAGE);
}

static void ev_move(uint32_t by, uint32_t pid, uint32_t flags)
{
	struct qp_move body = {STARTED_NS, OUTSIDE + pid, OUTSIDE + pid, pid, pid, flags, 0};
	struct building b = begin_event(s, QP_EVENT_MOVE, by, &body, sizeof(body));

	if (flags & QP_MOVE_IN)
		add_path(&b, QP_ROLE_EXE, "/usr/sbin/daemon");
	emit(s, &b);
}

/* The state of kernel-trace after a move of process 501 by process 600. */
static const char *state_after_move(uint32_t flags)
{
	script_begin(s, "collect");
	ev_exec(s, 500, "/usr/bin/true", "/", "true");
	ev_move(600, 501, flags);
	ev_open(s, 501, "/etc/x", O_WRONLY, 0, 7);
	add_trailer(s);
	script_decode(s, &facts);
	return json_string_value(
		json_object_get(facts.markers[MARKER_KERNEL_TRACE].detail, "state"));
}

Test(decode_markers, who_is_launched_into_a_group_is_seen_whole)
{
	cr_assert_str_eq(state_after_move(QP_MOVE_IN | QP_MOVE_LAUNCH), "complete");
	cr_assert_str_eq(only(&facts, OBSERVATION_FILE_WRITE)->exe, "/usr/sbin/daemon");
	cr_assert_eq(facts.processes_total, 2, "who moved it is no process of the group");
}

Test(decode_markers, who_is_moved_into_a_group_by_another_has_a_past)
{
	cr_assert_str_eq(state_after_move(QP_MOVE_IN),
			 "joined-late: process 501 was moved into the group by another: what it "
			 "did before was not seen");
}

Test(decode_markers, who_is_moved_out_of_a_group_goes_on_unseen)
{
	cr_assert_str_eq(state_after_move(QP_MOVE_OUT | QP_MOVE_LAUNCH),
			 "process 501 was moved out of the group: what it did from then on was "
			 "not seen");
}

Test(decode_markers, a_joined_record_tells_of_a_past)
{
	script_begin(s, "collect");
	add_json(s, LOG_RECORD_JOINED, json_pack("{s:[], s:b}", "processes", "complete", 0));
	add_trailer(s);
	script_decode(s, &facts);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
}

static void ends_after_a_call_of(const char *name)
{
	exec_begins(s);
	ev_exit(s, 10, 0);
	phase_ends(s, RUN, 0);
	add_ends(s, 0);
	add_json(s, LOG_RECORD_TRAILER,
		 json_pack("{s:{s:i, s:{s:i, s:i}, s:i, s:{s:I, s:I, s:i}}, s:b}", "counters",
			   "syscalls", 8, "calls", name, 3, "read", 5, "unsummedWrites", 0,
			   "events", "produced", (json_int_t)s->events, "delivered",
			   (json_int_t)s->events, "lost", 0, "complete", 1));
	script_decode(s, &facts);
}

Test(decode_markers, writes_that_are_only_submitted_are_not_seen)
{
	ends_after_a_call_of("io_submit");
	assert_state("io_submit was called 3 times, and what it writes is not recorded");
}

Test(decode_markers, nor_are_those_of_x32)
{
	ends_after_a_call_of("x32_syscall_544");
	assert_state("io_submit was called 3 times, and what it writes is not recorded");
}

Test(decode_markers, other_calls_leave_the_trace_complete)
{
	ends_after_a_call_of("x32_syscall_543");
	cr_assert(facts.markers[MARKER_KERNEL_TRACE].ok);
}
