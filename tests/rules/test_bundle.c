// SPDX-License-Identifier: Apache-2.0
/* Bundles written by many at once, by those who crash, and on disks that are full. */
#include "base/io.h"
#include "base/log.h"
#include "rules/bundle.h"
#include "rules/canon.h"
#include "rules/dsse.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct place {
	char folder[32], path[64];
	struct key *key;
};

static void place_make(struct place *place)
{
	strcpy(place->folder, "/tmp/qp-test-bundle-XXXXXX");
	cr_assert(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "%s/bundle.jsonl", place->folder);
	cr_assert_eq(key_generate(&place->key, NULL), 0);
}

static void place_remove(struct place *place)
{
	key_free(place->key);
	cr_assert_eq(remove_tree_at(AT_FDCWD, place->folder), 0);
}

/* A record that is nothing but its link and a number. */
static char *record_line(const struct key *key, const char *previous, int number, size_t *ret_len)
{
	json_auto_t *record = json_pack("{s:s, s:s, s:i}", "schema", "qp-run-record/1", "previous",
					previous, "number", number);
	char *payload, *line;
	size_t len;

	cr_assert_eq(canon_dump(record, &payload, &len), 0);
	cr_assert_eq(dsse_sign(key, DSSE_TYPE_RECORD, payload, len, &line, ret_len, NULL), 0);
	free(payload);
	return line;
}

static int append(const struct place *place, int number, uint64_t *ret_line)
{
	struct bundle *bundle;
	int r = bundle_open(place->path, place->key, &bundle, NULL);
	size_t len;
	char *line;

	if (r)
		return r;
	line = record_line(place->key, bundle_previous(bundle), number, &len);
	r = bundle_append(bundle, line, len, ret_line, NULL);
	free(line);
	bundle_close(bundle);
	return r;
}

static uint64_t verified_lines(const struct place *place)
{
	struct bundle_found found;
	struct qp_error err = {0};

	cr_assert_eq(bundle_verify(place->path, place->key, "", 0, &found, &err), 0, "%s",
		     err.text);
	cr_assert_null(found.record);
	return found.lines;
}

Test(bundle, numbers_lines_from_one_and_links_each_to_the_one_before)
{
	struct place place;
	uint64_t line;
	struct stat st;

	place_make(&place);
	for (int i = 1; i <= 7; i++) {
		cr_assert_eq(append(&place, i, &line), 0);
		cr_assert_eq(line, (uint64_t)i);
	}
	cr_assert_eq(verified_lines(&place), 7);
	cr_assert_eq(stat(place.path, &st), 0);
	cr_assert_eq(st.st_mode & 0133, 0);
	place_remove(&place);
}

Test(bundle, sixty_four_writers_leave_one_chain_of_all_their_lines)
{
	struct place place;

	place_make(&place);
	for (int i = 0; i < 64; i++) {
		pid_t pid = fork();

		cr_assert_geq(pid, 0);
		if (pid)
			continue;
		for (int j = 0; j < 7; j++)
			if (append(&place, i * 7 + j, NULL))
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 64; i++) {
		int status;

		cr_assert_gt(wait(&status), 0);
		cr_assert_eq(status, 0);
	}
	cr_assert_eq(verified_lines(&place), 64 * 7);
	place_remove(&place);
}

Test(bundle, writers_killed_at_any_time_break_nothing)
{
	const struct timespec pause = {.tv_nsec = 1700000};
	struct place place;
	uint64_t before = 0;

	place_make(&place);
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();
		uint64_t now;

		cr_assert_geq(pid, 0);
		if (!pid)
			for (int j = 0;; j++)
				if (append(&place, j, NULL))
					_exit(1);
		nanosleep(&pause, NULL);
		kill(pid, SIGKILL);
		cr_assert_eq(waitpid(pid, NULL, 0), pid);
		cr_assert_eq(append(&place, i, NULL), 0);
		now = verified_lines(&place);
		cr_assert_gt(now, before);
		before = now;
	}
	place_remove(&place);
}

Test(bundle, a_line_torn_at_any_byte_is_cut_off_and_the_chain_goes_on)
{
	struct place place;
	struct bundle *bundle;
	char *bytes, *line;
	size_t len, line_len;

	log_max_level = LOG_LEVEL_ERROR; /* each cut is warned of */
	place_make(&place);
	cr_assert_eq(append(&place, 1, NULL), 0);
	cr_assert_eq(read_file_at(AT_FDCWD, place.path, 1U << 20, &bytes, &len), 0);
	cr_assert_eq(bundle_open(place.path, place.key, &bundle, NULL), 0);
	line = record_line(place.key, bundle_previous(bundle), 2, &line_len);
	bundle_close(bundle);
	for (size_t torn = 1; torn <= line_len; torn++) {
		int fd = open(place.path, O_WRONLY | O_TRUNC);
		struct qp_error err = {0};
		struct bundle_found found;

		cr_assert_eq(write_all(fd, bytes, len), 0);
		cr_assert_eq(write_all(fd, line, torn), 0);
		close(fd);
		cr_assert_eq(bundle_verify(place.path, place.key, "", 0, &found, &err), -EBADMSG);
		cr_assert_str_eq(err.text,
				 "refused: bundle: line 2: it is torn: no newline ends it");
		cr_assert_eq(append(&place, 3, NULL), 0);
		cr_assert_eq(verified_lines(&place), 2);
	}
	free(bytes);
	free(line);
	place_remove(&place);
}

Test(bundle, a_disk_that_fills_up_leaves_the_file_as_it_was)
{
	const struct rlimit small = {2000, 2000};
	struct place place;
	uint64_t lines = 0;
	int r;

	signal(SIGXFSZ, SIG_IGN);
	place_make(&place);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	while ((r = append(&place, 1, NULL)) == 0)
		lines++;
	cr_assert(r == -EFBIG || r == -ENOSPC, "%d", r);
	cr_assert_gt(lines, 1);
	cr_assert_eq(verified_lines(&place), lines);
	place_remove(&place);
}

Test(bundle, a_bundle_of_another_key_is_left_alone)
{
	struct place place;
	struct bundle *bundle = NULL;
	struct key *other, *own;
	struct stat before, after;

	place_make(&place);
	cr_assert_eq(key_generate(&other, NULL), 0);
	cr_assert_eq(append(&place, 1, NULL), 0);
	cr_assert_eq(stat(place.path, &before), 0);
	own = place.key;
	cr_assert_eq(bundle_check(place.path, other, NULL), -EACCES);
	cr_assert_eq(bundle_open(place.path, other, &bundle, NULL), -EACCES);
	cr_assert_null(bundle);
	cr_assert_eq(bundle_check(place.path, own, NULL), 0);
	cr_assert_eq(stat(place.path, &after), 0);
	cr_assert_eq(before.st_size, after.st_size);
	key_free(other);
	place_remove(&place);
}

Test(bundle, what_is_no_plain_file_is_no_bundle)
{
	struct place place;
	struct bundle *bundle;
	struct qp_error err = {0};
	char target[80];

	place_make(&place);
	cr_assert_eq(bundle_check(place.path, place.key, NULL), 0, "not there is fine");
	cr_assert_neq(access(place.path, F_OK), 0, "and is not made by looking");
	cr_assert_eq(mkfifo(place.path, 0600), 0);
	cr_assert_eq(bundle_open(place.path, place.key, &bundle, NULL), -EINVAL);
	cr_assert_eq(unlink(place.path), 0);
	snprintf(target, sizeof(target), "%s/target", place.folder);
	cr_assert_eq(symlink(target, place.path), 0);
	cr_assert_eq(bundle_open(place.path, place.key, &bundle, &err), -ELOOP);
	cr_assert(strstr(err.text, "is a symbolic link"), "%s", err.text);
	cr_assert_neq(access(target, F_OK), 0);
	place_remove(&place);
}

Test(bundle, finds_a_record_by_line_and_by_digest)
{
	struct place place;
	struct bundle_found by_line, by_digest;

	place_make(&place);
	for (int i = 1; i <= 3; i++)
		cr_assert_eq(append(&place, 10 * i, NULL), 0);
	cr_assert_eq(bundle_verify(place.path, place.key, "", 2, &by_line, NULL), 0);
	cr_assert_eq(json_integer_value(json_object_get(by_line.record, "number")), 20);
	cr_assert_eq(
		bundle_verify(place.path, place.key, by_line.record_sha256, 0, &by_digest, NULL),
		0);
	cr_assert_eq(by_digest.line, 2);
	cr_assert(json_equal(by_line.record, by_digest.record));
	json_decref(by_line.record);
	json_decref(by_digest.record);
	place_remove(&place);
}
