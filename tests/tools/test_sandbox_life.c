// SPDX-License-Identifier: Apache-2.0
/* Making and removing containers: images, refusals, crashes at any moment, what is left. */
#include "tests/tools/sandbox_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define CRASHES 25

/* Whether an entry of @folder has @part in its name. */
static bool folder_has(const char *folder, const char *part)
{
	_cleanup_dir_ DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strstr(entry->d_name, part))
			return true;
	}
	return false;
}

static bool file_has(const char *path, const char *part)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	cr_assert_eq(read_file_at(AT_FDCWD, path, 16 << 20, &text, &len), 0, "%s", path);
	return strstr(text, part);
}

/* Whether the process /proc/NAME has ended and only waits for its parent. */
static bool process_ended(const char *name)
{
	_cleanup_free_ char *text = NULL;
	const char *state;
	char path[300];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%s/stat", name);
	if (read_file_at(AT_FDCWD, path, 65536, &text, &len))
		return true;
	state = strrchr(text, ')');
	return state && (state[2] == 'Z' || state[2] == 'X');
}

/* Whether any process of the host runs in a group of the task. */
static bool process_left(const char *task_id)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	struct dirent *entry;

	while ((entry = readdir(proc))) {
		_cleanup_free_ char *text = NULL;
		char path[300];
		size_t len;

		snprintf(path, sizeof(path), "/proc/%s/cgroup", entry->d_name);
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
		    !read_file_at(AT_FDCWD, path, 65536, &text, &len) && strstr(text, task_id) &&
		    !process_ended(entry->d_name))
			return true;
	}
	return false;
}

/* Asked of the file system, with none of the code under test. */
static void expect_nothing_left(const char *task_id)
{
	_cleanup_file_ FILE *mounts = fopen("/proc/mounts", "re");
	char line[4096], type[64], path[1024];

	cr_expect_not(folder_has("/tmp", task_id), "a folder is left");
	cr_expect_not(file_has("/proc/self/mountinfo", task_id), "a mount is left");
	cr_expect_not(process_left(task_id), "a process is left");
	while (fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*s %1023s %63s", path, type) == 2 && !strncmp(type, "cgroup", 6))
			cr_expect_not(folder_has(path, task_id), "a group is left in %s", path);
	}
}

Test(sandbox_life, leaves_nothing_and_says_what_it_removed)
{
	json_auto_t *teardown =
		json_pack("{s:{s:[]}, s:[]}", "removed", "containers", "leftoversForTask");
	const json_t *removed = json_object_get(teardown, "removed");
	struct run run;
	char name[64];

	RUN_NEEDS_ROOT();
	run_open(&run);
	cr_expect_eq(run_shell(&run, "setsid sleep 1000 >/dev/null 2>&1 & exit 0"), 0);
	cr_expect(process_left(run.task_id));
	snprintf(name, sizeof(name), "[\"%s\"]", sandbox_container(run.sandbox));
	sandbox_destroy(run.sandbox, teardown);
	run.sandbox = NULL;
	expect_nothing_left(run.task_id);
	expect_text(removed, "containers", name);
	expect_text(removed, "cgroups", name);
	cr_expect_eq(json_array_size(json_object_get(removed, "folders")), 1);
	expect_text(teardown, "leftoversForTask", "[]");
	run_end(&run);
}

Test(sandbox_life, kills_every_process_at_once)
{
	struct run run;
	struct pollfd ended;

	RUN_NEEDS_ROOT();
	run_open(&run);
	run_shell(&run, "for i in 1 2 3 4 5; do setsid sleep 1000 >/dev/null 2>&1 & done");
	cr_expect_eq(sandbox_kill(run.sandbox), 0);
	ended = (struct pollfd){.fd = sandbox_init_pidfd(run.sandbox), .events = POLLIN};
	cr_assert_eq(poll(&ended, 1, 10000), 1);
	/* The kernel ends the others before PID 1 can be waited for (zap_pid_ns_processes). */
	cr_expect_not(process_left(run.task_id));
	cr_assert_eq(sandbox_exit_status(run.sandbox, &run.status), 0);
	expect_text(run.status, "signal", "9");
	expect_text(run.status, "exitCode", "null");
	expect_text(run.status, "oomKilled", "false");
	run_end(&run);
}

/* Makes and starts a container in a child that is killed after @delay_us, wherever it is. */
static void crash_after(struct run *run, long delay_us)
{
	struct timespec delay = {.tv_nsec = delay_us * 1000};
	pid_t child = fork();

	if (!child) {
		if (!run_create(run))
			sandbox_start(run->sandbox, &run->err);
		for (;;)
			pause();
	}
	cr_assert_gt(child, 0);
	nanosleep(&delay, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

Test(sandbox_life, sweeps_what_a_crash_left_at_any_moment)
{
	static const char *const argv[] = {"/usr/bin/sleep", "1000", NULL};

	RUN_NEEDS_ROOT();
	for (int i = 0; i < CRASHES; i++) {
		json_auto_t *teardown = json_pack("{s:{}, s:[]}", "removed", "leftoversForTask");
		struct run run;

		run_prepare(&run);
		/* Unlike PID 1 of a run it does not end by itself when its starter is gone. */
		run.config.argv = argv;
		crash_after(&run, 6007L * i + 101);
		sandbox_sweep(run.task_id, teardown);
		expect_nothing_left(run.task_id);
		expect_text(teardown, "leftoversForTask", "[]");
		sandbox_sweep(run.task_id, NULL);
		run_end(&run);
	}
}

Test(sandbox_life, sweeps_only_what_is_named_for_a_task)
{
	static const char *const names[] = {"",		 "*",	      "..", "0123456789a",
					    "012345678", "ABCDEFABCD"};
	char folder[] = "/tmp/qp-fffffffff0-XXXXXX", file[64];

	cr_assert_not_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		sandbox_sweep(names[i], NULL);
	sandbox_sweep("fffffffff1", NULL);
	cr_expect_eq(access(folder, F_OK), 0);
	snprintf(file, sizeof(file), "%s/x", folder);
	cr_assert_eq(mkdir(file, 0700), 0);
	sandbox_sweep("fffffffff0", NULL);
	cr_expect_neq(access(folder, F_OK), 0);
}

Test(sandbox_life, refuses_what_it_cannot_build_and_leaves_nothing)
{
	static const char *const no_program[] = {"/nothing", NULL};
	struct run run;

	RUN_NEEDS_ROOT();
	run_prepare(&run);
	run.config.argv = no_program;
	cr_expect_lt(run_create(&run), 0);
	cr_expect_not_null(strstr(run.err.text, "/nothing"), "%s", run.err.text);
	expect_nothing_left(run.task_id);
	run_end(&run);

	run_prepare(&run);
	run.binds[1].source = "/no/such/file";
	cr_expect_eq(run_create(&run), -ENOENT);
	cr_expect_not_null(strstr(run.err.text, "/no/such/file"), "%s", run.err.text);
	expect_nothing_left(run.task_id);
	run_end(&run);

	run_prepare(&run);
	run.config.without_node = false;
	run.envp[0] = "PATH=/usr/share";
	cr_expect_eq(run_create(&run), -ENOENT);
	cr_expect_not_null(strstr(run.err.text, "apt-get install nodejs"), "%s", run.err.text);
	expect_nothing_left(run.task_id);
	run_end(&run);
}

/* Sends the phases that need nothing of the root but PID 1. */
static void run_own_phases(struct run *run)
{
	cr_assert_eq(control_send_phase(run->control, "copy", NULL, NULL), 0);
	cr_assert_eq(control_send_phase(run->control, "done", NULL, NULL), 0);
	run_finish(run, 0);
	cr_expect_eq(run->rc_cnt, 2);
	expect_text(run->status, "exitCode", "0");
}

Test(sandbox_life, takes_an_image_and_follows_none_of_its_links_out)
{
	char image[] = "/tmp/image-XXXXXX", outside[] = "/tmp/outside-XXXXXX", link[64];
	struct run run;

	RUN_NEEDS_ROOT();
	cr_assert_not_null(mkdtemp(image));
	cr_assert_not_null(mkdtemp(outside));
	/* As seen from the host these lead to the folder outside; inside, to nothing yet. */
	snprintf(link, sizeof(link), "%s/etc", image);
	cr_assert_eq(symlink(outside, link), 0);
	run_prepare(&run);
	run.config.rootfs = image;
	cr_expect_lt(run_create(&run), 0, "a link where a folder must be");
	expect_nothing_left(run.task_id);
	run_end(&run);
	cr_expect_eq(rmdir(outside), 0, "something was written through the link");
	cr_assert_eq(unlink(link), 0);

	run_prepare(&run);
	run.config.rootfs = image;
	cr_assert_eq(run_create(&run), 0, "%s", run.err.text);
	run_start(&run);
	cr_expect_eq(sandbox_verify(run.sandbox, &run.err), 0, "%s", run.err.text);
	cr_expect_eq(faccessat(sandbox_root_fd(run.sandbox), "etc/passwd", F_OK, 0), 0);
	run_own_phases(&run);
	run_end(&run);
	expect_nothing_left(run.task_id);
	cr_expect_eq(rmdir(image), 0, "the image itself was written to");
}

Test(sandbox_life, finds_a_runtime_and_names_the_one_it_cannot_use)
{
	_cleanup_free_ char *path = NULL, *again = NULL;
	struct qp_error err = {0};

	RUN_NEEDS_ROOT();
	cr_assert_eq(runtime_find(NULL, &path, &err), 0, "%s", err.text);
	cr_expect_eq(access(path, X_OK), 0);
	cr_assert_eq(runtime_find(path, &again, &err), 0, "%s", err.text);
	cr_expect_str_eq(path, again);
	cr_expect_eq(runtime_find("no-such-runtime", &again, &err), -ENOENT);
	cr_expect_not_null(strstr(err.text, "no-such-runtime"));
	err = (struct qp_error){0};
	cr_expect_lt(runtime_find("/bin/false", &again, &err), 0);
	cr_expect_not_null(strstr(err.text, "/bin/false"), "%s", err.text);
}
