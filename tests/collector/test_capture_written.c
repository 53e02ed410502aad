// SPDX-License-Identifier: Apache-2.0
/* That every byte which a call wrote to a file is in the sum of its process and file. */
#include "tests/collector/capture_run.h"

#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#define CALL_SIZE sizeof(struct qp_call)
#define MANY	  20011 /* more files than the kernel has room for */

static void must(bool done)
{
	if (!done)
		_exit(98);
}

/* What the sum of the nth record of a call says. */
static json_int_t sum_of(const struct capture *c, enum qp_call_id call, int nth)
{
	return capture_sum(c, capture_event(c, QP_EVENT_CALL, call, nth));
}

static int make(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0600);

	must(fd >= 0);
	return fd;
}

static void write_by_each_road(const struct capture *c)
{
	static char bytes[5003];
	struct iovec v[2] = {{bytes, 11}, {bytes, 13}};
	int source = make("source"), pipe_fds[2];

	(void)c;
	must(write(source, bytes, 5003) == 5003);
	must(pwrite(make("pwrite"), bytes, 17, 100000) == 17);
	must(writev(make("writev"), v, 2) == 24);
	must(pwritev(make("pwritev"), v, 2, 5) == 24);
	must(pwritev2(make("pwritev2"), v, 1, 5, RWF_DSYNC) == 11);
	must(lseek(source, 0, SEEK_SET) == 0);
	must(sendfile(make("sendfile"), source, NULL, 4999) == 4999);
	must(copy_file_range(source, &(off_t){1}, make("copied"), NULL, 4001, 0) == 4001);
	must(pipe(pipe_fds) == 0 && write(pipe_fds[1], bytes, 3001) == 3001);
	must(splice(pipe_fds[0], NULL, make("spliced"), NULL, 3001, 0) == 3001);
	must(ftruncate(make("cut"), 77) == 0 && fallocate(make("room"), 0, 0, 99) == 0);
}

Test(capture_written, sums_up_what_every_road_wrote)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, write_by_each_road);
	cr_assert_eq(c.status, 0);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_write, 0), 5003);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_pwrite64, 0), 17);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_writev, 0), 24);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_pwritev, 0), 24);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_pwritev2, 0), 11);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_sendfile, 0), 4999);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_copy_file_range, 0), 4001);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_splice, 0), 3001);
	/* They write no bytes. */
	cr_expect_eq(sum_of(&c, QP_CALL_ID_fallocate, 0), 0);
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_write, 1));
	cr_expect_eq(json_array_size(c.sums), 9);
	cr_expect_eq(json_integer_value(json_object_get(c.counters, "unsummedWrites")), 0);
	capture_free(&c);
}

static void *write_a_share(void *fd)
{
	for (int i = 0; i < 10007; i++)
		must(write(*(int *)fd, "12345", 5) == 5);
	return NULL;
}

static void write_together(const struct capture *c)
{
	int fd = open("file", O_WRONLY | O_CREAT | O_APPEND, 0600);
	int full = open("/dev/full", O_WRONLY), status;
	pthread_t threads[3];

	(void)c;
	for (int i = 0; i < 3; i++)
		must(pthread_create(&threads[i], NULL, write_a_share, &fd) == 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	must(write(full, "x", 1) < 0);
	if (fork() == 0) {
		must(write(fd, "1234567", 7) == 7);
		_exit(0);
	}
	must(wait(&status) > 0 && status == 0);
}

Test(capture_written, sums_up_for_each_process_and_all_of_its_threads)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, write_together);
	cr_assert_eq(c.status, 0);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_write, 0), 3 * 10007 * 5);
	cr_expect_eq(sum_of(&c, QP_CALL_ID_write, 1), -1, "a failed write has no sum");
	cr_expect_eq(sum_of(&c, QP_CALL_ID_write, 2), 7);
	capture_free(&c);
}

/* Each name again at once: the number of its inode often is the last one's. */
static void write_many_files(const struct capture *c)
{
	int kept = make("kept");

	(void)c;
	for (int i = 0; i < MANY; i++) {
		char name[32];
		int fd;

		snprintf(name, sizeof(name), "%d", i % 7);
		unlink(name);
		fd = make(name);
		must(write(fd, "123", 3) == 3 && write(kept, "1", 1) == 1);
		close(fd);
	}
}

Test(capture_written, loses_no_byte_of_more_files_than_there_is_room_for)
{
	struct capture c = {0};
	json_int_t bytes = 0;
	json_t *pair;
	size_t i;

	if (!capture_possible())
		return;
	capture_run(&c, write_many_files);
	cr_assert_eq(c.status, 0);
	json_array_foreach (c.sums, i, pair)
		bytes += json_integer_value(json_array_get(pair, 1));
	cr_expect_eq(bytes, 4 * MANY, "%lld", (long long)bytes);
	cr_expect_eq(json_integer_value(json_object_get(c.counters, "unsummedWrites")), 0);
	capture_free(&c);
}
