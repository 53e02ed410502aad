// SPDX-License-Identifier: Apache-2.0
#include "tests/collector/events.h"

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

TestSuite(decode_exec, .init = begin, .fini = tidy);

static void exec_failed(uint32_t pid, const char *asked, int error)
{
	struct building b = begin_call(s, QP_EVENT_CALL, pid, QP_CALL_ID_execve, -error,
				       ARGS(0x7000, 0x7100, 0x7200));

	add_string(&b, 0, asked);
	add_field(&b, QP_FIELD_ARGV, 1, 0, "tool\0-v", 8);
	emit(s, &b);
}

Test(decode_exec, empty_arguments_are_kept)
{
	struct qp_exec body = {.old_tid = OUTSIDE + 11};
	struct building b = begin_event(s, QP_EVENT_EXEC, 11, &body, sizeof(body));

	add_path(&b, QP_ROLE_EXE, "/usr/bin/echo");
	add_field(&b, QP_FIELD_ARGV, 0, 0, "echo\0a\0\0", 8);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_json(extra(nth(&facts, OBSERVATION_SPAWN, 1), "argv"), "['echo', 'a', '']");
}

Test(decode_exec, the_file_the_kernel_runs_is_told_and_what_was_asked_where_it_differs)
{
	const struct observation *o;

	ev_exec_full(s, 11, "/usr/bin/dash", 99, 0, 0, "/work", "./install.sh", "/bin/sh",
		     "/bin/sh|./install.sh");
	exec_ends(s, 0, &facts);
	o = nth(&facts, OBSERVATION_SPAWN, 1);
	cr_assert_str_eq(o->exe, "/usr/bin/dash");
	cr_assert_str_eq(o->asked, "./install.sh");
	assert_json(extra(o, "interp"), "'/bin/sh'");
}

Test(decode_exec, lookups_along_the_path_before_a_success_are_nothing)
{
	exec_failed(11, "/usr/local/bin/tool", ENOENT);
	exec_failed(11, "/usr/sbin/tool", EACCES);
	ev_exec(s, 11, "/usr/bin/tool", "/work", "tool|-v");
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_SPAWN), 2);
	cr_assert_eq(nth(&facts, OBSERVATION_SPAWN, 1)->outcome, OUTCOME_EFFECTED);
}

Test(decode_exec, lookups_without_a_success_are_one_attempt)
{
	const struct observation *o;

	exec_failed(11, "/usr/local/bin/tool", ENOENT);
	exec_failed(11, "/usr/bin/tool", ENOENT);
	exec_failed(11, "/bin/tool", ENOENT);
	ev_exit(s, 11, 127);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_SPAWN), 2);
	o = nth(&facts, OBSERVATION_SPAWN, 1);
	cr_assert_eq(o->outcome, OUTCOME_ATTEMPTED);
	cr_assert_eq(o->pid, 11);
	cr_assert_str_eq(o->asked, "/bin/tool");
	assert_json(o->extra, "{'argv': ['tool', '-v'], 'errno': 'ENOENT', 'lookups': 3}");
}

Test(decode_exec, a_success_of_another_name_leaves_the_attempt)
{
	exec_failed(11, "/opt/secret-tool", ENOENT);
	ev_exec(s, 11, "/usr/bin/true", "/work", "true");
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_SPAWN), 3);
	cr_assert_str_eq(nth(&facts, OBSERVATION_SPAWN, 1)->asked, "/opt/secret-tool");
}

Test(decode_exec, a_file_made_in_the_run_and_run_was_brought)
{
	ev_open(s, 10, "/tmp/a", O_WRONLY | O_CREAT, QP_PATH_CREATED, 77);
	/* Under another name: it is the same file. */
	ev_two_paths(s, 10, QP_CALL_ID_rename, 0, "/tmp/a", "/tmp/b");
	ev_exec_full(s, 11, "/tmp/b", 77, 0, 0, "/work", "/tmp/b", "/tmp/b", "b");
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_EXEC_BROUGHT)->path, "/tmp/b");
	cr_assert_eq(only(&facts, OBSERVATION_EXEC_BROUGHT)->pid, 11);
}

Test(decode_exec, a_script_made_in_the_run_was_brought_too)
{
	ev_open(s, 10, "/work/a.sh", O_WRONLY | O_CREAT, QP_PATH_CREATED, 77);
	ev_exec_full(s, 11, "/usr/bin/dash", 99, 0, 0, "/work", "./a.sh", "/bin/sh",
		     "/bin/sh|./a.sh");
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_EXEC_BROUGHT)->path, "/work/a.sh");
}

Test(decode_exec, a_program_that_the_dynamic_loader_is_given_was_brought_too)
{
	static const char loader[] = "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2";

	ev_open(s, 10, "/tmp/made", O_WRONLY | O_CREAT, QP_PATH_CREATED, 77);
	ev_exec(s, 11, loader, "/tmp", "ld|--library-path|/lib|--inhibit-cache|made");
	ev_fork(s, 10, 12);
	ev_exec(s, 12, loader, "/tmp", "ld|--argv0|made|/usr/bin/true");
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_EXEC_BROUGHT)->path, "/tmp/made");
	cr_assert_eq(only(&facts, OBSERVATION_EXEC_BROUGHT)->pid, 11);
}

Test(decode_exec, a_script_whose_folder_moved_is_known_when_it_is_opened)
{
	ev_open(s, 10, "/work/x/a.sh", O_WRONLY | O_CREAT, QP_PATH_CREATED, 77);
	ev_two_paths(s, 10, QP_CALL_ID_rename, 0, "/work/x", "/work/y");
	ev_exec_full(s, 11, "/usr/bin/dash", 99, 0, 0, "/work", "y/a.sh", "/bin/sh",
		     "/bin/sh|y/a.sh");
	ev_open(s, 11, "/work/y/a.sh", O_RDONLY, 0, 77);
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_EXEC_BROUGHT)->path, "/work/y/a.sh");
}

Test(decode_exec, a_shipped_file_is_shipped_under_a_new_link_or_name)
{
	/* The copy phase made it; the package links and renames it, as esbuild does. */
	ev_two_paths(s, 10, QP_CALL_ID_link, 0, "/work/node_modules/e/bin/e", "/work/tmp");
	ev_two_paths(s, 10, QP_CALL_ID_rename, 0, "/work/tmp", "/work/node_modules/f/bin/e");
	ev_exec_full(s, 11, "/work/node_modules/f/bin/e", 500, 0, 0, "/work",
		     "/work/node_modules/f/bin/e", "/work/node_modules/f/bin/e", "e|--version");
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_EXEC_BROUGHT), 0);
}

Test(decode_exec, memory_and_deleted_files_that_are_run_were_brought)
{
	ev_exec_full(s, 11, "memfd:x", 5, QP_PATH_NOT_A_FS | QP_PATH_DETACHED, QP_EXEC_MEMFD,
		     "/work", "/dev/fd/3", "/dev/fd/3", "x");
	ev_exec_full(s, 11, "/tmp/gone", 6, QP_PATH_DELETED, QP_EXEC_MEMFD, "/work",
		     "/proc/self/exe", "/proc/self/exe", "x");
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_EXEC_BROUGHT), 2);
	cr_assert_str_eq(nth(&facts, OBSERVATION_EXEC_BROUGHT, 0)->path, "memfd:x");
}

Test(decode_exec, a_shared_mapping_that_is_writable_and_executable_brings_code)
{
	struct building b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_mmap, 0x70000000,
				       ARGS(0, 4096, 7, 1, 6, 0));

	add_path_full(&b, 4, "/tmp/jit", 0, 71, S_IFREG | 0600);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_EXEC_BROUGHT)->path, "/tmp/jit");
}

Test(decode_exec, a_process_that_npm_started_is_of_the_package_it_starts_in)
{
	exec_ends(s, 0, &facts);
	run_facts_clear(&facts);
	script_begin(s, "run");
	init_begins(s);
	phase_begins(s, REBUILD, 33);
	ev_exec(s, 33, "/usr/bin/node", "/work", "node|rebuild.js");
	ev_open(s, 33, "/etc/npm", O_WRONLY, 0, 7);
	ev_open(s, 33, "/home/ann/.npm/_logs/x", O_WRONLY | O_CREAT, QP_PATH_CREATED, 8);
	ev_fork(s, 33, 40);
	ev_exec(s, 40, "/usr/bin/sh", "/work/node_modules/a/node_modules/@b/c", "sh|-c|make");
	ev_fork(s, 40, 41);
	ev_exec(s, 41, "/usr/bin/make", "/work/node_modules/other", "make");
	script_decode(s, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_SPAWN), 2);
	cr_assert_str_eq(nth(&facts, OBSERVATION_SPAWN, 0)->package, "@b/c");
	cr_assert_str_eq(nth(&facts, OBSERVATION_SPAWN, 1)->package, "@b/c", "inherited");
	cr_assert_eq(only(&facts, OBSERVATION_FILE_WRITE)->actor, ACTOR_NPM);
	cr_assert_str_eq(only(&facts, OBSERVATION_FILE_WRITE)->path, "/etc/npm");
	cr_assert_eq(count(&facts, OBSERVATION_FILE_CREATE), 0, "npm within the areas");
}

Test(decode_exec, a_runtimes_own_work_before_pid_1_begins_is_nothing)
{
	exec_ends(s, 0, &facts);
	run_facts_clear(&facts);
	script_begin(s, "exec");
	ev_open(s, 1, "/proc/1/attr/exec", O_WRONLY, 0, 7);
	ev_by_path(s, 1, QP_CALL_ID_mkdir, 0, 0, "/", "/proc", "/proc");
	ev_call(s, 1, QP_CALL_ID_unshare, 0, ARGS(0x20000));
	init_begins(s);
	ev_open(s, 1, "/etc/late", O_WRONLY, 0, 8);
	script_decode(s, &facts);
	cr_assert_eq(facts.observations.cnt, 1 + MARKER_CNT);
	cr_assert_eq(facts.observations.items[0].actor, ACTOR_STAGE);
}

Test(decode_exec, who_outlives_the_phase_is_told_of_and_who_ends_with_it_is_not)
{
	ev_fork(s, 10, 12);
	phase_ends(s, RUN, 0);
	ev_exit(s, 12, 0);
	s->now += 5000000000ULL;
	ev_exit(s, 11, 0);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_LIMIT), 2);
	cr_assert_eq(nth(&facts, OBSERVATION_LIMIT, 0)->pid, 10, "ended seconds later");
	cr_assert_eq(nth(&facts, OBSERVATION_LIMIT, 1)->pid, 11);
	assert_json(extra(nth(&facts, OBSERVATION_LIMIT, 1), "what"), "'outlived-phase'");
}

Test(decode_exec, a_process_of_unknown_origin_is_the_packages_once_that_has_begun)
{
	ev_exec(s, 77, "/usr/bin/stranger", "/work", "stranger");
	exec_ends(s, 0, &facts);
	cr_assert_eq(nth(&facts, OBSERVATION_SPAWN, 1)->pid, 77);
}
