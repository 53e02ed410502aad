// SPDX-License-Identifier: Apache-2.0
/* That each path is the one the kernel acted on, however the task spelt it. */
#include "tests/collector/capture_run.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>

#define CALL_SIZE sizeof(struct qp_call)
#define OPEN_CNT  10007

static void open_relative(const struct capture *c)
{
	(void)c;
	mkdir("sub", 0700);
	symlink("sub/../sub", "link");
	close(open("sub/file", O_RDWR | O_CREAT, 0600));
	for (int i = 0; i < OPEN_CNT; i++)
		close(open("link/./file", O_RDONLY));
}

Test(capture_path, resolves_every_open_through_links_and_dots)
{
	struct capture c = {0};
	size_t cnt = 0;

	if (!capture_possible())
		return;
	capture_run(&c, open_relative);
	expect_path(&c, capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 9), QP_ROLE_RET,
		    "/sub/file");
	for (size_t i = 0; i < c.cnt; i++) {
		char path[512];

		if (capture_path(c.events[i], CALL_SIZE, QP_ROLE_RET, path, sizeof(path)) >= 0 &&
		    strstr(path, "/sub/file"))
			cnt++;
	}
	cr_expect_eq(cnt, OPEN_CNT + 1);
	capture_free(&c);
}

static void rename_across(const struct capture *c)
{
	int dir;

	mkdir("from", 0700);
	mkdir("to", 0700);
	close(open("from/a", O_RDWR | O_CREAT, 0600));
	dir = open("from", O_PATH);
	if (chdir("to") < 0)
		_exit(98);
	renameat(dir, "a", AT_FDCWD, "b");
	unlinkat(AT_FDCWD, "../to/b", 0);
	if (!c->late_drain)
		capture_await_drain(c);
}

Test(capture_path, names_both_sides_of_a_rename_and_of_its_bases)
{
	struct capture c = {.tier = "base"};
	const struct qp_event *event;
	char expected[128];

	if (!capture_possible())
		return;
	capture_run(&c, rename_across);
	event = capture_event(&c, QP_EVENT_ENTER, QP_CALL_ID_renameat, 0);
	expect_path(&c, event, 0, "/from");
	expect_path(&c, event, QP_ROLE_CWD, "/to");
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_STRING, 1), "a");
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_STRING, 3), "b");
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_renameat, 0);
	cr_assert_not_null(event);
	cr_expect_eq(((const struct qp_call *)event_body(event, CALL_SIZE))->ret, 0);
	/* mkdir twice, then the rename's two, then the removal's. */
	snprintf(expected, sizeof(expected), "%s/from/a", c.dir);
	cr_expect_str_eq(capture_resolved(&c, 2), expected);
	snprintf(expected, sizeof(expected), "%s/to/b", c.dir);
	cr_expect_str_eq(capture_resolved(&c, 3), expected);
	cr_expect_str_eq(capture_resolved(&c, 4), expected);
	capture_free(&c);
}

/* What leads over ".." is looked up beneath the task's root, which ends with the task. */
Test(capture_path, says_that_a_task_ended_before_its_path_could_be_looked_up)
{
	struct capture c = {.tier = "base", .late_drain = true};
	char expected[128];

	if (!capture_possible())
		return;
	capture_run(&c, rename_across);
	snprintf(expected, sizeof(expected), "%s/to/b", c.dir);
	cr_expect_str_eq(capture_resolved(&c, 3), expected);
	cr_assert_gt(c.resolved_cnt, 4);
	cr_expect_null(capture_resolved(&c, 4));
	cr_expect_eq(json_integer_value(json_object_get(c.resolved[4], "errno")), ESRCH);
	capture_free(&c);
}

#define DEPTH 200

static void go_deep(const struct capture *c)
{
	char name[QP_NAME_BYTES_MAX + 1];

	(void)c;
	memset(name, 'n', sizeof(name) - 1);
	name[QP_NAME_BYTES_MAX] = '\0';
	close(open(name, O_RDWR | O_CREAT, 0600));
	for (int i = 0; i < DEPTH; i++) {
		char level[24];

		snprintf(level, sizeof(level), "level-%03d", i);
		if (mkdir(level, 0700) < 0 || chdir(level) < 0)
			_exit(98);
	}
	close(open("bottom", O_RDWR | O_CREAT, 0600));
}

Test(capture_path, keeps_long_names_and_deep_paths_whole)
{
	struct capture c = {0};
	const struct qp_event *event;
	char path[8192], *p = path;

	if (!capture_possible())
		return;
	capture_run(&c, go_deep);
	cr_assert_eq(c.status, 0);
	p += sprintf(p, "/");
	memset(p, 'n', QP_NAME_BYTES_MAX);
	p[QP_NAME_BYTES_MAX] = '\0';
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 0);
	expect_path(&c, event, QP_ROLE_RET, path);
	p = path;
	for (int i = 0; i < DEPTH; i++)
		p += sprintf(p, "/level-%03d", i);
	sprintf(p, "/bottom");
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 1);
	expect_path(&c, event, QP_ROLE_RET, path);
	cr_expect_eq(event->flags, 0);
	capture_free(&c);
}

#define TOO_DEEP 300

static void go_too_deep(const struct capture *c)
{
	(void)c;
	for (int i = 0; i < TOO_DEEP; i++)
		if (mkdir("d", 0700) < 0 || chdir("d") < 0)
			_exit(98);
	close(open("bottom", O_RDWR | O_CREAT, 0600));
}

Test(capture_path, flags_what_is_deeper_than_the_bound)
{
	struct capture c = {0};
	const struct qp_event *event;
	char path[8192];

	if (!capture_possible())
		return;
	capture_run(&c, go_too_deep);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 0);
	cr_assert_not_null(event);
	cr_expect(capture_path(event, CALL_SIZE, QP_ROLE_RET, path, sizeof(path)) &
		  QP_PATH_TRUNCATED);
	cr_expect(event->flags & QP_EVENT_TRUNCATED);
	capture_free(&c);
}

/*
 * The text begins on a page that is there and goes on on one that never was touched: the
 * read at the entry fails, that at the exit does not. A second ends with its page, and
 * nothing is mapped behind.
 */
static void use_page_borders(const struct capture *c)
{
	int fd = open("pages", O_RDWR | O_CREAT, 0600);
	char *map;

	(void)c;
	if (ftruncate(fd, 8192) < 0 || pwrite(fd, "over-the-border", 16, 4090) != 16 ||
	    pwrite(fd, "at-the-end", 11, 8192 - 11) != 11)
		_exit(98);
	map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
	madvise(map, 8192, MADV_RANDOM);
	(void)*(volatile char *)map; /* brings the first page only */
	mkdir(map + 4090, 0700);
	mkdir(map + 8192 - 11, 0700);
}

Test(capture_path, reads_text_across_and_at_page_borders)
{
	struct capture c = {.tier = "base"};
	const struct qp_event *event;
	char expected[128];

	if (!capture_possible())
		return;
	capture_run(&c, use_page_borders);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mkdir, 0);
	cr_assert_not_null(event);
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_STRING, 0), "over-the-border");
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mkdir, 1);
	cr_assert_not_null(event);
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_STRING, 0), "at-the-end");
	snprintf(expected, sizeof(expected), "%s/over-the-border", c.dir);
	cr_expect_str_eq(capture_resolved(&c, 0), expected);
	capture_free(&c);
}

/* A text in memory that no one touched: nothing at the entry, and it says so. */
static void use_absent_page(const struct capture *c)
{
	int fd = open("pages", O_RDWR | O_CREAT, 0600);
	char *map;

	(void)c;
	if (ftruncate(fd, 4096) < 0 || pwrite(fd, "absent", 7, 0) != 7)
		_exit(98);
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	mkdir(map, 0700);
}

Test(capture_path, flags_memory_that_is_absent_and_reads_it_at_the_exit)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_field *field;

	if (!capture_possible())
		return;
	capture_run(&c, use_absent_page);
	event = capture_event(&c, QP_EVENT_ENTER, QP_CALL_ID_mkdir, 0);
	cr_assert_not_null(event);
	field = event_find(event, CALL_SIZE, QP_FIELD_STRING, 0);
	cr_assert_not_null(field);
	cr_expect_eq(field->flags, QP_FIELD_FAULT);
	cr_expect_eq(field->len, 0);
	expect_path(&c, event, QP_ROLE_CWD, "");
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mkdir, 0);
	cr_assert_not_null(event);
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_STRING, 0), "absent");
	capture_free(&c);
}

static void fail_to_open(const struct capture *c)
{
	int dir;

	(void)c;
	mkdir("sub", 0700);
	dir = open("sub", O_PATH);
	openat(dir, "missing/file", O_WRONLY | O_CREAT, 0600);
}

Test(capture_path, gives_base_and_text_of_an_open_that_failed)
{
	struct capture c = {0};
	const struct qp_event *event;

	if (!capture_possible())
		return;
	capture_run(&c, fail_to_open);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 1);
	expect_path(&c, event, 0, "/sub");
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_STRING, 1), "missing/file");
	cr_expect_eq(((const struct qp_call *)event_body(event, CALL_SIZE))->ret, -ENOENT);
	capture_free(&c);
}

static void leave_no_folder(const struct capture *c)
{
	char path[128];

	mkdir("gone", 0700);
	if (chdir("gone") < 0)
		_exit(98);
	snprintf(path, sizeof(path), "%s/gone", c->dir);
	rmdir(path);
	mkdir("in-nothing", 0700);
}

Test(capture_path, flags_a_deleted_folder)
{
	struct capture c = {0};
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, leave_no_folder);
	cr_expect_eq(capture_path(capture_event(&c, QP_EVENT_ENTER, QP_CALL_ID_mkdir, 1), CALL_SIZE,
				  QP_ROLE_CWD, path, sizeof(path)),
		     QP_PATH_DELETED);
	capture_free(&c);
}

/* In a mount namespace of its own: over a tmpfs mounted in a folder, then in a chroot. */
static void cross_mounts(const struct capture *c)
{
	if (unshare(CLONE_NEWNS) < 0 || syscall(SYS_mount, "none", "/", NULL, 0x44000, NULL) < 0)
		_exit(98);
	mkdir("jail", 0700);
	if (syscall(SYS_mount, "qp", "jail", "tmpfs", 0, NULL) < 0)
		_exit(97);
	mkdir("jail/etc", 0700);
	close(open("jail/etc/file", O_RDWR | O_CREAT, 0600));
	if (chroot("jail") < 0 || chdir("/") < 0)
		_exit(96);
	close(open("/etc/file", O_RDONLY));
	unlink("/etc/file");
	capture_await_drain(c); /* the collector looks while there is something to see */
	rmdir("etc");
}

Test(capture_path, goes_over_mounts_and_out_of_a_chroot)
{
	struct capture c = {.tier = "base"};
	const struct qp_event *event;
	char expected[128];
	size_t last;

	if (!capture_possible())
		return;
	capture_run(&c, cross_mounts);
	cr_assert_eq(c.status, 0);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 0);
	expect_path(&c, event, QP_ROLE_RET, "/jail/etc/file");
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 1);
	expect_path(&c, event, QP_ROLE_RET, "/jail/etc/file");
	event = capture_event(&c, QP_EVENT_ENTER, QP_CALL_ID_unlink, 0);
	expect_path(&c, event, QP_ROLE_ROOT, "/jail");
	last = c.resolved_cnt - 1;
	snprintf(expected, sizeof(expected), "%s/jail/etc", c.dir);
	cr_expect_str_eq(capture_resolved(&c, last), expected);
	snprintf(expected, sizeof(expected), "%s/jail/etc/file", c.dir);
	cr_expect_str_eq(capture_resolved(&c, last - 1), expected);
	capture_free(&c);
}
