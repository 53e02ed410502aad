// SPDX-License-Identifier: Apache-2.0
/* Paths over links that the package made: what is beyond doubt, and what is not. */
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

TestSuite(decode_links, .init = begin, .fini = tidy);

/* One side of a call; two of them around those of another process overlap with it. */
static void ev_side(uint16_t type, uint32_t pid, enum qp_call_id call, uint64_t flags,
		    const char *one, const char *other)
{
	struct building b =
		begin_call(s, type, pid, call, 0,
			   ARGS((uint64_t)AT_FDCWD, 0x7000, (uint64_t)AT_FDCWD, 0x7100, flags));
	bool at = call == QP_CALL_ID_renameat2 || call == QP_CALL_ID_linkat;

	add_string(&b, at ? 1 : 0, one);
	if (other)
		add_string(&b, at ? 3 : 1, other);
	emit(s, &b);
}

static void ev_enter(uint32_t pid, enum qp_call_id call, const char *one, const char *other)
{
	ev_side(QP_EVENT_ENTER, pid, call, 0, one, other);
}

static void ev_leave(uint32_t pid, enum qp_call_id call, const char *one, const char *other)
{
	ev_side(QP_EVENT_CALL, pid, call, 0, one, other);
}

static void ev_exchange(uint32_t pid, const char *one, const char *other)
{
	ev_side(QP_EVENT_ENTER, pid, QP_CALL_ID_renameat2, 2, one, other);
	ev_side(QP_EVENT_CALL, pid, QP_CALL_ID_renameat2, 2, one, other);
}

static void ev_rename(uint32_t pid, const char *from, const char *to)
{
	ev_two_paths(s, pid, QP_CALL_ID_rename, 0, from, to);
}

static void add_resolved(const char *path)
{
	add_json(s, LOG_RECORD_RESOLVED,
		 json_pack("{s:i, s:I, s:i, s:s, s:b}", "cpu", 0, "seq", (json_int_t)s->last_seq,
			   "role", 0, "path", path, "exists", 0));
}

/* What came of the only chmod. */
static void expect_meta(const char *path, enum observation_outcome outcome)
{
	const struct observation *o;

	exec_ends(s, 0, &facts);
	o = only(&facts, OBSERVATION_FILE_META);
	cr_expect_str_eq(o->path, path);
	cr_expect_eq(o->outcome, outcome, "%s", observation_outcome_name(o->outcome));
	cr_expect_eq(facts.markers[MARKER_PATHS_RESOLVED].ok, outcome == OUTCOME_EFFECTED);
}

static void ev_chmod(const char *path)
{
	ev_by_path(s, 10, QP_CALL_ID_chmod, 0, 0, "/work", path, path);
}

/* ---- Beyond doubt ---------------------------------------------------------------------- */

Test(decode_links, a_link_that_was_made_before_leads_where_it_says)
{
	ev_symlink(s, 10, "/work/lib/a", "/work/a");
	ev_chmod("/work/a");
	expect_meta("/work/lib/a", OUTCOME_EFFECTED);
}

Test(decode_links, relative_targets_and_dots_start_where_the_link_is)
{
	ev_symlink(s, 10, "../lib", "/work/bin/here");
	ev_chmod("/work/bin/here/./x/../y");
	expect_meta("/work/lib/y", OUTCOME_EFFECTED);
}

Test(decode_links, links_to_links_are_followed_one_after_the_other)
{
	ev_symlink(s, 10, "b/deep", "/tmp/a");
	ev_symlink(s, 10, "/work/real", "/tmp/b");
	ev_chmod("/tmp/a/x");
	expect_meta("/work/real/deep/x", OUTCOME_EFFECTED);
}

Test(decode_links, a_way_out_of_the_areas_is_one)
{
	ev_symlink(s, 10, "/etc", "/work/a");
	ev_chmod("/work/a/passwd");
	expect_meta("/etc/passwd", OUTCOME_EFFECTED);
}

/* ln -sfn of old: remove, make; of today: make beside, rename over. cp -a, tar: make, move. */
Test(decode_links, a_link_that_was_replaced_leads_where_the_last_one_says)
{
	ev_symlink(s, 10, "/work/1", "/work/now");
	ev_unlink(s, 10, 0, "/work/now");
	ev_symlink(s, 10, "/work/2", "/work/now");
	ev_symlink(s, 10, "/work/3", "/work/tmp1");
	ev_rename(10, "/work/tmp1", "/work/now");
	ev_chmod("/work/now/x");
	expect_meta("/work/3/x", OUTCOME_EFFECTED);
}

Test(decode_links, a_moved_folder_takes_its_links_along)
{
	ev_symlink(s, 10, "../x", "/work/a/d/link");
	ev_rename(10, "/work/a", "/work/b");
	ev_chmod("/work/b/d/link");
	expect_meta("/work/b/x", OUTCOME_EFFECTED);
}

Test(decode_links, a_hard_link_to_a_link_is_one)
{
	ev_symlink(s, 10, "/work/x", "/work/a");
	ev_enter(10, QP_CALL_ID_linkat, "/work/a", "/tmp/b");
	ev_leave(10, QP_CALL_ID_linkat, "/work/a", "/tmp/b");
	ev_chmod("/tmp/b");
	expect_meta("/work/x", OUTCOME_EFFECTED);
}

Test(decode_links, a_folder_where_a_link_was_is_a_folder)
{
	ev_symlink(s, 10, "/etc", "/work/a");
	ev_unlink(s, 10, 0, "/work/a");
	ev_by_path(s, 10, QP_CALL_ID_mkdir, 0, 0, "/work", "/work/a", "/work/a");
	ev_chmod("/work/a/x");
	expect_meta("/work/a/x", OUTCOME_EFFECTED);
}

Test(decode_links, a_file_that_was_moved_over_a_link_is_a_file)
{
	ev_symlink(s, 10, "/etc/passwd", "/work/a");
	ev_rename(10, "/work/b", "/work/a");
	ev_chmod("/work/a");
	expect_meta("/work/a", OUTCOME_EFFECTED);
}

Test(decode_links, what_others_do_elsewhere_meanwhile_does_not_matter)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_enter(11, QP_CALL_ID_rename, "/tmp/1", "/tmp/2");
	ev_chmod("/work/a/x");
	ev_leave(11, QP_CALL_ID_rename, "/tmp/1", "/tmp/2");
	expect_meta("/work/lib/x", OUTCOME_EFFECTED);
}

Test(decode_links, the_collector_that_found_the_same_agrees)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_chmod("/work/a/x");
	add_resolved("/work/lib/x");
	expect_meta("/work/lib/x", OUTCOME_EFFECTED);
}

Test(decode_links, a_change_that_failed_is_none)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_enter(10, QP_CALL_ID_chmod, "/work/a/x", NULL);
	ev_by_path(s, 11, QP_CALL_ID_unlink, -EPERM, 0, "/work", "/work/a", "/work/a");
	ev_leave(10, QP_CALL_ID_chmod, "/work/a/x", NULL);
	expect_meta("/work/lib/x", OUTCOME_EFFECTED);
}

/* ---- Not beyond doubt ------------------------------------------------------------------ */

Test(decode_links, the_collector_that_found_something_else_is_heard)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_chmod("/work/a/x");
	add_resolved("/etc/x");
	expect_meta("/etc/x", OUTCOME_UNDETERMINED);
}

/* Each change of the name that ends during the call. */
Test(decode_links, a_link_that_another_changes_meanwhile_may_lead_elsewhere)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_enter(10, QP_CALL_ID_chmod, "/work/a/x", NULL);
	ev_unlink(s, 11, 0, "/work/a");
	ev_symlink(s, 11, "/etc", "/work/a");
	ev_unlink(s, 11, 0, "/work/a");
	ev_symlink(s, 11, "/work/lib", "/work/a");
	ev_leave(10, QP_CALL_ID_chmod, "/work/a/x", NULL);
	expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, a_link_that_another_removes_meanwhile_may_have_been_followed)
{
	ev_symlink(s, 10, "/etc", "/work/a");
	ev_enter(10, QP_CALL_ID_chmod, "/work/a/x", NULL);
	ev_unlink(s, 11, 0, "/work/a");
	ev_leave(10, QP_CALL_ID_chmod, "/work/a/x", NULL);
	expect_meta("/work/a/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, a_change_that_has_not_returned_may_have_happened)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_symlink(s, 10, "/etc", "/work/b");
	ev_enter(11, QP_CALL_ID_rename, "/work/b", "/work/a");
	ev_chmod("/work/a/x");
	ev_leave(11, QP_CALL_ID_rename, "/work/b", "/work/a");
	expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, nor_need_there_have_been_a_link_before)
{
	ev_symlink(s, 10, "/etc", "/work/b");
	ev_enter(11, QP_CALL_ID_rename, "/work/b", "/work/a");
	ev_chmod("/work/a/x");
	ev_leave(11, QP_CALL_ID_rename, "/work/b", "/work/a");
	expect_meta("/work/a/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, a_folder_above_the_link_that_moves_meanwhile_takes_it_along)
{
	ev_symlink(s, 10, "/work/lib", "/work/d/a");
	ev_enter(10, QP_CALL_ID_chmod, "/work/d/a/x", NULL);
	ev_rename(11, "/work/d", "/work/e");
	ev_rename(11, "/work/e", "/work/d");
	ev_leave(10, QP_CALL_ID_chmod, "/work/d/a/x", NULL);
	expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, a_folder_above_that_is_about_to_move_does_so_too)
{
	ev_symlink(s, 10, "/work/lib", "/work/d/a");
	ev_enter(11, QP_CALL_ID_rename, "/work/d", "/work/e");
	ev_chmod("/work/d/a/x");
	ev_leave(11, QP_CALL_ID_rename, "/work/d", "/work/e");
	expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, names_that_changed_places_are_not_followed_up)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_symlink(s, 10, "/etc", "/work/b");
	ev_exchange(11, "/work/a", "/work/b");
	ev_chmod("/work/a/x");
	expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, a_folder_and_a_link_that_change_places_meanwhile_and_back)
{
	ev_symlink(s, 10, "/etc", "/work/b");
	ev_enter(10, QP_CALL_ID_chmod, "/work/a/x", NULL);
	ev_exchange(11, "/work/a", "/work/b");
	ev_exchange(11, "/work/a", "/work/b");
	ev_leave(10, QP_CALL_ID_chmod, "/work/a/x", NULL);
	expect_meta("/work/a/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, two_changes_at_one_time_leave_it_open_which_came_first)
{
	ev_symlink(s, 10, "/work/1", "/work/b");
	ev_enter(10, QP_CALL_ID_rename, "/work/b", "/work/a");
	ev_symlink(s, 11, "/etc", "/work/c");
	ev_rename(11, "/work/c", "/work/a");
	ev_leave(10, QP_CALL_ID_rename, "/work/b", "/work/a");
	ev_chmod("/work/a/x");
	expect_meta("/work/1/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, a_target_that_changed_while_the_link_was_made_is_not_known)
{
	ev_enter(10, QP_CALL_ID_symlink, "/work/lib", "/work/a");
	ev_leave(10, QP_CALL_ID_symlink, "/etc", "/work/a");
	ev_chmod("/work/a/x");
	exec_ends(s, 0, &facts);
	cr_expect_eq(only(&facts, OBSERVATION_FILE_META)->outcome, OUTCOME_UNDETERMINED);
}

Test(decode_links, one_change_of_an_unknown_place_puts_all_links_in_doubt)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_chmod("/work/a/x");
	ev_by_path(s, 11, QP_CALL_ID_unlink, 0, 0, "/work", "/work/y", "/work/a");
	expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, so_does_one_that_never_returned)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_chmod("/work/a/x");
	ev_enter(11, QP_CALL_ID_unlink, "/work/y", NULL);
	expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, so_does_a_removed_name_that_is_still_there)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_chmod("/work/a/x");
	ev_unlink(s, 11, 0, "/tmp/x");
	add_json(s, LOG_RECORD_RESOLVED,
		 json_pack("{s:i, s:I, s:i, s:s, s:b}", "cpu", 0, "seq", (json_int_t)s->last_seq,
			   "role", 0, "path", "/tmp/x", "exists", 1));
	expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
}

Test(decode_links, so_does_every_change_of_mounts)
{
	static const struct {
		enum qp_call_id call;
		uint64_t arg;
	} calls[] = {{QP_CALL_ID_mount, 0x7000},    {QP_CALL_ID_umount2, 0x7000},
		     {QP_CALL_ID_move_mount, 5},    {QP_CALL_ID_pivot_root, 0x7000},
		     {QP_CALL_ID_setns, 5},	    {QP_CALL_ID_unshare, 0x20000},
		     {QP_CALL_ID_io_uring_setup, 8}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (i) {
			run_facts_clear(&facts);
			begin();
		}
		ev_symlink(s, 10, "/work/lib", "/work/a");
		ev_chmod("/work/a/x");
		ev_call(s, 11, calls[i].call, 0, ARGS(calls[i].arg));
		expect_meta("/work/lib/x", OUTCOME_UNDETERMINED);
	}
}

Test(decode_links, a_mount_that_was_refused_changes_nothing)
{
	ev_symlink(s, 10, "/work/lib", "/work/a");
	ev_chmod("/work/a/x");
	ev_blocked(s, 11, QP_CALL_ID_mount, -EPERM, ARGS(0x7000));
	expect_meta("/work/lib/x", OUTCOME_EFFECTED);
}

Test(decode_links, behind_a_changed_root_nothing_is_worked_out)
{
	struct building b;

	ev_symlink(s, 10, "/lib", "/work/jail/a");
	b = begin_call(s, QP_EVENT_ENTER, 10, QP_CALL_ID_chmod, 0, ARGS(0x7000));
	add_string(&b, 0, "/a/x");
	add_path_full(&b, QP_ROLE_ROOT, "/work/jail", 0, 3, S_IFDIR | 0755);
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_chmod, 0, ARGS(0x7000));
	add_string(&b, 0, "/a/x");
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_expect_eq(only(&facts, OBSERVATION_FILE_META)->outcome, OUTCOME_UNDETERMINED);
}

Test(decode_links, a_circle_of_links_leads_nowhere_that_is_known)
{
	ev_symlink(s, 10, "/work/b", "/work/a");
	ev_symlink(s, 10, "/work/a", "/work/b");
	ev_chmod("/work/a");
	exec_ends(s, 0, &facts);
	cr_expect_eq(only(&facts, OBSERVATION_FILE_META)->outcome, OUTCOME_UNDETERMINED);
}

Test(decode_links, a_link_into_proc_says_not_whose)
{
	ev_symlink(s, 10, "/proc/self/root/etc", "/work/a");
	ev_chmod("/work/a/x");
	exec_ends(s, 0, &facts);
	cr_expect_eq(only(&facts, OBSERVATION_FILE_META)->outcome, OUTCOME_UNDETERMINED);
}
