// SPDX-License-Identifier: Apache-2.0
#include "tests/collector/events.h"

#include <sys/socket.h>

static struct script script;
static struct script *const s = &script;
static struct run_facts facts;

static void begin(void)
{
	exec_begins(s);
	ev_fork(s, 10, 11);
}

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode_tamper, .init = begin, .fini = tidy);

static const struct observation *the_one(void)
{
	exec_ends(s, 0, &facts);
	return only(&facts, OBSERVATION_TAMPER);
}

static void none(void)
{
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_TAMPER), 0);
}

Test(decode_tamper, a_blocked_call_is_an_attempt_that_was_blocked)
{
	const struct observation *o;

	ev_blocked(s, 11, QP_CALL_ID_bpf, -EPERM, ARGS(0));
	o = the_one();
	cr_assert_eq(o->outcome, OUTCOME_ATTEMPTED);
	cr_assert_eq(o->blocked, TRISTATE_TRUE);
	cr_assert_eq(o->actor, ACTOR_PACKAGE);
	cr_assert_eq(o->pid, 11);
	assert_json(o->extra, "{'call': 'bpf', 'errno': 'EPERM'}");
}

Test(decode_tamper, being_traced_by_ones_parent_is_tampering)
{
	ev_call(s, 11, QP_CALL_ID_ptrace, 0, ARGS(0));
	cr_assert_eq(the_one()->outcome, OUTCOME_EFFECTED);
}

Test(decode_tamper, the_target_of_ptrace_is_named)
{
	ev_call(s, 11, QP_CALL_ID_ptrace, -EPERM, ARGS(16, 1));
	assert_json(extra(the_one(), "target"), "1");
}

Test(decode_tamper, a_mount_names_its_place)
{
	struct building b =
		begin_call(s, QP_EVENT_CALL, 11, QP_CALL_ID_mount, -EPERM, ARGS(0x7000, 0x7100));

	call_of(&b)->flags = QP_CALL_BLOCKED;
	add_string(&b, 0, "x");
	add_string(&b, 1, "/mnt");
	add_string(&b, 2, "tmpfs");
	emit(s, &b);
	cr_assert_str_eq(the_one()->path, "/mnt");
}

Test(decode_tamper, repeating_adds_nothing)
{
	for (int i = 0; i < 1003; i++)
		ev_blocked(s, 11, QP_CALL_ID_setns, -EPERM, ARGS(3));
	the_one();
}

Test(decode_tamper, unsharing_a_namespace_is_tampering)
{
	ev_call(s, 11, QP_CALL_ID_unshare, -EPERM, ARGS(0x10000000)); /* CLONE_NEWUSER */
	the_one();
}

Test(decode_tamper, unsharing_files_is_not)
{
	ev_call(s, 11, QP_CALL_ID_unshare, 0, ARGS(0x400 | 0x200)); /* CLONE_FILES, CLONE_FS */
	none();
}

Test(decode_tamper, a_clone3_that_a_sandbox_lacks_is_not)
{
	ev_blocked(s, 11, QP_CALL_ID_clone3, -ENOSYS, ARGS(0x7000, 88));
	ev_blocked(s, 11, QP_CALL_ID_clone, -EAGAIN, ARGS(17));
	none();
}

Test(decode_tamper, a_denied_clone3_is_judged_by_the_flags_it_asked_for)
{
	static const uint64_t flags[] = {0x4100, 0x10000000}; /* CLONE_VM|VFORK; CLONE_NEWUSER */

	for (int i = 0; i < 2; i++) {
		struct building b = begin_call(s, QP_EVENT_CALL, 10 + (uint32_t)i,
					       QP_CALL_ID_clone3, -ENOSYS, ARGS(0x7000, 88));

		call_of(&b)->flags = QP_CALL_BLOCKED;
		add_field(&b, QP_FIELD_PAYLOAD, 0, 0, &flags[i], sizeof(flags[i]));
		emit(s, &b);
	}
	cr_assert_eq(the_one()->pid, 11);
}

Test(decode_tamper, a_clone_into_a_namespace_is)
{
	ev_blocked(s, 11, QP_CALL_ID_clone, -EPERM, ARGS(0x40000000 | 17)); /* CLONE_NEWNET */
	the_one();
}

Test(decode_tamper, an_io_uring_that_was_denied_is_not)
{
	ev_blocked(s, 11, QP_CALL_ID_io_uring_setup, -EPERM, ARGS(64, 0x7000));
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_TAMPER), 0);
	cr_assert(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_tamper, an_io_uring_that_was_had_makes_the_trace_incomplete)
{
	ev_call(s, 11, QP_CALL_ID_io_uring_setup, 7, ARGS(64, 0x7000));
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_tamper, harmless_calls_accuse_nobody)
{
	ev_call(s, 11, QP_CALL_ID_name_to_handle_at, -EOPNOTSUPP, ARGS(3));
	ev_call(s, 11, QP_CALL_ID_prctl, 0, ARGS(4, 0)); /* PR_SET_DUMPABLE */
	none();
}

Test(decode_tamper, raw_and_packet_sockets_are)
{
	ev_call(s, 11, QP_CALL_ID_socket, -EPERM, ARGS(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1));
	ev_call(s, 10, QP_CALL_ID_socket, -EPERM, ARGS(AF_PACKET, SOCK_DGRAM, 0));
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_TAMPER), 2);
}

Test(decode_tamper, opening_by_handle_is)
{
	ev_blocked(s, 11, QP_CALL_ID_open_by_handle_at, -EPERM, ARGS(3, 0x7000, O_RDONLY));
	the_one();
}
