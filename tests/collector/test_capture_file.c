// SPDX-License-Identifier: Apache-2.0
/* That open files are told apart: made or found, written or not, by whatever descriptor. */
#include "tests/collector/capture_run.h"

#include <linux/openat2.h>
#include <sys/syscall.h>

#define CALL_SIZE sizeof(struct qp_call)

static void create_once(const struct capture *c)
{
	(void)c;
	close(open("new", O_RDWR | O_CREAT, 0600));
	close(open("new", O_RDWR | O_CREAT, 0600));
}

Test(capture_file, tells_a_created_file_from_an_opened_one)
{
	struct capture c = {0};
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, create_once);
	cr_expect_eq(capture_path(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 0), CALL_SIZE,
				  QP_ROLE_RET, path, sizeof(path)),
		     QP_PATH_CREATED);
	cr_expect_eq(capture_path(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 1), CALL_SIZE,
				  QP_ROLE_RET, path, sizeof(path)),
		     0);
	capture_free(&c);
}

static void open_how(const struct capture *c)
{
	struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0600};

	(void)c;
	syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof(how));
}

Test(capture_file, keeps_what_openat2_was_asked)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_field *field;
	struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0600};

	if (!capture_possible())
		return;
	capture_run(&c, open_how);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat2, 0);
	expect_path(&c, event, QP_ROLE_RET, "/file");
	field = event_find(event, CALL_SIZE, QP_FIELD_PAYLOAD, 2);
	cr_assert_not_null(field);
	cr_expect_eq(field->len, sizeof(how));
	cr_expect_arr_eq(field + 1, &how, sizeof(how));
	capture_free(&c);
}

static void write_often(const struct capture *c)
{
	(void)c;
	for (int round = 0; round < 3; round++) {
		int fd = open("file", O_WRONLY | O_CREAT, 0600);

		for (int i = 0; i < 1001; i++)
			if (write(fd, "x", 1) != 1)
				_exit(98);
		close(fd);
		if (round == 1)
			fork(); /* and the child goes on as well */
	}
	wait(NULL); /* or the log may end before the child does */
}

Test(capture_file, records_the_first_write_of_a_process_to_a_file)
{
	struct capture c = {0};
	const struct qp_event *event;

	if (!capture_possible())
		return;
	capture_run(&c, write_often);
	cr_expect_eq(capture_calls(&c, "write"), 4004);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_write, 1);
	expect_path(&c, event, 0, "/file");
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_write, 2));
	capture_free(&c);
}

static void change_by_descriptor(const struct capture *c)
{
	int fd = open("file", O_RDWR | O_CREAT, 0600);

	(void)c;
	if (fchmod(fd, 0640) < 0 || ftruncate(fd, 4096) < 0)
		_exit(98);
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0); /* mprotect() may yet make it writable */
	close(fd);
	fd = open("file", O_RDONLY);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
}

Test(capture_file, names_the_file_behind_a_descriptor)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, change_by_descriptor);
	expect_path(&c, capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_fchmod, 0), 0, "/file");
	expect_path(&c, capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_ftruncate, 0), 0, "/file");
	expect_path(&c, capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mmap, 0), 4, "/file");
	expect_path(&c, capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mmap, 1), 4, "/file");
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mmap, 2));
	capture_free(&c);
}
