// SPDX-License-Identifier: Apache-2.0
#include "collector/log.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char folder[] = "/tmp/qp-test-log-XXXXXX";
static char path[64];

static void make_folder(void)
{
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/run.qplog", folder);
}

static void remove_folder(void)
{
	remove_tree_at(AT_FDCWD, folder);
}

TestSuite(log, .init = make_folder, .fini = remove_folder);

/* Three records: JSON, bytes with a NUL inside, an empty one. */
static void write_three(char sha256[static SHA256_HEX_SIZE], uint64_t *ret_bytes)
{
	struct log_writer *writer;
	json_auto_t *preamble = json_pack("{s:s}", "schema", "qp-log/1");

	cr_assert_eq(log_writer_open(path, &writer, NULL), 0);
	cr_assert_eq(log_writer_append_json(writer, LOG_RECORD_PREAMBLE, preamble), 0);
	cr_assert_eq(log_writer_append(writer, LOG_RECORD_EVENT, "a\0b", 3), 0);
	cr_assert_eq(log_writer_append(writer, 4242, NULL, 0), 0);
	cr_assert_eq(log_writer_close_take(writer, sha256, ret_bytes), 0);
}

static char *slurp(const char *command)
{
	static char text[4096];
	FILE *pipe = popen(command, "r");
	size_t len = fread(text, 1, sizeof(text) - 1, pipe);

	text[len] = '\0';
	cr_assert_eq(pclose(pipe), 0);
	return text;
}

Test(log, is_one_gzip_member_of_the_documented_bytes)
{
	char sha256[SHA256_HEX_SIZE], command[128];
	uint64_t bytes;

	write_three(sha256, &bytes);
	snprintf(command, sizeof(command), "gzip -dc %s | od -An -v -tx1 | tr -d ' \\n'", path);
	/* QPLOG \r \n \x1a, version 1, then {len, type, 0, payload} three times. */
	cr_assert_str_eq(slurp(command), "51504c4f470d0a1a01000000"
					 "1500000001000000"
					 "7b22736368656d61223a2271702d6c6f672f31227d"
					 "0300000002000000610062"
					 "0000000092100000");
}

Test(log, names_itself_by_the_digest_of_the_file)
{
	char sha256[SHA256_HEX_SIZE], again[SHA256_HEX_SIZE], command[128];
	struct log_reader *reader;
	struct log_record record;
	uint64_t bytes, bytes_again, records;
	struct stat st;

	write_three(sha256, &bytes);
	snprintf(command, sizeof(command), "sha256sum < %s", path);
	cr_assert_eq(strncmp(slurp(command), sha256, SHA256_HEX_SIZE - 1), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq((uint64_t)st.st_size, bytes);
	cr_assert_eq(st.st_mode & 07777, 0600);

	cr_assert_eq(log_reader_open(path, &reader, NULL), 0);
	while (log_reader_next(reader, &record))
		;
	cr_assert(log_reader_is_whole(reader));
	log_reader_digest(reader, again, &bytes_again, &records);
	cr_assert_str_eq(again, sha256);
	cr_assert_eq(bytes_again, bytes);
	cr_assert_eq(records, 3);
	log_reader_free(reader);
}

Test(log, gives_back_what_was_appended)
{
	char sha256[SHA256_HEX_SIZE];
	struct log_reader *reader;
	struct log_record record;
	uint64_t bytes;

	write_three(sha256, &bytes);
	cr_assert_eq(log_reader_open(path, &reader, NULL), 0);
	cr_assert_eq(log_reader_next(reader, &record), 1);
	cr_assert_eq(record.type, LOG_RECORD_PREAMBLE);
	cr_assert_str_eq((const char *)record.payload, "{\"schema\":\"qp-log/1\"}");
	cr_assert_eq(log_reader_next(reader, &record), 1);
	cr_assert_eq(record.type, LOG_RECORD_EVENT);
	cr_assert_eq(record.len, 3);
	cr_assert_eq(memcmp(record.payload, "a\0b", 4), 0, "a NUL follows the payload");
	cr_assert_eq(log_reader_next(reader, &record), 1);
	cr_assert_eq(record.type, 4242);
	cr_assert_eq(record.len, 0);
	cr_assert_eq(log_reader_next(reader, &record), 0);
	cr_assert_eq(log_reader_next(reader, &record), 0);
	log_reader_free(reader);
}

Test(log, is_created_exclusively)
{
	char sha256[SHA256_HEX_SIZE];
	struct qp_error err = {0};
	struct log_writer *writer;
	uint64_t bytes;

	write_three(sha256, &bytes);
	cr_assert_eq(log_writer_open(path, &writer, &err), -EEXIST);
	cr_assert(strstr(err.text, path));
}

Test(log, cut_at_any_byte_gives_every_whole_record_and_is_not_whole)
{
	_cleanup_free_ char *log = NULL;
	char sha256[SHA256_HEX_SIZE];
	uint64_t bytes;
	size_t len;
	int most = 0;

	write_three(sha256, &bytes);
	cr_assert_eq(read_file_at(AT_FDCWD, path, 1 << 20, &log, &len), 0);
	for (size_t cut = 0; cut < len; cut++) {
		struct log_reader *reader;
		struct log_record record;
		struct qp_error err = {0};
		int cnt = 0, r = log_reader_open_memory(log, cut, &reader, &err);

		if (r < 0) {
			cr_assert_eq(r, -EBADMSG);
			cr_assert_eq(most, 0);
			continue;
		}
		while (log_reader_next(reader, &record))
			cnt++;
		cr_assert_not(log_reader_is_whole(reader), "cut at %zu", cut);
		cr_assert_geq(cnt, most, "a longer log has no fewer records");
		most = cnt;
		log_reader_free(reader);
	}
	cr_assert_eq(most, 3);
}

Test(log, abandoned_keeps_every_record_that_was_flushed)
{
	struct log_writer *writer;
	struct log_reader *reader;
	struct log_record record;
	int cnt = 0;

	cr_assert_eq(log_writer_open(path, &writer, NULL), 0);
	cr_assert_eq(log_writer_append(writer, LOG_RECORD_EVENT, "12345678", 8), 0);
	cr_assert_eq(log_writer_append(writer, LOG_RECORD_PHASE, "{}", 2), 0);
	log_writer_abandon(writer);
	cr_assert_eq(log_reader_open(path, &reader, NULL), 0);
	while (log_reader_next(reader, &record))
		cnt++;
	cr_assert_eq(cnt, 2);
	cr_assert_not(log_reader_is_whole(reader));
	log_reader_free(reader);
}

Test(log, with_bytes_after_its_member_is_not_whole_and_hashes_them)
{
	char sha256[SHA256_HEX_SIZE], again[SHA256_HEX_SIZE], command[128];
	struct log_reader *reader;
	struct log_record record;
	uint64_t bytes, records;
	FILE *file;

	write_three(sha256, &bytes);
	file = fopen(path, "a");
	fputs("x", file);
	fclose(file);
	cr_assert_eq(log_reader_open(path, &reader, NULL), 0);
	while (log_reader_next(reader, &record))
		;
	cr_assert_not(log_reader_is_whole(reader));
	log_reader_digest(reader, again, &bytes, &records);
	snprintf(command, sizeof(command), "sha256sum < %s", path);
	cr_assert_eq(strncmp(slurp(command), again, SHA256_HEX_SIZE - 1), 0);
	log_reader_free(reader);
}

/* All records as one run of bytes, and whether the log was whole. */
static size_t read_records(const char *log, size_t len, char *to, size_t size, bool *ret_whole)
{
	struct log_reader *reader;
	struct log_record record;
	size_t at = 0;

	*ret_whole = false;
	if (log_reader_open_memory(log, len, &reader, NULL) < 0)
		return 0;
	while (log_reader_next(reader, &record)) {
		cr_assert_leq(at + record.len, size);
		if (record.len)
			memcpy(to + at, record.payload, record.len);
		at += record.len;
	}
	*ret_whole = log_reader_is_whole(reader);
	log_reader_free(reader);
	return at;
}

Test(log, with_any_bit_flipped_is_not_whole_or_has_the_same_records_and_another_digest)
{
	_cleanup_free_ char *log = NULL;
	char sha256[SHA256_HEX_SIZE], right[256], got[65536];
	size_t len, right_len, broken = 0;
	uint64_t bytes;
	bool whole;

	write_three(sha256, &bytes);
	cr_assert_eq(read_file_at(AT_FDCWD, path, 1 << 20, &log, &len), 0);
	right_len = read_records(log, len, right, sizeof(right), &whole);
	cr_assert(whole);
	/* Deflate pads its flush marks with bits that mean nothing, and the gzip header has a
	 * time: only there may a flip go unnoticed by the checksum. */
	for (size_t bit = 0; bit < len * 8; bit++) {
		size_t got_len;

		log[bit / 8] ^= (char)(1 << bit % 8);
		got_len = read_records(log, len, got, sizeof(got), &whole);
		if (whole) {
			cr_assert_eq(got_len, right_len, "bit %zu", bit);
			cr_assert_eq(memcmp(got, right, got_len), 0, "bit %zu", bit);
		}
		broken += !whole;
		log[bit / 8] ^= (char)(1 << bit % 8);
	}
	cr_assert_gt(broken, len * 4);
}

Test(log, refuses_what_is_no_log_with_a_reason)
{
	struct qp_error err = {0};
	struct log_reader *reader;

	cr_assert_eq(log_reader_open("/dev/null", &reader, &err), -EBADMSG);
	cr_assert(strstr(err.text, "not an evidence log"));
	cr_assert_eq(log_reader_open("/nonexistent/x", &reader, NULL), -ENOENT);
}

Test(log, a_record_too_big_is_refused_and_the_log_lives_on)
{
	_cleanup_free_ char *big = calloc(1, LOG_RECORD_BYTES_MAX + 1);
	char sha256[SHA256_HEX_SIZE];
	struct log_writer *writer;
	struct log_reader *reader;
	struct log_record record;
	uint64_t bytes;

	cr_assert_eq(log_writer_open(path, &writer, NULL), 0);
	cr_assert_eq(log_writer_append(writer, 9, big, LOG_RECORD_BYTES_MAX + 1), -EMSGSIZE);
	cr_assert_eq(log_writer_append(writer, 9, big, LOG_RECORD_BYTES_MAX), 0);
	cr_assert_eq(log_writer_close_take(writer, sha256, &bytes), 0);
	cr_assert_eq(log_reader_open(path, &reader, NULL), 0);
	cr_assert_eq(log_reader_next(reader, &record), 1);
	cr_assert_eq(record.len, LOG_RECORD_BYTES_MAX);
	cr_assert_eq(log_reader_next(reader, &record), 0);
	cr_assert(log_reader_is_whole(reader));
	log_reader_free(reader);
}

/* The descriptor that this process holds open on file, or -1: its number depends on what was
 * inherited. */
static int descriptor_of(const char *file)
{
	struct stat want, have;

	cr_assert_eq(stat(file, &want), 0);
	for (int fd = 0; fd < 1024; fd++)
		if (fstat(fd, &have) == 0 && have.st_dev == want.st_dev &&
		    have.st_ino == want.st_ino)
			return fd;
	return -1;
}

Test(log, a_full_disk_sticks)
{
	char sha256[SHA256_HEX_SIZE] = "untouched";
	uint64_t bytes = 7;
	struct log_writer *writer;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), fd;

	cr_assert_geq(full, 0);
	cr_assert_eq(log_writer_open(path, &writer, NULL), 0);
	fd = descriptor_of(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(dup2(full, fd), fd);
	cr_assert_eq(log_writer_append(writer, LOG_RECORD_PHASE, "{}", 2), -ENOSPC);
	cr_assert_eq(log_writer_append(writer, LOG_RECORD_EVENT, "", 0), -ENOSPC);
	cr_assert_eq(log_writer_close_take(writer, sha256, &bytes), -ENOSPC);
	cr_assert_str_eq(sha256, "untouched");
	cr_assert_eq(bytes, 7);
}
