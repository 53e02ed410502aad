// SPDX-License-Identifier: Apache-2.0
/* Paths that begin with a link to something of the caller's own, and paths that are none. */
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

TestSuite(decode_place, .init = begin, .fini = tidy);

struct own {
	uint8_t role; /* of the field that says what the link leads to */
	const char *path;
	uint16_t flags;
	uint64_t ino, ino_at_exit;
};

/* The call may be what changes the mode. */
static void add_own(struct building *b, const struct own *own, uint64_t ino, uint32_t mode)
{
	add_path_full(b, own->role, own->path, own->flags, ino, S_IFREG | mode);
}

static void ev_over_own(enum qp_call_id call, int64_t ret, const char *text, const struct own *own)
{
	const uint64_t args[6] = {0x7000};
	struct building b = begin_call(s, QP_EVENT_ENTER, 10, call, 0, args);

	add_string(&b, 0, text);
	add_own(&b, own, own->ino, 0600);
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, call, ret, args);
	add_string(&b, 0, text);
	add_own(&b, own, own->ino_at_exit, 0644);
	emit(s, &b);
}

static const struct observation *the_meta(void)
{
	exec_ends(s, 0, &facts);
	return only(&facts, OBSERVATION_FILE_META);
}

/* What C libraries do to change the rights of what they have a handle of. */
Test(decode_place, the_name_of_an_own_descriptor_is_its_file)
{
	static const char *const names[] = {"/proc/self/fd/5", "/proc/thread-self/fd/5",
					    "/dev/fd/5"};
	struct own own = {QP_ROLE_NAMED, "/work/a", 0, 7, 7};

	for (size_t i = 0; i < 3; i++)
		ev_over_own(QP_CALL_ID_chmod, 0, names[i], &own);
	cr_expect_str_eq(the_meta()->path, "/work/a");
	cr_expect_eq(only(&facts, OBSERVATION_FILE_META)->outcome, OUTCOME_EFFECTED);
	cr_assert(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_place, another_file_at_that_descriptor_afterwards_makes_it_undetermined)
{
	struct own own = {QP_ROLE_NAMED, "/work/a", 0, 7, 8};

	ev_over_own(QP_CALL_ID_chmod, 0, "/proc/self/fd/5", &own);
	cr_expect_eq(the_meta()->outcome, OUTCOME_UNDETERMINED);
}

Test(decode_place, a_name_below_an_own_descriptor_or_the_working_directory_starts_there)
{
	struct own fd = {QP_ROLE_NAMED, "/work/d", 0, 7, 7};
	struct own cwd = {QP_ROLE_CWD, "/tmp/w", 0, 7, 7};

	ev_over_own(QP_CALL_ID_chmod, 0, "/proc/self/fd/5/../e/f", &fd);
	ev_over_own(QP_CALL_ID_unlink, 0, "/proc/self/cwd//f", &cwd);
	cr_expect_str_eq(the_meta()->path, "/work/e/f");
	cr_expect_eq(only(&facts, OBSERVATION_FILE_META)->outcome, OUTCOME_EFFECTED);
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_DELETE)->path, "/tmp/w/f");
}

Test(decode_place, the_link_itself_is_what_a_removal_means)
{
	struct own own = {QP_ROLE_NAMED, "/work/a", 0, 7, 7};

	ev_over_own(QP_CALL_ID_unlink, -EPERM, "/proc/self/fd/5", &own);
	exec_ends(s, 0, &facts);
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_DELETE)->path, "/proc/self/fd/5");
}

Test(decode_place, what_begins_alike_is_another_name)
{
	static const char *const names[] = {"/proc/self/fd/", "/proc/self/fd/5x",
					    "/proc/self/cwdx/f", "/dev/fd/x"};
	struct own own = {QP_ROLE_NAMED, "/work/a", 0, 7, 7};

	for (size_t i = 0; i < 4; i++)
		ev_over_own(QP_CALL_ID_chmod, -ENOENT, names[i], &own);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_META), 4);
	for (size_t i = 0; i < 4; i++)
		cr_expect_neq(strstr("/proc/self/fd /proc/self/fd/5x /proc/self/cwdx/f /dev/fd/x",
				     nth(&facts, OBSERVATION_FILE_META, i)->path),
			      NULL);
}

/* O_TMPFILE, then the name by which open(2) tells to link it. */
Test(decode_place, a_file_without_a_name_is_linked_into_its_place)
{
	const uint64_t args[6] = {(uint64_t)AT_FDCWD, 0x7000, (uint64_t)AT_FDCWD, 0x7100,
				  AT_SYMLINK_FOLLOW};

	for (int i = 0; i < 2; i++) {
		struct building b = begin_call(s, i ? QP_EVENT_CALL : QP_EVENT_ENTER, 10,
					       QP_CALL_ID_linkat, 0, args);

		add_string(&b, 1, "/proc/self/fd/5");
		add_path_full(&b, QP_ROLE_NAMED + 1, "/tmp/#77", QP_PATH_DELETED, 77,
			      S_IFREG | 0600);
		add_string(&b, 3, "/tmp/done");
		emit(s, &b);
	}
	exec_ends(s, 0, &facts);
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_LINK)->path, "/tmp/#77");
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_LINK)->path2, "/tmp/done");
	cr_expect_eq(only(&facts, OBSERVATION_FILE_LINK)->outcome, OUTCOME_EFFECTED);
	cr_assert(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_place, a_refused_write_below_the_working_directorys_link_names_the_folder)
{
	struct building b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_openat, -EACCES,
				       ARGS((uint64_t)AT_FDCWD, 0x7000, O_WRONLY | O_CREAT));

	add_string(&b, 1, "/proc/self/cwd/x");
	add_path_full(&b, QP_ROLE_CWD, "/usr/lib", 0, 2, S_IFDIR | 0755);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_WRITE)->path, "/usr/lib/x");
}

Test(decode_place, an_empty_path_names_nothing)
{
	ev_by_path(s, 10, QP_CALL_ID_mkdir, -ENOENT, 0, "/usr", "", "");
	ev_by_path(s, 10, QP_CALL_ID_unlinkat, -ENOENT, 1, "/usr", "", "");
	ev_open_failed(s, 10, "/usr", "", O_WRONLY | O_CREAT, ENOENT);
	exec_ends(s, 0, &facts);
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_CREATE)->path, "");
	cr_expect_eq(only(&facts, OBSERVATION_FILE_CREATE)->outcome, OUTCOME_ATTEMPTED);
	assert_json(extra(only(&facts, OBSERVATION_FILE_CREATE), "errno"), "'ENOENT'");
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_DELETE)->path, "");
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_WRITE)->path, "");
	cr_assert(facts.markers[MARKER_PATHS_RESOLVED].ok);
}
