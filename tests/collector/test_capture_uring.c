// SPDX-License-Identifier: Apache-2.0
/* What io_uring does is recorded as what the system call of the same name would be. */
#include "tests/collector/capture_uring.h"

#include <sys/uio.h>

static void by_path(const struct capture *c)
{
	struct ring ring;
	int fd;

	(void)c;
	ring_need(&ring, 0);
	fd = ring_openat(&ring, "made", O_RDWR | O_CREAT);
	if (fd < 0 || ring_do(&ring, IORING_OP_MKDIRAT, AT_FDCWD, "folder", 0700) ||
	    ring_paths(&ring, IORING_OP_LINKAT, "made", "linked") ||
	    ring_paths(&ring, IORING_OP_RENAMEAT, "linked", "folder/moved") ||
	    ring_paths(&ring, IORING_OP_SYMLINKAT, "/target", "pointer") ||
	    ring_do(&ring, IORING_OP_UNLINKAT, AT_FDCWD, "pointer", 0))
		_exit(98);
}

Test(capture_uring, names_what_is_done_by_path)
{
	struct capture c = {0};
	const struct qp_event *event;
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, by_path);
	cr_assert_eq(c.status, 0, "%x", c.status);
	event = result_of(&c, QP_CALL_ID_openat, QP_URING_OPENAT,
			  body_of(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 0))->ret);
	expect_path(&c, event, QP_ROLE_RET, "/made");
	cr_expect_eq(capture_path(event, CALL_SIZE, QP_ROLE_RET, path, sizeof(path)),
		     QP_PATH_CREATED);
	expect_name(submission_of(&c, QP_CALL_ID_openat), 1, "made");
	expect_path(&c, submission_of(&c, QP_CALL_ID_openat), QP_ROLE_CWD, "");
	result_of(&c, QP_CALL_ID_mkdirat, QP_URING_MKDIRAT, 0);
	expect_name(submission_of(&c, QP_CALL_ID_mkdirat), 1, "folder");
	result_of(&c, QP_CALL_ID_linkat, QP_URING_LINKAT, 0);
	expect_name(submission_of(&c, QP_CALL_ID_linkat), 1, "made");
	expect_name(submission_of(&c, QP_CALL_ID_linkat), 3, "linked");
	result_of(&c, QP_CALL_ID_renameat2, QP_URING_RENAMEAT, 0);
	expect_name(submission_of(&c, QP_CALL_ID_renameat2), 3, "folder/moved");
	result_of(&c, QP_CALL_ID_symlinkat, QP_URING_SYMLINKAT, 0);
	expect_name(submission_of(&c, QP_CALL_ID_symlinkat), 0, "/target");
	expect_name(submission_of(&c, QP_CALL_ID_symlinkat), 2, "pointer");
	result_of(&c, QP_CALL_ID_unlinkat, QP_URING_UNLINKAT, 0);
	expect_name(submission_of(&c, QP_CALL_ID_unlinkat), 1, "pointer");
	cr_expect_eq(requests(&c, "OPENAT"), 1);
	cr_expect_eq(unfinished(&c), 0);
	capture_free(&c);
}

/* What happens is done by the child, on whichever thread of it. */
static void in_worker(const struct capture *c)
{
	struct io_uring_sqe *sqe;
	struct ring ring;

	(void)c;
	ring_need(&ring, 0);
	sqe = ring_next(&ring, IORING_OP_MKDIRAT, AT_FDCWD);
	sqe->addr = (uintptr_t) "folder";
	sqe->len = 0700;
	sqe->flags = IOSQE_ASYNC;
	if (ring_run(&ring))
		_exit(98);
}

Test(capture_uring, is_of_the_submitter_when_a_worker_does_it)
{
	struct capture c = {0};
	const struct qp_event *event;

	if (!capture_possible())
		return;
	capture_run(&c, in_worker);
	cr_assert_eq(c.status, 0, "%x", c.status);
	event = result_of(&c, QP_CALL_ID_mkdirat, QP_URING_MKDIRAT, 0);
	cr_expect_eq(event->tid, (uint32_t)c.child);
	expect_path(&c, submission_of(&c, QP_CALL_ID_mkdirat), QP_ROLE_CWD, "");
	capture_free(&c);
}

/* Three ways to write to one file, the second by a worker. */
static void in_shares(const struct capture *c)
{
	struct iovec v[2] = {{"1234567", 7}, {"12345", 5}};
	struct io_uring_sqe *sqe;
	struct ring ring;
	int fd;

	(void)c;
	ring_need(&ring, 0);
	fd = ring_openat(&ring, "made", O_WRONLY | O_CREAT);
	if (fd < 0 || ring_do(&ring, IORING_OP_WRITE, fd, "123", 3) != 3)
		_exit(98);
	sqe = ring_next(&ring, IORING_OP_WRITEV, fd);
	sqe->addr = (uintptr_t)v;
	sqe->len = 2;
	sqe->off = 1000;
	sqe->flags = IOSQE_ASYNC;
	if (ring_run(&ring) != 12 || write(fd, "12345678901", 11) != 11)
		_exit(99);
}

Test(capture_uring, sums_up_bytes_with_those_of_calls)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, in_shares);
	cr_assert_eq(c.status, 0, "%x", c.status);
	cr_expect_eq(capture_sum(&c, result_of(&c, QP_CALL_ID_write, QP_URING_WRITE, 3)), 26);
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_writev, 0));
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_write, 1));
	capture_free(&c);
}

static void polled(const struct capture *c)
{
	struct ring ring;
	int fd;

	(void)c;
	ring_need(&ring, IORING_SETUP_SQPOLL);
	fd = ring_openat(&ring, "made", O_WRONLY | O_CREAT);
	if (fd < 0 || ring_do(&ring, IORING_OP_WRITE, fd, "text", 4) != 4)
		_exit(98);
}

Test(capture_uring, is_of_the_process_when_a_polling_thread_submits)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, polled);
	cr_assert_eq(c.status, 0, "%x", c.status);
	expect_path(&c, capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 0), QP_ROLE_RET,
		    "/made");
	expect_path(&c, submission_of(&c, QP_CALL_ID_openat), QP_ROLE_CWD, "");
	expect_path(&c, result_of(&c, QP_CALL_ID_write, QP_URING_WRITE, 4), 0, "/made");
	capture_free(&c);
}

static void registered(const struct capture *c)
{
	static char buffer[4096] = "text";
	struct iovec vector = {buffer, sizeof(buffer)};
	int files[2] = {-1, open("first", O_RDWR | O_CREAT, 0600)};
	struct io_uring_sqe *sqe;
	struct ring ring;

	(void)c;
	ring_need(&ring, 0);
	if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, files, 2) < 0 ||
	    syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, &vector, 1) < 0)
		_exit(93);
	sqe = ring_next(&ring, IORING_OP_WRITE_FIXED, 1);
	sqe->addr = (uintptr_t)buffer;
	sqe->len = 4;
	sqe->flags = IOSQE_FIXED_FILE;
	if (ring_run(&ring) != 4)
		_exit(94);
	sqe = ring_next(&ring, IORING_OP_OPENAT, AT_FDCWD);
	sqe->addr = (uintptr_t) "second";
	sqe->open_flags = O_RDWR | O_CREAT;
	sqe->len = 0600;
	sqe->file_index = 1; /* the ring's file 0 */
	if (ring_run(&ring))
		_exit(95);
	sqe = ring_next(&ring, IORING_OP_WRITEV, 0);
	sqe->addr = (uintptr_t) & (struct iovec){"more", 4};
	sqe->len = 1;
	sqe->flags = IOSQE_FIXED_FILE;
	if (ring_run(&ring) != 4)
		_exit(96);
}

Test(capture_uring, names_registered_files)
{
	struct capture c = {0};
	const struct qp_event *event;

	if (!capture_possible())
		return;
	capture_run(&c, registered);
	cr_assert_eq(c.status, 0, "%x", c.status);
	event = result_of(&c, QP_CALL_ID_write, QP_URING_WRITE_FIXED, 4);
	expect_path(&c, event, 0, "/first");
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_PAYLOAD, 1), "text");
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 1);
	cr_assert(body_of(event)->flags & QP_CALL_IO_URING);
	expect_path(&c, event, QP_ROLE_RET, "/second");
	event = result_of(&c, QP_CALL_ID_writev, QP_URING_WRITEV, 4);
	expect_path(&c, event, 0, "/second");
	cr_expect_str_eq(capture_text(event, CALL_SIZE, QP_FIELD_PAYLOAD, 1), "more");
	capture_free(&c);
}

/* An open that fails breaks the chain. */
static void linked(const struct capture *c)
{
	struct io_uring_sqe *sqe;
	struct ring ring;

	(void)c;
	ring_need(&ring, 0);
	sqe = ring_next(&ring, IORING_OP_OPENAT, AT_FDCWD);
	sqe->addr = (uintptr_t) "missing";
	sqe->flags = IOSQE_IO_LINK;
	sqe = ring_next(&ring, IORING_OP_UNLINKAT, AT_FDCWD);
	sqe->addr = (uintptr_t) "second";
	ring_enter(&ring, 2, 2);
	if (ring_result(&ring) + ring_result(&ring) != -ENOENT - ECANCELED)
		_exit(98);
}

Test(capture_uring, tells_linked_requests_apart)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, linked);
	cr_assert_eq(c.status, 0, "%x", c.status);
	result_of(&c, QP_CALL_ID_openat, QP_URING_OPENAT, -ENOENT);
	expect_name(submission_of(&c, QP_CALL_ID_openat), 1, "missing");
	result_of(&c, QP_CALL_ID_unlinkat, QP_URING_UNLINKAT, -ECANCELED);
	expect_name(submission_of(&c, QP_CALL_ID_unlinkat), 1, "second");
	cr_expect_eq(unfinished(&c), 0);
	capture_free(&c);
}

/* The kernel uses the memory of a request again, for one that it refuses at once. */
static void silent(const struct capture *c)
{
	struct io_uring_sqe *sqe;
	struct ring ring;
	int fd = open("file", O_RDWR | O_CREAT, 0600);

	(void)c;
	ring_need(&ring, 0);
	for (int i = 0; i < 2; i++) {
		sqe = ring_next(&ring, i ? IORING_OP_UNLINKAT : IORING_OP_WRITE, i ? AT_FDCWD : fd);
		sqe->addr = (uintptr_t) "file";
		sqe->len = i ? 0 : 4;
		sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
		ring_enter(&ring, 1, 0);
	}
	/* A worker does it, and says nothing. */
	for (int i = 0; access("file", F_OK) == 0 && i < 1000; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	if (access("file", F_OK) == 0)
		_exit(97);
	for (int i = 0; i < 33; i++) { /* as many as the kernel keeps at hand, and more */
		sqe = ring_next(&ring, IORING_OP_UNLINKAT, AT_FDCWD);
		sqe->ioprio = 1; /* means nothing here */
		if (ring_run(&ring) != -EINVAL)
			_exit(98);
	}
}

Test(capture_uring, says_that_no_result_was_asked_for)
{
	struct capture c = {0};
	const struct qp_event *event;

	if (!capture_possible())
		return;
	capture_run(&c, silent);
	cr_assert_eq(c.status, 0, "%x", c.status);
	event = capture_event(&c, QP_EVENT_ENTER, QP_CALL_ID_unlinkat, 0);
	cr_expect_eq(body_of(event)->flags, QP_CALL_IO_URING | QP_CALL_SILENT);
	expect_name(event, 1, "file");
	event = capture_event(&c, QP_EVENT_ENTER, QP_CALL_ID_write, 0);
	cr_expect_eq(body_of(event)->flags, QP_CALL_IO_URING | QP_CALL_SILENT);
	expect_path(&c, event, 0, "/file");
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_unlinkat, 0),
		       "another request's result was taken for the silent one's");
	cr_expect_eq(unfinished(&c), 0);
	capture_free(&c);
}

static void by_descriptor(const struct capture *c)
{
	struct io_uring_sqe *sqe;
	struct ring ring;
	int pipes[2], fd = open("file", O_RDWR | O_CREAT, 0600);

	(void)c;
	ring_need(&ring, 0);
	if (pipe(pipes) < 0 || write(pipes[1], "data", 4) != 4)
		_exit(93);
	sqe = ring_next(&ring, IORING_OP_SPLICE, fd);
	sqe->splice_fd_in = pipes[0];
	sqe->splice_off_in = UINT64_MAX;
	sqe->off = UINT64_MAX;
	sqe->len = 4;
	if (ring_run(&ring) != 4)
		_exit(94);
	sqe = ring_next(&ring, IORING_OP_SETXATTR, 0);
	sqe->addr = (uintptr_t) "user.name";
	sqe->addr2 = (uintptr_t) "value";
	sqe->addr3 = (uintptr_t) "file";
	sqe->len = 5;
	ring_run(&ring); /* not every file system has attributes */
	for (int i = 0; i < 3; i++)
		if (ring_do(&ring, IORING_OP_NOP, -1, NULL, 0))
			_exit(95);
}

Test(capture_uring, follows_splices_and_attributes_and_counts_the_rest)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, by_descriptor);
	cr_assert_eq(c.status, 0, "%x", c.status);
	expect_path(&c, result_of(&c, QP_CALL_ID_splice, QP_URING_SPLICE, 4), 2, "/file");
	expect_name(submission_of(&c, QP_CALL_ID_setxattr), 0, "file");
	expect_name(submission_of(&c, QP_CALL_ID_setxattr), 1, "user.name");
	cr_expect_eq(requests(&c, "NOP"), 3);
	cr_expect_eq(requests(&c, "SPLICE"), 1);
	cr_expect_eq(unfinished(&c), 0);
	capture_free(&c);
}
