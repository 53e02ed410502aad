// SPDX-License-Identifier: Apache-2.0
/* PID 1 of the sandbox: phases, the copy, what outlives them. */
#include "tests/tools/sandbox_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define TREE_FILES 20011
#define TREE_DEPTH 230

/* A container with the folder @in at /in, which is readable for everyone. */
static void open_with(struct run *run, const char *in)
{
	run_prepare(run);
	if (in) {
		cr_assert_eq(chmod(in, 0755), 0);
		run->binds[run->config.binds_cnt++] = (struct sandbox_bind){in, "/in", false};
	}
	cr_assert_eq(run_create(run), 0, "%s", run->err.text);
	run_start(run);
}

static int run_copy(struct run *run)
{
	cr_assert_eq(control_send_phase(run->control, "copy", NULL, NULL), 0);
	run_until(run, CONTROL_END);
	cr_assert_gt(run->rc_cnt, 0);
	return (int)run->rc[run->rc_cnt - 1];
}

static void write_at(int dir, const char *path, mode_t mode, const char *text)
{
	_cleanup_close_ int fd = openat(dir, path, O_WRONLY | O_CREAT, 0600);

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	cr_assert_eq(fchmod(fd, mode), 0);
}

/* A folder of the host for /in; removed by the test. */
static int make_tree(char path[static 32])
{
	int fd;

	snprintf(path, 32, "/tmp/tree-XXXXXX");
	cr_assert_not_null(mkdtemp(path));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	return fd;
}

Test(init, copies_files_folders_and_links_as_they_are)
{
	char path[32];
	_cleanup_close_ int dir = -1;
	struct run run;

	RUN_NEEDS_ROOT();
	dir = make_tree(path);
	write_at(dir, "plain", 0640 | 0004, "plain\n");
	write_at(dir, "tool", 04755, "#!/bin/sh\necho ran\n");
	write_at(dir, "empty", 0444, "");
	cr_assert_eq(mkdirat(dir, "folder", 0700), 0);
	write_at(dir, "folder/inner", 0644, "inner\n");
	cr_assert_eq(fchmodat(dir, "folder", 0555, 0), 0);
	cr_assert_eq(symlinkat("/etc/shadow", dir, "away"), 0);
	cr_assert_eq(symlinkat("folder/inner", dir, "link"), 0);
	cr_assert_eq(symlinkat("nowhere", dir, "dangling"), 0);
	cr_assert_eq(mkfifoat(dir, "fifo", 0644), 0);
	open_with(&run, path);
	cr_expect_eq(run_copy(&run), 0, "%s", run.output);
	cr_expect_not_null(strstr(run.output, "left out 1 files"), "%s", run.output);
	cr_expect_eq(run_shell(&run,
			       "stat -c '%n %A' plain tool empty folder folder/inner away; "
			       "readlink away link dangling; cat plain link; ./tool; ls fifo"),
		     2);
	cr_expect_not_null(strstr(run.output, "plain -rw-r--r--\n"
					      "tool -rwxr-xr-x\n"
					      "empty -r--r--r--\n"
					      "folder dr-xr-xr-x\n"
					      "folder/inner -rw-r--r--\n"
					      "away lrwxrwxrwx\n"
					      "/etc/shadow\nfolder/inner\nnowhere\n"
					      "plain\ninner\nran\n"),
			   "%s", run.output);
	run_end(&run);
	cr_expect_eq(remove_tree_at(AT_FDCWD, path), 0);
}

Test(init, says_what_it_could_not_copy_and_copies_the_rest)
{
	char path[32];
	_cleanup_close_ int dir = -1;
	struct run run;

	RUN_NEEDS_ROOT();
	dir = make_tree(path);
	write_at(dir, "private", 0600, "root's\n");
	write_at(dir, "public", 0644, "public\n");
	open_with(&run, path);
	cr_expect_eq(run_copy(&run), 1);
	cr_expect_not_null(strstr(run.output, "copy: private: Permission denied"), "%s",
			   run.output);
	cr_expect_eq(run_shell(&run, "ls; cat public"), 0);
	cr_expect_not_null(strstr(run.output, "\npublic\npublic\n"), "%s", run.output);
	run_end(&run);
	cr_expect_eq(remove_tree_at(AT_FDCWD, path), 0);
}

Test(init, copies_into_a_full_work_folder_with_an_error)
{
	struct run run;

	RUN_NEEDS_ROOT();
	run_prepare(&run);
	run.config.work_bytes = 1 << 20;
	run.binds[run.config.binds_cnt++] = (struct sandbox_bind){"/usr/bin", "/in", false};
	cr_assert_eq(run_create(&run), 0, "%s", run.err.text);
	run_start(&run);
	cr_expect_eq(run_copy(&run), 1);
	cr_expect_not_null(strstr(run.output, "No space left on device"), "%s", run.output);
	run_end(&run);
}

Test(init, copies_nothing_when_there_is_no_in)
{
	struct run run;

	RUN_NEEDS_ROOT();
	open_with(&run, NULL);
	cr_expect_eq(run_copy(&run), 0);
	cr_expect_eq(run_shell(&run, "rmdir /work 2>/dev/null; [ -z \"$(ls -A /work)\" ]"), 0);
	run_end(&run);
}

Test(init, copies_tens_of_thousands_of_files)
{
	char path[32], name[64];
	_cleanup_close_ int dir = -1;
	struct run run;

	RUN_NEEDS_ROOT();
	dir = make_tree(path);
	for (int i = 0; i < TREE_FILES; i++) {
		snprintf(name, sizeof(name), "d%d", i / 100);
		if (i % 100 == 0)
			cr_assert_eq(mkdirat(dir, name, 0755), 0);
		snprintf(name, sizeof(name), "d%d/f%d", i / 100, i);
		write_at(dir, name, 0644, name);
	}
	open_with(&run, path);
	cr_expect_eq(run_copy(&run), 0, "%s", run.output);
	cr_expect_eq(run_shell(&run, "find . -type f | wc -l; cat d200/f20010"), 0);
	cr_expect_not_null(strstr(run.output, "\n20011\nd200/f20010"), "%s", run.output);
	run_end(&run);
	cr_expect_eq(remove_tree_at(AT_FDCWD, path), 0);
}

Test(init, bounds_the_depth_of_what_it_copies)
{
	char path[32];
	_cleanup_close_ int top = -1;
	struct run run;
	int dir;

	RUN_NEEDS_ROOT();
	top = make_tree(path);
	dir = dup(top);
	for (int i = 0; i < TREE_DEPTH; i++) {
		int next;

		cr_assert_eq(mkdirat(dir, "d", 0755), 0);
		next = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(dir);
		dir = next;
	}
	close(dir);
	open_with(&run, path);
	cr_expect_eq(run_copy(&run), 1);
	cr_expect_not_null(strstr(run.output, "copy: d: Too many levels"), "%s", run.output);
	run_end(&run);
	cr_expect_eq(remove_tree_at(AT_FDCWD, path), 0);
}

Test(init, runs_a_phase_in_its_folder_with_the_variables_of_pid_1)
{
	const char *argv[] = {"sh",  "-c", "pwd; echo \"$A-$B-$HOME-$#-$1-$2\"", "name", "",
			      "x y", NULL};
	struct run run;
	char wanted[256];

	RUN_NEEDS_ROOT();
	run_prepare(&run);
	run.envp[2] = "A=2 3";
	run.envp[3] = "B=";
	cr_assert_eq(run_create(&run), 0, "%s", run.err.text);
	run_start(&run);
	cr_expect_eq(run_command(&run, argv), 0);
	snprintf(wanted, sizeof(wanted), "QP-PHASE run\n/work\n2 3--%s-2--x y\nQP-RC run 0\n",
		 run.persona.home);
	cr_expect_str_eq(run.output, wanted);
	run_end(&run);
}

Test(init, reports_statuses_signals_and_commands_that_are_not_there)
{
	static const char *const missing[] = {"no-such-command", NULL};
	static const char *const folder[] = {"/usr", NULL};
	struct run run;

	RUN_NEEDS_ROOT();
	open_with(&run, NULL);
	cr_expect_eq(run_shell(&run, "exit 3"), 3);
	cr_expect_eq(run_shell(&run, "kill -SEGV $$"), 128 + SIGSEGV);
	cr_expect_eq(run_command(&run, missing), 127);
	cr_expect_eq(run_command(&run, folder), 126);
	run_end(&run);
}

Test(init, gives_a_phase_three_standard_descriptors_and_the_data_pipe)
{
	struct run run;

	RUN_NEEDS_ROOT();
	open_with(&run, NULL);
	/* ls itself has the folder open as 4. */
	cr_expect_eq(run_shell(&run, "exec ls /proc/self/fd"), 0);
	cr_expect_not_null(strstr(run.output, "QP-PHASE run\n0\n1\n2\n3\n4\nQP-RC"), "%s",
			   run.output);
	cr_expect_eq(run_shell(&run, "printf 'a\\0b' >&3; readlink /proc/self/fd/0"), 0);
	cr_expect_eq(run.data_len, 3);
	cr_expect_eq(memcmp(run.data, "a\0b", 3), 0);
	cr_expect_not_null(strstr(run.output, "\n/dev/null\n"), "%s", run.output);
	run_end(&run);
}

Test(init, relays_data_whole_and_in_order)
{
	struct run run;
	size_t len = 0;

	RUN_NEEDS_ROOT();
	open_with(&run, NULL);
	cr_expect_eq(
		run_shell(&run, "i=0; while [ $i -lt 100003 ]; do echo $i; i=$((i+1)); done >&3"),
		0);
	for (int i = 0; i < 100003; i++) {
		char line[16];
		size_t line_len = (size_t)snprintf(line, sizeof(line), "%d\n", i);

		cr_assert_leq(len + line_len, run.data_len);
		cr_assert_eq(memcmp(run.data + len, line, line_len), 0, "at line %d", i);
		len += line_len;
	}
	cr_expect_eq(len, run.data_len);
	run_end(&run);
}

Test(init, ends_a_phase_with_its_process_though_a_child_lives_on)
{
	struct run run;

	RUN_NEEDS_ROOT();
	open_with(&run, NULL);
	/* It keeps the data pipe open, too. */
	cr_expect_eq(run_shell(&run, "setsid sleep 1000 & exit 5"), 5);
	/* It may not have become that program yet. */
	cr_expect_eq(run_shell(&run, "until grep -qsx sleep /proc/[0-9]*/comm; do :; done; "
				     "for p in /proc/[0-9]*; do cat $p/comm; done"),
		     0);
	cr_expect_not_null(strstr(run.output, "\nsleep\n"), "%s", run.output);
	run_finish(&run, 0);
	cr_expect_eq(run.stragglers, 1);
	expect_text(run.status, "exitCode", "0");
	run_end(&run);
}

Test(init, waits_for_stragglers_no_longer_than_they_live)
{
	struct timespec begin, end;
	struct run run;

	RUN_NEEDS_ROOT();
	open_with(&run, NULL);
	cr_expect_eq(run_shell(&run, "sleep 0.5 & exit 0"), 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	run_finish(&run, 50);
	clock_gettime(CLOCK_MONOTONIC, &end);
	cr_expect_lt(end.tv_sec - begin.tv_sec, 40);
	cr_expect_eq(run.stragglers, 0);
	run_end(&run);
}

Test(init, reaps_orphans_while_a_phase_runs)
{
	struct run run;

	RUN_NEEDS_ROOT();
	open_with(&run, NULL);
	cr_expect_eq(run_shell(&run, "for i in 1 2 3 4 5 6 7; do (sleep 0 & ) ; done; sleep 0.3; "
				     "grep -c '^State:.Z' /proc/[0-9]*/status | grep -v ':0$'"),
		     1, "%s", run.output);
	run_end(&run);
}

Test(init, ends_with_everything_when_the_channel_does)
{
	struct run run;

	RUN_NEEDS_ROOT();
	open_with(&run, NULL);
	cr_expect_eq(run_shell(&run, "setsid sleep 1000 >/dev/null 2>&1 & exit 0"), 0);
	close(steal_fd(&run.control));
	run.finished = true;
	while (sandbox_exit_status(run.sandbox, &run.status) == -EAGAIN)
		run_until(&run, CONTROL_END);
	expect_text(run.status, "exitCode", "70");
	run_end(&run);
}

Test(init, ends_at_a_message_that_the_protocol_does_not_have)
{
	static const char *const messages[] = {"",    "hello", "phase", "phase\0other",
					       "env", "finish"};
	static const size_t lens[] = {1, 5, 5, 11, 3, 6};

	RUN_NEEDS_ROOT();
	for (size_t i = 0; i < 6; i++) {
		struct run run;

		open_with(&run, NULL);
		cr_assert_eq(send(run.control, messages[i], lens[i], 0), (ssize_t)lens[i]);
		while (sandbox_exit_status(run.sandbox, &run.status) == -EAGAIN)
			run_until(&run, CONTROL_END);
		expect_text(run.status, "exitCode", "70");
		run_end(&run);
	}
}

Test(init, does_nothing_when_it_is_not_pid_1)
{
	char path[PATH_MAX], command[PATH_MAX + 16];

	run_find_init(path);
	snprintf(command, sizeof(command), "%s 3<&0", path);
	cr_expect_eq(WEXITSTATUS(system(command)), 70);
}
