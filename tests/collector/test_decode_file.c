// SPDX-License-Identifier: Apache-2.0
#include "tests/collector/events.h"

static struct script script;
static struct script *const s = &script;
static struct run_facts facts;

static void begin(void)
{
	exec_begins(s);
}

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode_file, .init = begin, .fini = tidy);

static void add_resolved(uint64_t seq, int role, const char *path, bool exists)
{
	add_json(s, LOG_RECORD_RESOLVED,
		 json_pack("{s:i, s:I, s:i, s:s, s:b}", "cpu", 0, "seq", (json_int_t)seq, "role",
			   role, "path", path, "exists", exists));
}

static void assert_file(enum observation_kind kind, const char *path,
			enum observation_outcome outcome)
{
	const struct observation *o = only(&facts, kind);

	cr_assert_str_eq(o->path, path);
	cr_assert_eq(o->outcome, outcome, "%s", observation_outcome_name(o->outcome));
	cr_assert_eq(o->actor, ACTOR_PACKAGE);
	cr_assert_eq(o->pid, 10);
}

Test(decode_file, an_open_for_writing_is_a_write_of_the_kernels_path)
{
	ev_open(s, 10, "/etc/passwd", O_WRONLY, 0, 7);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_WRITE, "/etc/passwd", OUTCOME_EFFECTED);
	cr_assert(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_file, an_open_that_made_the_file_is_a_create_and_its_writes_are_no_more)
{
	struct building b;

	ev_open(s, 10, "/work/new", O_RDWR | O_CREAT, QP_PATH_CREATED, 7);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_write, 5, ARGS(5, 0x7000, 5));
	add_path_full(&b, 0, "/work/new", 0, 7, S_IFREG | 0644);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_CREATE, "/work/new", OUTCOME_EFFECTED);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_WRITE), 0);
}

Test(decode_file, truncating_with_a_read_only_open_is_a_write)
{
	ev_open(s, 10, "/etc/hosts", O_RDONLY | O_TRUNC, 0, 7);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_WRITE, "/etc/hosts", OUTCOME_EFFECTED);
}

Test(decode_file, an_open_by_path_only_or_for_reading_is_nothing)
{
	ev_open(s, 10, "/etc/hosts", O_RDONLY, 0, 7);
	ev_open(s, 10, "/etc/hosts", O_PATH | O_RDWR, 0, 7);
	ev_open_failed(s, 10, "/work", "/etc/nothing", O_RDONLY, ENOENT);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_WRITE) + count(&facts, OBSERVATION_FILE_READ),
		     0);
}

Test(decode_file, a_refused_write_is_an_attempt_with_its_error)
{
	ev_open_failed(s, 10, "/work", "/root/.canary", O_WRONLY | O_CREAT | O_TRUNC, EACCES);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_WRITE, "/root/.canary", OUTCOME_ATTEMPTED);
	assert_json(extra(only(&facts, OBSERVATION_FILE_WRITE), "errno"), "'EACCES'");
	cr_assert(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_file, a_relative_name_starts_where_the_kernel_says)
{
	ev_by_path(s, 10, QP_CALL_ID_unlinkat, 0, 1, "/tmp/x", "../y/./rel", "../y/./rel");
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/tmp/y/rel", OUTCOME_EFFECTED);
}

Test(decode_file, one_observation_stands_for_many_doings_and_a_success_for_failures)
{
	ev_open_failed(s, 10, "/work", "/etc/motd", O_WRONLY, EACCES);
	for (int i = 0; i < 1003; i++)
		ev_open(s, 10, "/etc/motd", O_WRONLY, 0, 7);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_WRITE, "/etc/motd", OUTCOME_EFFECTED);
	cr_assert_null(extra(only(&facts, OBSERVATION_FILE_WRITE), "errno"));
}

Test(decode_file, a_success_after_failures_is_told_by_its_own_call)
{
	ev_by_path(s, 10, QP_CALL_ID_chown, -EPERM, 0, "/work", "/tmp/x", "/tmp/x");
	ev_by_path(s, 10, QP_CALL_ID_chmod, 0, 0, "/work", "/tmp/x", "/tmp/x");
	ev_by_path(s, 10, QP_CALL_ID_utime, -EPERM, 0, "/work", "/tmp/x", "/tmp/x");
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_META, "/tmp/x", OUTCOME_EFFECTED);
	assert_json(extra(only(&facts, OBSERVATION_FILE_META), "call"), "'chmod'");
}

Test(decode_file, a_text_that_changed_during_the_call_is_undetermined)
{
	ev_by_path(s, 10, QP_CALL_ID_unlink, 0, 0, "/work", "/tmp/a", "/etc/passwd");
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/tmp/a", OUTCOME_UNDETERMINED);
	cr_assert_not(facts.markers[MARKER_PATHS_RESOLVED].ok);
	assert_json(facts.markers[MARKER_PATHS_RESOLVED].detail, "{'unresolved': ['o2']}");
	cr_assert_str_eq(facts.observations.items[1].path, "/tmp/a");
}

Test(decode_file, a_text_that_changed_while_the_call_failed_is_an_attempt)
{
	ev_by_path(s, 10, QP_CALL_ID_unlink, -EROFS, 0, "/work", "/etc/passwd", "/tmp/a");
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/etc/passwd", OUTCOME_ATTEMPTED);
	cr_assert(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_file, an_entry_without_an_exit_is_undetermined)
{
	ev_by_path(s, 10, QP_CALL_ID_unlink, 0, 0, "/work", "/etc/passwd", NULL);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/etc/passwd", OUTCOME_UNDETERMINED);
	cr_assert_not(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_file, what_the_collector_found_is_where_a_path_led)
{
	ev_unlink(s, 10, 0, "/var/run/x");
	add_resolved(s->last_seq, 0, "/run/x", false);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/run/x", OUTCOME_EFFECTED);
}

Test(decode_file, a_name_still_there_after_its_removal_is_undetermined)
{
	ev_unlink(s, 10, 0, "/tmp/x");
	add_resolved(s->last_seq, 0, "/tmp/x", true);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/tmp/x", OUTCOME_UNDETERMINED);
	cr_assert_not(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_file, unless_the_name_was_made_again)
{
	ev_unlink(s, 10, 0, "/tmp/lock");
	add_resolved(s->last_seq, 0, "/tmp/lock", true);
	ev_open(s, 10, "/tmp/lock", O_WRONLY | O_CREAT | O_EXCL, QP_PATH_CREATED, 8);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/tmp/lock", OUTCOME_EFFECTED);
	cr_assert(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_file, dots_behind_a_link_go_up_from_where_it_leads)
{
	ev_symlink(s, 10, "/usr/lib", "/tmp/link");
	ev_unlink(s, 10, -EROFS, "/tmp/link/../bin/ls");
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/usr/bin/ls", OUTCOME_ATTEMPTED);
}

Test(decode_file, a_failed_open_through_a_link_names_where_it_leads)
{
	ev_symlink(s, 10, "/etc", "/work/link");
	ev_open_failed(s, 10, "/work", "link/canary", O_WRONLY | O_CREAT, EROFS);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_WRITE, "/etc/canary", OUTCOME_ATTEMPTED);
}

Test(decode_file, a_way_over_proc_is_not_certain_by_its_text)
{
	ev_unlink(s, 10, 0, "/proc/self/root/work/x");
	exec_ends(s, 0, &facts);
	cr_assert_eq(only(&facts, OBSERVATION_FILE_DELETE)->outcome, OUTCOME_UNDETERMINED);
}

Test(decode_file, a_changed_root_is_part_of_the_path)
{
	struct building b = begin_call(s, QP_EVENT_ENTER, 10, QP_CALL_ID_unlink, 0, ARGS(0x7000));

	add_string(&b, 0, "/../../etc/x");
	add_path_full(&b, QP_ROLE_ROOT, "/tmp/jail", 0, 3, S_IFDIR | 0755);
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_unlink, 0, ARGS(0x7000));
	add_string(&b, 0, "/../../etc/x");
	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_DELETE, "/tmp/jail/etc/x", OUTCOME_EFFECTED);
}

Test(decode_file, a_rename_has_both_paths_and_a_link_its_new_name_second)
{
	ev_two_paths(s, 10, QP_CALL_ID_rename, 0, "/tmp/a", "/tmp/b");
	ev_two_paths(s, 10, QP_CALL_ID_link, -EPERM, "/etc/shadow", "/tmp/s");
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_RENAME, "/tmp/a", OUTCOME_EFFECTED);
	cr_assert_str_eq(only(&facts, OBSERVATION_FILE_RENAME)->path2, "/tmp/b");
	assert_file(OBSERVATION_FILE_LINK, "/etc/shadow", OUTCOME_ATTEMPTED);
	cr_assert_str_eq(only(&facts, OBSERVATION_FILE_LINK)->path2, "/tmp/s");
}

Test(decode_file, a_symlink_is_made_at_its_own_path_with_its_target_beside)
{
	ev_symlink(s, 10, "../../etc/passwd", "/work/a");
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_CREATE, "/work/a", OUTCOME_EFFECTED);
	assert_json(extra(only(&facts, OBSERVATION_FILE_CREATE), "target"), "'../../etc/passwd'");
}

Test(decode_file, asking_for_a_folder_that_is_there_is_no_attempt)
{
	ev_by_path(s, 10, QP_CALL_ID_mkdir, -EEXIST, 0, "/work", "/home", "/home");
	ev_by_path(s, 10, QP_CALL_ID_mkdir, -EROFS, 0, "/work", "/opt/x", "/opt/x");
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_CREATE, "/opt/x", OUTCOME_ATTEMPTED);
}

Test(decode_file, a_bad_pointer_that_failed_is_nothing_and_one_that_worked_is_unresolved)
{
	struct building b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_unlink, -EFAULT, ARGS(1));

	add_field(&b, QP_FIELD_STRING, 0, QP_FIELD_FAULT, "", 0);
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_rmdir, 0, ARGS(0x7000));
	add_field(&b, QP_FIELD_STRING, 0, QP_FIELD_FAULT, "", 0);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_null(only(&facts, OBSERVATION_FILE_DELETE)->path);
	cr_assert_eq(only(&facts, OBSERVATION_FILE_DELETE)->outcome, OUTCOME_UNDETERMINED);
	cr_assert_not(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_file, a_path_that_did_not_fit_is_unresolved)
{
	struct building b =
		begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_unlink, -ENAMETOOLONG, ARGS(0x7000));

	add_field(&b, QP_FIELD_STRING, 0, QP_FIELD_TRUNCATED, "/tmp/aaaa", 9);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_file, hostile_names_are_spelt_reversibly)
{
	ev_open(s, 10, "/etc/a\nb\\c\xff", O_WRONLY, 0, 7);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_WRITE, "/etc/a\\x0ab\\x5cc\\xff", OUTCOME_EFFECTED);
}

Test(decode_file, writes_by_sendfile_and_shared_mappings_are_writes)
{
	struct building b =
		begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_sendfile, 5, ARGS(6, 5, 0, 5));

	add_path_full(&b, 0, "/etc/a", 0, 70, S_IFREG | 0644);
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_mmap, 0x70000000,
		       ARGS(0, 4096, 3, 1, 6, 0)); /* readable and writable, shared */
	add_path_full(&b, 4, "/etc/b", 0, 71, S_IFREG | 0644);
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_copy_file_range, 5, ARGS(5, 0, 6, 0, 5, 0));
	add_path_full(&b, 2, "/etc/c", 0, 72, S_IFREG | 0644);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_WRITE), 3);
	cr_assert_str_eq(nth(&facts, OBSERVATION_FILE_WRITE, 0)->path, "/etc/a");
	cr_assert_str_eq(nth(&facts, OBSERVATION_FILE_WRITE, 1)->path, "/etc/b");
	cr_assert_str_eq(nth(&facts, OBSERVATION_FILE_WRITE, 2)->path, "/etc/c");
}

Test(decode_file, pipes_and_sockets_are_no_files)
{
	struct building b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_fchmod, 0, ARGS(1, 0600));

	add_path_full(&b, 0, "pipe", QP_PATH_NOT_A_FS | QP_PATH_DETACHED, 7, S_IFIFO);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_META), 0);
}

Test(decode_file, a_descriptor_with_no_path_at_all_means_the_descriptors_file)
{
	const uint64_t args[6] = {5, 0, 0x7000, 0};
	struct building b = begin_call(s, QP_EVENT_ENTER, 10, QP_CALL_ID_utimensat, 0, args);

	add_path_full(&b, 0, "/etc/passwd", 0, 7, S_IFREG | 0644);
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_utimensat, 0, args);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_file(OBSERVATION_FILE_META, "/etc/passwd", OUTCOME_EFFECTED);
}

Test(decode_file, within_the_areas_two_thousand_are_listed_and_the_rest_counted)
{
	char path[64];

	for (int i = 0; i < 2003; i++) {
		snprintf(path, sizeof(path), "/work/f%d", i);
		ev_open(s, 10, path, O_WRONLY | O_CREAT, QP_PATH_CREATED, 1000 + (uint64_t)i);
	}
	ev_open(s, 10, "/etc/x", O_WRONLY | O_CREAT, QP_PATH_CREATED, 999);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_CREATE), 2001);
	cr_assert_eq(facts.area_writes_total, 2003);
	cr_assert_eq(facts.area_writes_omitted, 3);
}

Test(decode_file, a_folder_with_a_similar_name_is_outside)
{
	ev_open(s, 10, "/workshop/x", O_WRONLY, 0, 7);
	exec_ends(s, 0, &facts);
	cr_assert_eq(facts.area_writes_total, 0);
	assert_file(OBSERVATION_FILE_WRITE, "/workshop/x", OUTCOME_EFFECTED);
}

Test(decode_file, credentials_that_were_read_are_told_of_and_shipped_files_are_not)
{
	ev_open(s, 10, "/home/ann/.ssh/id_ed25519", O_RDONLY, 0, 7);
	ev_open(s, 10, "/home/ann/.npmrc", O_RDWR, 0, 8);
	ev_open(s, 10, "/work/node_modules/x/.npmrc", O_RDONLY, 0, 9);
	ev_open(s, 10, "/home/ann/notes", O_RDONLY, 0, 10);
	ev_open_failed(s, 10, "/work", "/home/ann/.netrc", O_RDONLY, ENOENT);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_READ), 2);
	cr_assert_str_eq(nth(&facts, OBSERVATION_FILE_READ, 0)->path, "/home/ann/.ssh/id_ed25519");
	cr_assert_str_eq(nth(&facts, OBSERVATION_FILE_READ, 1)->path, "/home/ann/.npmrc");
	cr_assert_eq(facts.area_writes_total, 1, "the read-write open only");
}

Test(decode_file, a_decoy_is_known_by_its_path)
{
	add_json(s, LOG_RECORD_DECOYS,
		 json_pack("{s:[s], s:[]}", "files", "/home/ann/wallet.txt", "envNames"));
	ev_open(s, 10, "/home/ann/wallet.txt", O_RDONLY, 0, 7);
	exec_ends(s, 0, &facts);
	cr_assert_str_eq(only(&facts, OBSERVATION_FILE_READ)->path, "/home/ann/wallet.txt");
}

Test(decode_file, environments_and_memory_of_processes_are_sensitive)
{
	ev_open(s, 10, "/proc/10/environ", O_RDONLY, 0, 7);
	ev_open(s, 10, "/proc/1/environ", O_RDONLY, 0, 8);
	ev_open(s, 10, "/proc/10/maps", O_RDONLY, 0, 9);
	ev_open(s, 10, "/proc/10/mem", O_RDWR, 0, 10);
	ev_open(s, 10, "/proc/1/mem", O_RDWR, 0, 11);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_READ), 3);
	cr_assert_str_eq(only(&facts, OBSERVATION_TAMPER)->path, "/proc/1/mem");
}

Test(decode_file, questions_about_being_watched_are_probes_and_a_runtimes_start_is_none)
{
	ev_open(s, 10, "/proc/10/status", O_RDONLY, 0, 7);
	ev_open(s, 10, "/proc/1/cgroup", O_RDONLY, 0, 8);
	ev_open(s, 10, "/proc/10/cgroup", O_RDONLY, 0, 9);
	ev_open(s, 10, "/proc/meminfo", O_RDONLY, 0, 10);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_ENV_PROBE), 2);
}
