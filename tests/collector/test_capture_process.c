// SPDX-License-Identifier: Apache-2.0
/* That the life of processes is recorded as it was: forks, execs, arguments, ends. */
#include "tests/collector/capture_run.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#define CALL_SIZE sizeof(struct qp_call)
#define EXEC_SIZE sizeof(struct qp_exec)

static const struct qp_exec *exec_body(const struct qp_event *event)
{
	const struct qp_exec *body;

	cr_assert_not_null(event);
	body = event_body(event, sizeof(*body));
	cr_assert_not_null(body);
	return body;
}

static void exec_with_empty_arguments(const struct capture *c)
{
	char *argv[] = {"true", "", "a b", "", NULL};

	(void)c;
	execv("/bin/true", argv);
	_exit(98);
}

Test(capture_process, keeps_empty_arguments)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_field *field;
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, exec_with_empty_arguments);
	cr_assert_eq(c.status, 0);
	event = capture_event(&c, QP_EVENT_EXEC, 0, 0);
	cr_expect_eq(exec_body(event)->flags, 0);
	cr_expect_eq(exec_body(event)->parent_tgid, (uint32_t)getpid());
	field = event_find(event, EXEC_SIZE, QP_FIELD_ARGV, 0);
	cr_assert_not_null(field);
	cr_expect_eq(field->len, sizeof("true\0\0a b\0"));
	cr_expect_arr_eq(field + 1, "true\0\0a b\0", field->len);
	cr_expect_str_eq(capture_text(event, EXEC_SIZE, QP_FIELD_STRING, QP_ROLE_ASKED),
			 "/bin/true");
	cr_expect_eq(capture_path(event, EXEC_SIZE, QP_ROLE_EXE, path, sizeof(path)), 0);
	cr_expect_str_eq(path, "/usr/bin/true");
	cr_expect_eq(capture_path(event, EXEC_SIZE, QP_ROLE_CWD, path, sizeof(path)), 0);
	cr_expect_str_eq(path, c.dir);
	capture_free(&c);
}

static void exec_script(const struct capture *c)
{
	char *argv[] = {"script", "x", NULL};
	int fd = open("script", O_RDWR | O_CREAT | O_CLOEXEC, 0700);

	(void)c;
	if (write(fd, "#!/bin/sh\nexit 3\n", 17) != 17)
		_exit(98);
	close(fd);
	execv("./script", argv);
	_exit(98);
}

Test(capture_process, names_script_and_interpreter)
{
	struct capture c = {0};
	const struct qp_event *event;
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, exec_script);
	cr_assert_eq(WEXITSTATUS(c.status), 3);
	event = capture_event(&c, QP_EVENT_EXEC, 0, 0);
	exec_body(event);
	cr_expect_str_eq(capture_text(event, EXEC_SIZE, QP_FIELD_STRING, QP_ROLE_ASKED),
			 "./script");
	cr_expect_str_eq(capture_text(event, EXEC_SIZE, QP_FIELD_STRING, QP_ROLE_INTERP),
			 "/bin/sh");
	cr_expect_eq(capture_path(event, EXEC_SIZE, QP_ROLE_EXE, path, sizeof(path)), 0);
	cr_expect_str_eq(path, "/usr/bin/dash");
	event = capture_event(&c, QP_EVENT_EXIT, 0, 0);
	cr_assert_not_null(event);
	cr_expect_eq(((const struct qp_exit *)event_body(event, sizeof(struct qp_exit)))->code,
		     3 << 8);
	capture_free(&c);
}

static void exec_nothing(const struct capture *c)
{
	char *argv[] = {"nothing", "", "here", NULL};

	(void)c;
	execv("bin/nothing", argv);
	syscall(SYS_execve, "bin/nothing", NULL, NULL);
}

Test(capture_process, records_an_exec_that_failed)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_field *field;
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, exec_nothing);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_execve, 0);
	cr_assert_not_null(event);
	cr_expect_eq(((const struct qp_call *)event_body(event, CALL_SIZE))->ret, -ENOENT);
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_STRING, 0), "bin/nothing");
	cr_expect_eq(capture_path(event, CALL_SIZE, QP_ROLE_CWD, path, sizeof(path)), 0);
	cr_expect_str_eq(path, c.dir);
	field = event_find(event, CALL_SIZE, QP_FIELD_ARGV, 1);
	cr_assert_not_null(field);
	cr_expect_eq(field->len, sizeof("nothing\0\0here"));
	cr_expect_arr_eq(field + 1, "nothing\0\0here", field->len);
	cr_expect_not_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_execve, 1));
	cr_expect_null(capture_event(&c, QP_EVENT_EXEC, 0, 0));
	capture_free(&c);
}

static void *exec_true(void *unused)
{
	char *argv[] = {"true", NULL};

	(void)unused;
	execv("/bin/true", argv);
	return NULL;
}

static void exec_from_a_thread(const struct capture *c)
{
	pthread_t thread;

	(void)c;
	pthread_create(&thread, NULL, exec_true, NULL);
	for (;;)
		pause();
}

/* The thread takes the leader's number over: before the exec it had its own. */
Test(capture_process, follows_an_exec_from_a_thread_that_does_not_lead)
{
	struct capture c = {0};
	const struct qp_event *event, *fork_event;
	const struct qp_fork *forked;

	if (!capture_possible())
		return;
	capture_run(&c, exec_from_a_thread);
	cr_assert_eq(c.status, 0);
	fork_event = capture_event(&c, QP_EVENT_FORK, 0, 0);
	cr_assert_not_null(fork_event);
	forked = event_body(fork_event, sizeof(*forked));
	cr_expect_eq(forked->child_tgid, (uint32_t)c.child);
	cr_expect_neq(forked->child_tid, (uint32_t)c.child);
	event = capture_event(&c, QP_EVENT_EXEC, 0, 0);
	cr_expect_eq(exec_body(event)->old_tid, forked->child_tid);
	cr_expect_eq(event->tid, (uint32_t)c.child);
	cr_expect_eq(event->ns_tid, (uint32_t)c.child);
	capture_free(&c);
}

static void fork_tree(const struct capture *c)
{
	(void)c;
	for (int i = 0; i < 7; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (fork() == 0)
				_exit(i);
			waitpid(-1, NULL, 0);
			kill(getpid(), SIGKILL);
		}
		waitpid(pid, NULL, 0);
	}
}

Test(capture_process, records_every_fork_and_every_end)
{
	struct capture c = {0};
	const struct qp_event *event;
	size_t killed = 0;

	if (!capture_possible())
		return;
	capture_run(&c, fork_tree);
	for (size_t i = 0; i < 14; i++) {
		const struct qp_fork *body;

		event = capture_event(&c, QP_EVENT_FORK, 0, i);
		cr_assert_not_null(event);
		body = event_body(event, sizeof(*body));
		cr_expect_eq(body->child_tgid, body->child_tid);
		cr_expect_eq(body->child_ns_tgid, body->child_tgid);
		cr_expect_gt(body->child_start_ns, 0);
		cr_expect_eq(event->tgid == (uint32_t)c.child, i % 2 == 0);
	}
	cr_expect_null(capture_event(&c, QP_EVENT_FORK, 0, 14));
	for (size_t i = 0; i < 15; i++) {
		const struct qp_exit *body;

		event = capture_event(&c, QP_EVENT_EXIT, 0, i);
		cr_assert_not_null(event);
		body = event_body(event, sizeof(*body));
		cr_expect_eq(body->group_dead, 1);
		killed += body->code == SIGKILL;
	}
	cr_expect_eq(killed, 7);
	/* A child's first return, from the fork that its parent made, is no denied call. */
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_clone, 0));
	capture_free(&c);
}

static void enter_a_pid_namespace(const struct capture *c)
{
	(void)c;
	if (unshare(CLONE_NEWPID) < 0)
		_exit(98);
	if (fork() == 0) {
		char *argv[] = {"true", NULL};

		if (fork() == 0)
			_exit(0);
		waitpid(-1, NULL, 0);
		execv("/bin/true", argv);
	}
	waitpid(-1, NULL, 0);
}

Test(capture_process, gives_the_numbers_of_the_own_namespace_too)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_fork *forked;

	if (!capture_possible())
		return;
	capture_run(&c, enter_a_pid_namespace);
	event = capture_event(&c, QP_EVENT_FORK, 0, 1);
	cr_assert_not_null(event);
	forked = event_body(event, sizeof(*forked));
	cr_expect_eq(event->ns_tgid, 1);
	cr_expect_eq(forked->child_ns_tgid, 2);
	event = capture_event(&c, QP_EVENT_EXEC, 0, 0);
	cr_expect_eq(exec_body(event)->parent_ns_tgid, 0);
	cr_expect_eq(exec_body(event)->parent_tgid, (uint32_t)c.child);
	cr_expect_eq(event->ns_tid, 1);
	capture_free(&c);
}

static void exec_memfd(const struct capture *c)
{
	int from = open("/bin/true", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("hidden", MFD_CLOEXEC);
	char *argv[] = {"hidden", NULL}, *envp[] = {NULL};
	char buf[65536];
	ssize_t n;

	(void)c;
	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(fd, buf, n) != n)
			_exit(97);
	syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
	_exit(98);
}

Test(capture_process, tells_that_a_program_is_a_memfd)
{
	struct capture c = {0};
	const struct qp_event *event;
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, exec_memfd);
	cr_assert_eq(c.status, 0);
	event = capture_event(&c, QP_EVENT_EXEC, 0, 0);
	cr_expect_eq(exec_body(event)->flags, QP_EXEC_MEMFD);
	cr_expect(capture_path(event, EXEC_SIZE, QP_ROLE_EXE, path, sizeof(path)) &
		  QP_PATH_NOT_A_FS);
	cr_expect_str_eq(path, "/memfd:hidden");
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_memfd_create, 0);
	cr_assert_not_null(event);
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_STRING, 0), "hidden");
	capture_free(&c);
}

static void signal_others(const struct capture *c)
{
	(void)c;
	kill(getpid(), 0);
	kill(getppid(), 0);
	syscall(SYS_tgkill, getpid(), getpid(), 0);
}

Test(capture_process, records_signals_to_other_processes_only)
{
	struct capture c = {0};
	const struct qp_event *event;

	if (!capture_possible())
		return;
	capture_run(&c, signal_others);
	cr_expect_eq(capture_calls(&c, "kill"), 2);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_kill, 0);
	cr_assert_not_null(event);
	cr_expect_eq(((const struct qp_call *)event_body(event, CALL_SIZE))->args[0],
		     (uint64_t)getpid());
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_kill, 1));
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_tgkill, 0));
	capture_free(&c);
}
