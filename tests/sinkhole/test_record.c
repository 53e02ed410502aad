// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/record.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* 2026-11-04T15:50:26Z by `date -u -d @1793807426`. */
static const struct timespec moment = {1793807426, 867019999};

static void expect_lines(int fd, const char *expected)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	cr_assert_geq(n, 0);
	text[n] = '\0';
	cr_expect_str_eq(text, expected);
}

Test(record, is_one_ascii_line_with_microseconds)
{
	struct record_log log = {.fd = memfd_create("records", MFD_CLOEXEC)};
	struct record record = record_begin("udp", &moment);

	record_bytes(&record, "firstBytes", "a\n\"\\\0\xff\xc3\xa9", 8);
	record_number(&record, "bytes", 8);
	record_text(&record, "dstName", NULL);
	cr_assert_eq(record_write(&log, &record), 0);
	cr_expect_eq(log.written, 1);
	expect_lines(log.fd, "{\"bytes\":8,\"dstName\":null,"
			     "\"firstBytes\":\"a\\\\x0a\\\"\\\\x5c\\\\x00\\\\xff\\u00E9\","
			     "\"t\":\"2026-11-04T15:50:26.867019Z\",\"type\":\"udp\"}\n");
	close(log.fd);
}

Test(record, counts_what_is_beyond_the_bound_and_says_so_at_the_end)
{
	struct record_log log = {.fd = memfd_create("records", MFD_CLOEXEC),
				 .written = RECORDS_MAX};
	struct record record = record_begin("udp", &moment);
	char text[256] = "";

	cr_expect_eq(record_write(&log, &record), 0);
	cr_expect_eq(log.dropped, 1);
	expect_lines(log.fd, "");
	cr_expect_eq(record_end(&log, true, 0), 0);
	cr_assert_gt(pread(log.fd, text, sizeof(text) - 1, 0), 0);
	cr_expect_not_null(strstr(text, "\"dropped\":1,\"flushed\":false,\"lost\":0,"
					"\"records\":1000000"));
	close(log.fd);
}

Test(record, is_not_flushed_when_packets_were_lost)
{
	struct record_log log = {.fd = memfd_create("records", MFD_CLOEXEC)};
	char text[256] = "";

	cr_expect_eq(record_end(&log, true, 3), 0);
	cr_assert_gt(pread(log.fd, text, sizeof(text) - 1, 0), 0);
	cr_expect_not_null(strstr(text, "\"flushed\":false,\"lost\":3,\"records\":0"));
	close(log.fd);
}

Test(record, writes_nothing_after_a_failure)
{
	struct record_log log = {.fd = open("/dev/full", O_WRONLY | O_CLOEXEC)};
	struct record record = record_begin("udp", &moment);

	cr_expect_eq(record_write(&log, &record), -ENOSPC);
	close(log.fd);
	log.fd = memfd_create("records", MFD_CLOEXEC);
	record = record_begin("udp", &moment);
	cr_expect_eq(record_write(&log, &record), -ENOSPC);
	cr_expect_eq(record_end(&log, true, 0), -ENOSPC);
	expect_lines(log.fd, "");
	close(log.fd);
}
