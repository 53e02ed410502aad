// SPDX-License-Identifier: Apache-2.0
/* Opens of what is another process's, over /proc. */
#include "tests/collector/events.h"

#define NSFS  0x6e736673
#define PIPE  0x50495045
#define TMPFS 0x01021994

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

TestSuite(decode_foreign, .init = begin, .fini = tidy);

/* An open of @asked that gave @name. */
static void opened(const char *asked, const char *name, uint16_t flags, uint32_t magic,
		   uint32_t mode, int open_flags)
{
	struct building b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_openat, 5,
				       ARGS((uint64_t)AT_FDCWD, 0x7000, (uint64_t)open_flags));
	struct qp_field *field = (struct qp_field *)(b.bytes + b.len);

	add_path_full(&b, QP_ROLE_RET, name, flags, 7, mode);
	((struct qp_path *)(field + 1))->fsmagic = magic;
	add_string(&b, 1, asked);
	if (asked[0] != '/')
		add_path_full(&b, QP_ROLE_CWD, "/work", 0, 2, S_IFDIR | 0755);
	emit(s, &b);
}

static void opened_pipe(const char *asked, uint16_t flags, int open_flags)
{
	opened(asked, "pipe", QP_PATH_NOT_A_FS | QP_PATH_DETACHED | flags, PIPE, S_IFIFO | 0600,
	       open_flags);
}

static size_t attacks(void)
{
	exec_ends(s, 0, &facts);
	return count(&facts, OBSERVATION_TAMPER);
}

Test(decode_foreign, a_pipe_that_the_process_had_already_is_its_own_by_whatever_name)
{
	opened_pipe("/dev/stdout", QP_PATH_HELD, O_WRONLY);
	opened_pipe("/dev/fd/63", QP_PATH_HELD, O_RDONLY);
	opened_pipe("/proc/self/fd/0", QP_PATH_HELD, O_RDONLY);
	opened_pipe("/proc/1/fd/1", QP_PATH_HELD, O_WRONLY);
	cr_assert_eq(attacks(), 0);
}

Test(decode_foreign, a_pipe_of_another_process_is_an_attack_by_every_road)
{
	static const char *const roads[] = {"/proc/1/fd/1", "../proc/5/fd/0", "/proc/5/task/6/fd/2",
					    "/proc/1/cwd/../fd/3", "/proc/1/root/proc/5/fd/4"};

	for (size_t i = 0; i < 5; i++)
		opened_pipe(roads[i], 0, i % 2 ? O_RDONLY : O_WRONLY);
	cr_assert_eq(attacks(), 5);
	cr_expect_str_eq(nth(&facts, OBSERVATION_TAMPER, 0)->path, "/proc/1/fd/1");
	assert_json(extra(nth(&facts, OBSERVATION_TAMPER, 0), "target"), "1");
	cr_expect_str_eq(nth(&facts, OBSERVATION_TAMPER, 1)->path, "/proc/5/fd/0");
	cr_expect_eq(nth(&facts, OBSERVATION_TAMPER, 1)->outcome, OUTCOME_EFFECTED);
}

Test(decode_foreign, a_handle_by_path_only_is_one_too)
{
	opened_pipe("/proc/1/fd/1", 0, O_PATH);
	cr_assert_eq(attacks(), 1);
}

/* The text is read after the call: who changed it meanwhile gains nothing. */
Test(decode_foreign, a_forged_text_hides_no_pipe)
{
	opened_pipe("/proc/self/fd/3", 0, O_WRONLY);
	opened_pipe("/tmp/harmless", 0, O_WRONLY);
	cr_assert_eq(attacks(), 2);
}

Test(decode_foreign, a_link_to_it_is_followed)
{
	ev_symlink(s, 10, "/proc/1/fd/1", "/tmp/l");
	opened_pipe("/tmp/l", 0, O_WRONLY);
	cr_assert_eq(attacks(), 1);
	cr_expect_str_eq(only(&facts, OBSERVATION_TAMPER)->path, "/proc/1/fd/1");
}

Test(decode_foreign, own_namespaces_and_own_memory_files_are_unremarkable)
{
	opened("/proc/self/ns/net", "net:[1]", QP_PATH_NOT_A_FS, NSFS, S_IFREG | 0444, O_RDONLY);
	opened("/proc/10/ns/user", "user:[1]", QP_PATH_NOT_A_FS, NSFS, S_IFREG | 0444, O_RDONLY);
	opened("/proc/self/exe", "memfd:x", QP_PATH_NOT_A_FS, TMPFS, S_IFREG | 0755, O_RDONLY);
	opened("/work/x", "/work/x", QP_PATH_DELETED, TMPFS, S_IFREG | 0644, O_RDONLY);
	cr_assert_eq(attacks(), 0);
}

Test(decode_foreign, those_of_others_are_not)
{
	opened("/proc/1/ns/net", "net:[1]", QP_PATH_NOT_A_FS, NSFS, S_IFREG | 0444, O_RDONLY);
	opened("/proc/1/exe", "memfd:x", QP_PATH_NOT_A_FS, TMPFS, S_IFREG | 0755, O_RDONLY);
	opened("/proc/1/fd/9", "/tmp/gone", QP_PATH_DELETED, TMPFS, S_IFREG | 0600, O_RDONLY);
	cr_assert_eq(attacks(), 3);
}

Test(decode_foreign, an_open_that_was_refused_is_an_attempt)
{
	ev_open_failed(s, 10, "/work", "/proc/1/fd/1", O_RDONLY, EACCES);
	ev_open_failed(s, 10, "/work", "/proc/5/task/5/fd/1", O_WRONLY, EACCES);
	ev_open_failed(s, 10, "/work", "/proc/5/map_files/1-2", O_RDWR, EPERM);
	ev_open_failed(s, 10, "/work", "/proc/77/fd/1", O_RDONLY, ENOENT);
	ev_open_failed(s, 10, "/work", "/proc/self/fd/1", O_RDONLY, ENXIO);
	ev_open_failed(s, 10, "/work", "/proc/1/status", O_RDONLY, EACCES);
	cr_assert_eq(attacks(), 3);
	cr_expect_eq(nth(&facts, OBSERVATION_TAMPER, 0)->outcome, OUTCOME_ATTEMPTED);
	cr_expect_eq(count(&facts, OBSERVATION_FILE_WRITE), 0, "told of once");
}

Test(decode_foreign, memory_of_others_is_told_of_as_such)
{
	ev_open(s, 10, "/proc/10/mem", O_RDWR, 0, 10);
	ev_open(s, 10, "/proc/1/mem", O_RDWR, 0, 11);
	cr_assert_eq(attacks(), 1);
}
