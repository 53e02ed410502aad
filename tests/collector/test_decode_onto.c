// SPDX-License-Identifier: Apache-2.0
/* Acts upon processes by their number: 10 is the package's, 11 its child, 12 its grandchild, 13
 * another child; 1 is PID 1 and 5 npm's. */
#include "tests/collector/events.h"

#include <signal.h>
#include <sys/resource.h>

#define UNKNOWN 4711

static struct script script;
static struct script *const s = &script;
static struct run_facts facts;

static void begin(void)
{
	exec_begins(s);
	ev_fork(s, 1, 5);
	ev_fork(s, 10, 11);
	ev_fork(s, 11, 12);
	ev_fork(s, 10, 13);
}

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode_onto, .init = begin, .fini = tidy);

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

Test(decode_onto, signals_within_the_package_are_its_own_affair)
{
	ev_call(s, 11, QP_CALL_ID_kill, 0, ARGS(10, SIGTERM));
	ev_call(s, 10, QP_CALL_ID_kill, 0, ARGS(11, SIGKILL));
	ev_call(s, 10, QP_CALL_ID_kill, 0, ARGS((uint64_t)-11, SIGKILL));
	ev_call(s, 10, QP_CALL_ID_kill, 0, ARGS(0, SIGTERM));
	ev_exit(s, 11, 0);
	ev_call(s, 10, QP_CALL_ID_kill, -ESRCH, ARGS(11, SIGKILL));
	none();
}

Test(decode_onto, asking_whether_a_process_lives_is_no_attack)
{
	ev_call(s, 11, QP_CALL_ID_kill, -EPERM, ARGS(1, 0));
	none();
}

Test(decode_onto, signals_to_others_are_attacks)
{
	ev_call(s, 11, QP_CALL_ID_kill, -EPERM, ARGS(1, SIGKILL));
	assert_json(extra(the_one(), "target"), "1");
}

Test(decode_onto, a_signal_to_everybody_is_an_attack)
{
	ev_call(s, 11, QP_CALL_ID_kill, 0, ARGS((uint64_t)-1, SIGKILL));
	the_one();
}

Test(decode_onto, a_signal_to_a_thread_of_ones_own_is_none)
{
	struct qp_fork body = {OUTSIDE + 10, OUTSIDE + 15, 10, 15, 0};
	struct building b = begin_event(s, QP_EVENT_FORK, 10, &body, sizeof(body));

	emit(s, &b);
	ev_call(s, 10, QP_CALL_ID_tkill, 0, ARGS(15, SIGUSR1));
	none();
}

static void ev_pidfd(uint32_t pid, enum qp_call_id call, int64_t ret, uint64_t signal,
		     uint32_t target)
{
	struct building b = begin_call(s, QP_EVENT_CALL, pid, call, ret, ARGS(7, signal));

	add_field(&b, QP_FIELD_PID, 0, 0, &target, sizeof(target));
	emit(s, &b);
}

Test(decode_onto, a_signal_by_pidfd_is_told_by_whom_the_kernel_says_it_names)
{
	ev_pidfd(11, QP_CALL_ID_pidfd_send_signal, 0, SIGTERM, 10);
	ev_pidfd(11, QP_CALL_ID_pidfd_send_signal, 0, 0, 1);
	ev_pidfd(11, QP_CALL_ID_pidfd_send_signal, -EPERM, SIGTERM, 1);
	assert_json(extra(the_one(), "target"), "1");
}

Test(decode_onto, a_pidfd_of_a_process_that_has_no_number_inside_is_anothers)
{
	ev_pidfd(11, QP_CALL_ID_pidfd_send_signal, -EPERM, SIGTERM, 0);
	assert_json(extra(the_one(), "target"), "0");
}

Test(decode_onto, what_is_no_pidfd_reaches_nobody_unless_it_worked)
{
	ev_call(s, 11, QP_CALL_ID_pidfd_send_signal, -EBADF, ARGS(7, SIGTERM));
	ev_call(s, 11, QP_CALL_ID_pidfd_getfd, -EBADF, ARGS(7, 0));
	/* A folder of /proc is taken for a pidfd too. */
	ev_call(s, 10, QP_CALL_ID_pidfd_send_signal, 0, ARGS(7, SIGTERM));
	cr_expect_eq(the_one()->pid, 10);
}

Test(decode_onto, opening_a_pidfd_is_no_act_yet)
{
	ev_call(s, 11, QP_CALL_ID_pidfd_open, 7, ARGS(1));
	none();
}

/* Each call that takes a process's number, as one that would change something. */
static void act(uint32_t pid, uint64_t target, int64_t ret)
{
	ev_call(s, pid, QP_CALL_ID_prlimit64, ret, ARGS(target, 7, 0x7000, 0));
	ev_call(s, pid, QP_CALL_ID_sched_setaffinity, ret, ARGS(target, 8, 0x7000));
	ev_call(s, pid, QP_CALL_ID_sched_setscheduler, ret, ARGS(target, 0, 0x7000));
	ev_call(s, pid, QP_CALL_ID_sched_setparam, ret, ARGS(target, 0x7000));
	ev_call(s, pid, QP_CALL_ID_sched_setattr, ret, ARGS(target, 0x7000));
	ev_call(s, pid, QP_CALL_ID_setpriority, ret, ARGS(PRIO_PROCESS, target, 5));
	ev_call(s, pid, QP_CALL_ID_setpriority, ret, ARGS(PRIO_PGRP, target, 5));
	ev_call(s, pid, QP_CALL_ID_ioprio_set, ret, ARGS(1, target, 0));
	ev_call(s, pid, QP_CALL_ID_migrate_pages, ret, ARGS(target, 1));
	ev_call(s, pid, QP_CALL_ID_move_pages, ret, ARGS(target, 1));
}

#define GENTLE_CNT 9 /* calls in there */

/* Those by which one process takes what is another's, or changes it beneath it. */
static void seize(uint32_t pid, uint32_t target, int64_t ret)
{
	ev_call(s, pid, QP_CALL_ID_process_vm_readv, ret, ARGS(target));
	ev_call(s, pid, QP_CALL_ID_process_vm_writev, ret, ARGS(target));
	ev_call(s, pid, QP_CALL_ID_kcmp, ret, ARGS(pid, target));
	ev_pidfd(pid, QP_CALL_ID_pidfd_getfd, ret, 0, target);
	ev_pidfd(pid, QP_CALL_ID_process_madvise, ret, 0, target);
}

#define SEIZE_CNT 5

Test(decode_onto, what_a_process_does_to_itself_and_its_children_is_its_affair)
{
	act(10, 0, 0);
	for (uint32_t target = 10; target <= 13; target++) {
		act(10, target, 0);
		seize(10, target, 0);
	}
	none();
}

Test(decode_onto, a_thread_of_its_own_is_itself)
{
	struct qp_fork body = {OUTSIDE + 10, OUTSIDE + 15, 10, 15, 0};
	struct building b = begin_event(s, QP_EVENT_FORK, 10, &body, sizeof(body));

	emit(s, &b);
	act(10, 15, 0);
	none();
}

/* renice, taskset and ionice are children of whom they act for. */
Test(decode_onto, tools_that_act_for_their_caller_accuse_nobody)
{
	act(11, 10, 0);
	act(11, 13, 0);
	none();
}

Test(decode_onto, siblings_may_not_take_what_is_each_others)
{
	seize(11, 13, -EPERM);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_TAMPER), SEIZE_CNT);
}

Test(decode_onto, every_act_upon_another_process_of_the_sandbox_is_an_attack)
{
	static const uint32_t others[] = {1, 5, UNKNOWN};

	for (size_t i = 0; i < 3; i++) {
		act(11, others[i], i ? -EPERM : 0);
		seize(11, others[i], -EPERM);
	}
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_TAMPER), 3 * (GENTLE_CNT + SEIZE_CNT));
	for (size_t i = 0; i < 3 * (GENTLE_CNT + SEIZE_CNT); i++)
		cr_expect_eq(
			json_integer_value(extra(nth(&facts, OBSERVATION_TAMPER, i), "target")),
			others[i / (GENTLE_CNT + SEIZE_CNT)]);
	cr_assert_eq(nth(&facts, OBSERVATION_TAMPER, 0)->outcome, OUTCOME_EFFECTED);
}

Test(decode_onto, all_of_a_users_processes_are_not_only_its_own)
{
	ev_call(s, 11, QP_CALL_ID_setpriority, 0, ARGS(PRIO_USER, 0, 5));
	ev_call(s, 11, QP_CALL_ID_ioprio_set, 0, ARGS(3, 0, 0));
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_TAMPER), 2);
}

Test(decode_onto, asking_for_limits_changes_none)
{
	ev_call(s, 11, QP_CALL_ID_prlimit64, 0, ARGS(1, 7, 0, 0x7000));
	none();
}
