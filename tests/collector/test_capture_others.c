// SPDX-License-Identifier: Apache-2.0
/* That what a task does to other processes is recorded with whom it was done to, and what it
 * does to itself is not. */
#include "tests/collector/capture_run.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define CALL_SIZE sizeof(struct qp_call)

/* A child that waits to be killed. */
static pid_t bystander(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Each call of the kind ONTO, upon @pid. */
static void act_upon(pid_t pid)
{
	struct rlimit limit = {64, 64};
	struct sched_param priority = {0};
	cpu_set_t all;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	memset(&all, 0xff, sizeof(all));
	prlimit(pid, RLIMIT_CORE, &limit, NULL);
	sched_setaffinity(pid, sizeof(all), &all);
	sched_setscheduler(pid, SCHED_OTHER, &priority);
	sched_setparam(pid, &priority);
	syscall(SYS_sched_setattr, pid, NULL, 0);
	setpriority(PRIO_PROCESS, (id_t)pid, 1);
	syscall(SYS_ioprio_set, 1, pid, 0);
	syscall(SYS_migrate_pages, pid, 0, NULL, NULL);
	syscall(SYS_move_pages, pid, 0, NULL, NULL, NULL, 0);
	syscall(SYS_process_vm_readv, pid, NULL, 0, NULL, 0, 0);
	syscall(SYS_process_vm_writev, pid, NULL, 0, NULL, 0, 0);
	syscall(SYS_kcmp, pid, pid, 0, 0, 0);
	close(pidfd);
}

static const enum qp_call_id onto_by_pid[] = {
	QP_CALL_ID_prlimit64,	     QP_CALL_ID_sched_setaffinity, QP_CALL_ID_sched_setscheduler,
	QP_CALL_ID_sched_setparam,   QP_CALL_ID_sched_setattr,	   QP_CALL_ID_setpriority,
	QP_CALL_ID_ioprio_set,	     QP_CALL_ID_migrate_pages,	   QP_CALL_ID_move_pages,
	QP_CALL_ID_process_vm_readv, QP_CALL_ID_process_vm_writev, QP_CALL_ID_kcmp,
};

#define ONTO_CNT (sizeof(onto_by_pid) / sizeof(onto_by_pid[0]))

static void act_upon_self(const struct capture *c)
{
	(void)c;
	act_upon(0);
	act_upon(getpid());
}

Test(capture_others, acts_upon_oneself_are_only_counted)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, act_upon_self);
	for (size_t i = 0; i < ONTO_CNT; i++)
		cr_expect_null(capture_event(&c, QP_EVENT_CALL, onto_by_pid[i], 0), "call %u",
			       onto_by_pid[i]);
	cr_expect_geq(capture_calls(&c, "prlimit64"), 2);
	capture_free(&c);
}

static void act_upon_another(const struct capture *c)
{
	pid_t pid = bystander();

	(void)c;
	act_upon(pid);
	setpriority(PRIO_USER, 0, 1);
	end(pid);
}

Test(capture_others, acts_upon_another_process_are_recorded)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, act_upon_another);
	for (size_t i = 0; i < ONTO_CNT; i++)
		cr_expect_not_null(capture_event(&c, QP_EVENT_CALL, onto_by_pid[i], 0), "call %u",
				   onto_by_pid[i]);
	cr_expect_not_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_setpriority, 1),
			   "all of a user's");
	capture_free(&c);
}

/* The pidfd is not the one that was opened, and its process has ended. */
static void act_by_pidfd(const struct capture *c)
{
	pid_t pid = bystander();
	int fd = dup((int)syscall(SYS_pidfd_open, pid, 0));

	dprintf(open("pid", O_WRONLY | O_CREAT, 0600), "%d", pid);
	(void)c;
	syscall(SYS_pidfd_getfd, fd, 0, 0);
	syscall(SYS_process_madvise, fd, NULL, 0, 0, 0);
	syscall(SYS_process_mrelease, fd, 0);
	syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	waitpid(pid, NULL, 0);
	syscall(SYS_pidfd_send_signal, 0, SIGTERM, NULL, 0); /* no pidfd at all */
}

Test(capture_others, a_pidfd_is_told_by_its_process_however_it_was_come_by)
{
	static const enum qp_call_id calls[] = {QP_CALL_ID_pidfd_getfd, QP_CALL_ID_process_madvise,
						QP_CALL_ID_process_mrelease,
						QP_CALL_ID_pidfd_send_signal};
	struct capture c = {0};
	const struct qp_field *field;
	const struct qp_event *event;
	char path[96], text[16] = "";
	uint32_t pid;
	int fd;

	if (!capture_possible())
		return;
	capture_run(&c, act_by_pidfd);
	snprintf(path, sizeof(path), "%s/pid", c.dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		event = capture_event(&c, QP_EVENT_CALL, calls[i], 0);
		cr_assert_not_null(event, "call %u", calls[i]);
		field = event_find(event, CALL_SIZE, QP_FIELD_PID, 0);
		cr_assert_not_null(field, "call %u", calls[i]);
		memcpy(&pid, field + 1, sizeof(pid));
		cr_expect_eq(pid, (uint32_t)atoi(text), "call %u: %u", calls[i], pid);
	}
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_pidfd_send_signal, 1);
	cr_assert_not_null(event);
	cr_expect_null(event_find(event, CALL_SIZE, QP_FIELD_PID, 0));
	capture_free(&c);
}

/* Its own pipe by three names, a pipe of another process, the same without leave to use it. */
static void open_pipes(const struct capture *c)
{
	int ours[2], theirs[2], cue[2];
	char path[64], byte;
	pid_t pid;

	(void)c;
	if (pipe(theirs) || pipe(cue))
		_exit(98);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(cue[1], "x", 1);
		pause();
		_exit(0);
	}
	(void)!read(cue[0], &byte, 1);
	close(theirs[0]);
	close(theirs[1]);
	if (pipe(ours))
		_exit(98);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ours[0]);
	close(open(path, O_RDONLY));
	snprintf(path, sizeof(path), "/dev/fd/%d", ours[0]);
	close(open(path, O_RDONLY));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, theirs[0]);
	close(open(path, O_RDONLY | O_NONBLOCK));
	snprintf(path, sizeof(path), "../proc/%d/task/%d/fd/%d", pid, pid, theirs[1]);
	if (chdir("/tmp"))
		_exit(98);
	close(open(path, O_PATH));
	end(pid);
}

Test(capture_others, an_open_of_what_has_no_name_says_by_which_it_was_asked_and_who_had_it)
{
	struct capture c = {0};
	struct qp_path path;
	size_t held = 0, foreign = 0, relative = 0;

	if (!capture_possible())
		return;
	capture_run(&c, open_pipes);
	cr_assert_eq(c.status, 0);
	for (size_t i = 0; i < c.cnt; i++) {
		const struct qp_field *field =
			event_find(c.events[i], CALL_SIZE, QP_FIELD_PATH, QP_ROLE_RET);
		const char *text;

		if (c.events[i]->type != QP_EVENT_CALL || !field)
			continue;
		memcpy(&path, field + 1, sizeof(path));
		if (!(path.flags & QP_PATH_NOT_A_FS))
			continue;
		text = capture_text(c.events[i], CALL_SIZE, QP_FIELD_STRING, 1);
		cr_assert_not_null(text);
		if (path.flags & QP_PATH_HELD) {
			held++;
			cr_expect(strstr(text, "/fd/"));
			continue;
		}
		foreign += !strncmp(text, "/proc/", 6);
		relative += !strncmp(text, "../proc/", 8);
		cr_expect_eq(!strncmp(text, "../", 3),
			     event_find(c.events[i], CALL_SIZE, QP_FIELD_PATH, QP_ROLE_CWD) !=
				     NULL);
	}
	cr_expect_eq(held, 2);
	cr_expect_eq(foreign, 1);
	cr_expect_eq(relative, 1);
	capture_free(&c);
}

static void link_descriptors(const struct capture *c)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0600), folder = open(".", O_PATH);
	char path[64];

	(void)c;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW);
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d/named", folder);
	chmod(path, 0640);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	chmod(path, 0600);
	chmod("/proc/self/cwd/named", 0600);
	/* None of these begins so. */
	snprintf(path, sizeof(path), "/proc/self/fd/%dx", fd);
	chmod(path, 0600);
	chmod("/proc/self/fd/", 0600);
	chmod("/proc/self/cwdx", 0600);
}

Test(capture_others, names_of_own_descriptors_are_told_by_their_files)
{
	static const enum qp_event_type types[] = {QP_EVENT_ENTER, QP_EVENT_CALL};
	const unsigned int first = QP_ROLE_NAMED;
	struct capture c = {0};
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, link_descriptors);
	for (size_t i = 0; i < 2; i++) {
		const struct qp_event *event = capture_event(&c, types[i], QP_CALL_ID_linkat, 0);

		cr_assert_not_null(event);
		cr_assert_neq(capture_path(event, CALL_SIZE, first + 1, path, sizeof(path)), -1);
		cr_expect(strstr(path, "/#"), "a file without a name yet: %s", path);
		cr_expect_eq(capture_path(event, CALL_SIZE, first + 3, path, sizeof(path)), -1);
		event = capture_event(&c, types[i], QP_CALL_ID_chmod, 0);
		expect_path(&c, event, first, "");
		event = capture_event(&c, types[i], QP_CALL_ID_chmod, 1);
		cr_assert_neq(capture_path(event, CALL_SIZE, first, path, sizeof(path)), -1);
		event = capture_event(&c, types[i], QP_CALL_ID_chmod, 2);
		expect_path(&c, event, QP_ROLE_CWD, "");
		for (size_t n = 3; n < 6; n++) {
			event = capture_event(&c, types[i], QP_CALL_ID_chmod, n);
			cr_assert_not_null(event);
			cr_expect_eq(capture_path(event, CALL_SIZE, first, path, sizeof(path)), -1);
			cr_expect_eq(
				capture_path(event, CALL_SIZE, QP_ROLE_CWD, path, sizeof(path)),
				-1);
		}
	}
	capture_free(&c);
}
