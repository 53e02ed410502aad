// SPDX-License-Identifier: Apache-2.0
/* The kernel-object tier: that the kernel's word is what a call acted on, however its path was
 * spelt, and that it is there once for each call that came so far. */
#include "tests/collector/capture_run.h"

#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#define OBJECT_SIZE sizeof(struct qp_object)

/* The calls of the table below, each by a link to its folder. */
static void act_on_everything(const struct capture *c)
{
	const struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry entries[3];
	} acl = {{POSIX_ACL_XATTR_VERSION},
		 {{ACL_USER_OBJ, 6, ACL_UNDEFINED_ID},
		  {ACL_GROUP_OBJ, 4, ACL_UNDEFINED_ID},
		  {ACL_OTHER, 4, ACL_UNDEFINED_ID}}};
	const struct timespec times[2] = {{1, 0}, {2, 0}};

	(void)c;
	syscall(SYS_mkdirat, AT_FDCWD, "d", 0700);
	syscall(SYS_symlinkat, "d", AT_FDCWD, "l");
	syscall(SYS_mkdirat, AT_FDCWD, "l/../l/m", 0700);
	syscall(SYS_mknodat, AT_FDCWD, "l/p", S_IFIFO | 0600, 0);
	syscall(SYS_symlinkat, "h", AT_FDCWD, "l/s");
	close(open("l/f", O_RDWR | O_CREAT, 0600));
	syscall(SYS_linkat, AT_FDCWD, "l/f", AT_FDCWD, "l/g", 0);
	syscall(SYS_renameat2, AT_FDCWD, "l/g", AT_FDCWD, "l/h", 0);
	syscall(SYS_fchmodat, AT_FDCWD, "l/h", 0640);
	syscall(SYS_fchownat, AT_FDCWD, "l/s", -1, -1, 0);
	syscall(SYS_fchownat, AT_FDCWD, "l/s", -1, -1, AT_SYMLINK_NOFOLLOW);
	syscall(SYS_utimensat, AT_FDCWD, "l/s", times, AT_SYMLINK_NOFOLLOW);
	syscall(SYS_utimensat, AT_FDCWD, "l/s", NULL, 0);
	syscall(SYS_truncate, "l/s", 7);
	setxattr("l/s", "user.qp", "x", 1, 0);
	removexattr("l/s", "user.qp");
	setxattr("l/s", "system.posix_acl_access", &acl, sizeof(acl), 0);
	syscall(SYS_unlinkat, AT_FDCWD, "l/p", 0);
	syscall(SYS_unlinkat, AT_FDCWD, "l/m", AT_REMOVEDIR);
	/* Refused when the kernel had found the object, and before. */
	syscall(SYS_unlinkat, AT_FDCWD, "l/../d", 0);
	syscall(SYS_unlinkat, AT_FDCWD, "l/nothing", 0);
	syscall(SYS_mkdirat, AT_FDCWD, "l", 0700);
}

static const struct {
	enum qp_call_id call;
	unsigned int role;
	const char *path;
	unsigned int role2;
	const char *path2;
} expected[] = {
	{.call = QP_CALL_ID_mkdirat, .role = 1, .path = "/d"},
	{.call = QP_CALL_ID_symlinkat, .role = 2, .path = "/l"},
	{.call = QP_CALL_ID_mkdirat, .role = 1, .path = "/d/m"},
	{.call = QP_CALL_ID_mknodat, .role = 1, .path = "/d/p"},
	{.call = QP_CALL_ID_symlinkat, .role = 2, .path = "/d/s"},
	{QP_CALL_ID_linkat, 1, "/d/f", 3, "/d/g"},
	{QP_CALL_ID_renameat2, 1, "/d/g", 3, "/d/h"},
	{.call = QP_CALL_ID_fchmodat, .role = 1, .path = "/d/h"},
	{.call = QP_CALL_ID_fchownat, .role = 1, .path = "/d/h"},
	{.call = QP_CALL_ID_fchownat, .role = 1, .path = "/d/s"},
	{.call = QP_CALL_ID_utimensat, .role = 1, .path = "/d/s"},
	{.call = QP_CALL_ID_utimensat, .role = 1, .path = "/d/h"},
	{.call = QP_CALL_ID_truncate, .role = 0, .path = "/d/h"},
	{.call = QP_CALL_ID_setxattr, .role = 0, .path = "/d/h"},
	{.call = QP_CALL_ID_removexattr, .role = 0, .path = "/d/h"},
	{.call = QP_CALL_ID_setxattr, .role = 0, .path = "/d/h"},
	{.call = QP_CALL_ID_unlinkat, .role = 1, .path = "/d/p"},
	{.call = QP_CALL_ID_unlinkat, .role = 1, .path = "/d/m"},
	{.call = QP_CALL_ID_unlinkat, .role = 1, .path = "/d"},
};

#define EXPECTED_CNT (sizeof(expected) / sizeof(expected[0]))

/* The @nth object record; what the call's own record says of it must agree. */
static const struct qp_event *object_nth(const struct capture *c, size_t nth)
{
	for (size_t i = 0; i < c->cnt; i++)
		if (c->events[i]->type == QP_EVENT_OBJECT && nth-- == 0)
			return c->events[i];
	return NULL;
}

static void expect_object(const struct capture *c, const struct qp_event *event, unsigned int role,
			  const char *relative)
{
	char path[512];

	cr_assert_geq(capture_path(event, OBJECT_SIZE, role, path, sizeof(path)), 0);
	cr_assert_eq(strncmp(path, c->dir, strlen(c->dir)), 0, "%s", path);
	cr_expect_str_eq(path + strlen(c->dir), relative);
}

/* What was produced of the objects is what is in the log. */
static void expect_balance(const struct capture *c, size_t cnt)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(c->counters, "byType"), i, row) {
		if (strcmp(json_string_value(json_object_get(row, "type")), "object") != 0)
			continue;
		cr_expect_eq(json_integer_value(json_object_get(row, "produced")), cnt);
		cr_expect_eq(json_integer_value(json_object_get(row, "delivered")), cnt);
		cr_expect_eq(json_integer_value(json_object_get(row, "lost")), 0);
		return;
	}
	cr_assert_fail("the objects are not counted");
}

Test(capture_object, names_what_every_call_acts_on)
{
	struct capture c = {.tier = "kernel-object"};

	if (!capture_possible())
		return;
	capture_run(&c, act_on_everything);
	for (size_t i = 0; !c.refused && i < EXPECTED_CNT; i++) {
		const struct qp_event *event = object_nth(&c, i);
		const struct qp_object *body = event ? event_body(event, OBJECT_SIZE) : NULL;

		cr_assert_not_null(body, "%zu", i);
		cr_expect_eq(body->call, expected[i].call, "%zu", i);
		cr_expect_neq(body->entered_ns, 0);
		expect_object(&c, event, expected[i].role, expected[i].path);
		if (expected[i].path2)
			expect_object(&c, event, expected[i].role2, expected[i].path2);
	}
	if (!c.refused) {
		cr_expect_null(object_nth(&c, EXPECTED_CNT));
		expect_balance(&c, EXPECTED_CNT);
		/* Only what has no object was looked up: the two that failed before. */
		cr_expect_eq(c.resolved_cnt, 2);
	}
	capture_free(&c);
}

#define FLIPS 1009

/* Of each pair of files, which one the call removed. */
static char *removed;
static char flipped[16];
static volatile bool flips_end;

static void *flip(void *nothing)
{
	/* An emulated CPU is interrupted at branches only: without one between the two it would
	 * always be found at 'b'. */
	while (!flips_end) {
		*(volatile char *)flipped = 'a';
		if (flips_end)
			break;
		*(volatile char *)flipped = 'b';
	}
	return nothing;
}

static void remove_what_flips(const struct capture *c)
{
	pthread_t thread;

	(void)c;
	strcpy(flipped, "a-0000");
	if (pthread_create(&thread, NULL, flip, NULL))
		_exit(98);
	for (int i = 0; i < FLIPS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "a-%04d", i);
		close(open(name, O_RDWR | O_CREAT, 0600));
		memcpy(flipped + 2, name + 2, 4);
		name[0] = 'b';
		close(open(name, O_RDWR | O_CREAT, 0600));
		/* Now and then see to it that the other thread is at it. */
		while (i % 16 == 0 && *(volatile char *)flipped != (i & 16 ? 'a' : 'b'))
			usleep(10);
		if (syscall(SYS_unlinkat, AT_FDCWD, flipped, 0) < 0)
			_exit(97);
		removed[i] = access(name, F_OK) < 0 ? 'b' : 'a';
	}
	flips_end = true;
	pthread_join(thread, NULL);
}

Test(capture_object, tells_exactly_what_a_flipped_path_led_to)
{
	struct capture c = {.tier = "kernel-object"};
	size_t lies = 0;

	if (!capture_possible())
		return;
	removed = mmap(NULL, FLIPS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(removed, MAP_FAILED);
	capture_run(&c, remove_what_flips);
	for (size_t i = 0; !c.refused && i < FLIPS; i++) {
		char path[16];
		const char *text;

		cr_assert_eq(c.status, 0);
		snprintf(path, sizeof(path), "/%c-%04zu", removed[i], i);
		cr_assert_not_null(object_nth(&c, i));
		expect_object(&c, object_nth(&c, i), 1, path);
		text = capture_text(capture_event(&c, QP_EVENT_ENTER, QP_CALL_ID_unlinkat, i),
				    sizeof(struct qp_call), QP_FIELD_STRING, 1);
		lies += !text || text[0] != removed[i];
	}
	if (!c.refused)
		printf("%zu of %d texts were others at the entry\n", lies, FLIPS);
	capture_free(&c);
}
