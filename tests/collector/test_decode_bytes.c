// SPDX-License-Identifier: Apache-2.0
/* How many bytes an observation of a file says were written, and when it says nothing. */
#include "tests/collector/events.h"

#include <sys/mman.h>

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

TestSuite(decode_bytes, .init = begin, .fini = tidy);

static void ev_write(uint32_t pid, const char *path, uint64_t ino, uint32_t number)
{
	struct building b =
		begin_call(s, QP_EVENT_CALL, pid, QP_CALL_ID_write, 1, ARGS(5, 0x7000, 1));

	call_of(&b)->written = number;
	add_path_full(&b, 0, path, 0, ino, S_IFREG | 0644);
	emit(s, &b);
}

static void ev_mmap(uint32_t pid, const char *path, uint64_t ino, int prot)
{
	struct building b = begin_call(s, QP_EVENT_CALL, pid, QP_CALL_ID_mmap, 0x7f0000000000,
				       ARGS(0, 4096, (uint64_t)prot, MAP_SHARED, 5));

	add_path_full(&b, 4, path, 0, ino, S_IFREG | 0644);
	emit(s, &b);
}

static void add_sums(const char *text)
{
	add_json(s, LOG_RECORD_WRITTEN, json_pack("{s:o}", "sums", json_loads(text, 0, NULL)));
}

/* Of the only observation with that path; -1: it has none. */
static json_int_t bytes_of(const char *path)
{
	const struct observation *found = NULL;
	const json_t *bytes;

	for (size_t i = 0; i < facts.observations.cnt; i++) {
		const struct observation *o = &facts.observations.items[i];

		if (!o->path || strcmp(o->path, path) != 0)
			continue;
		cr_assert_null(found, "two observations of %s", path);
		found = o;
	}
	cr_assert(found, "no observation of %s", path);
	bytes = json_object_get(found->extra, "bytes");
	return bytes ? json_integer_value(bytes) : -1;
}

Test(decode_bytes, are_the_sums_of_the_process_and_the_file)
{
	ev_open(s, 10, "/work/new", O_RDWR | O_CREAT, QP_PATH_CREATED, 7);
	ev_write(10, "/work/new", 7, 1);
	ev_open(s, 10, "/etc/hosts", O_WRONLY, 0, 8);
	ev_write(10, "/etc/hosts", 8, 2);
	add_sums("[[1, 300], [2, 5]]");
	ev_write(10, "/work/new", 7, 3); /* after the sums were put away */
	ev_open(s, 10, "/work/idle", O_WRONLY, 0, 9);
	add_sums("[[3, 21]]");
	exec_ends(s, 0, &facts);
	cr_expect_eq(bytes_of("/work/new"), 321);
	cr_expect_eq(bytes_of("/etc/hosts"), 5);
	cr_expect_eq(bytes_of("/work/idle"), -1);
}

Test(decode_bytes, go_with_the_file_that_was_open_when_it_had_another_name)
{
	ev_open(s, 10, "/work/a.tmp", O_RDWR | O_CREAT, QP_PATH_CREATED, 7);
	ev_two_paths(s, 10, QP_CALL_ID_rename, 0, "/work/a.tmp", "/work/a");
	ev_write(10, "/work/a", 7, 1);
	/* The inode's number is used again. */
	ev_open(s, 10, "/work/b", O_RDWR | O_CREAT, QP_PATH_CREATED, 7);
	ev_write(10, "/work/b", 7, 2);
	add_sums("[[2, 20], [1, 1]]");
	exec_ends(s, 0, &facts);
	cr_expect_eq(bytes_of("/work/b"), 20);
	for (size_t i = 0; i < facts.observations.cnt; i++) {
		const struct observation *o = &facts.observations.items[i];

		if (o->kind == OBSERVATION_FILE_CREATE && !strcmp(o->path, "/work/a.tmp"))
			cr_expect_eq(json_integer_value(json_object_get(o->extra, "bytes")), 1);
	}
}

Test(decode_bytes, of_an_inherited_descriptor_go_to_who_opened_the_file)
{
	ev_open(s, 10, "/work/log", O_WRONLY | O_CREAT, QP_PATH_CREATED, 7);
	ev_fork(s, 10, 11);
	ev_fork(s, 11, 12);
	ev_write(10, "/work/log", 7, 1);
	ev_write(12, "/work/log", 7, 2);
	add_sums("[[1, 3], [2, 40]]");
	exec_ends(s, 0, &facts);
	cr_expect_eq(bytes_of("/work/log"), 43);
}

Test(decode_bytes, are_left_out_where_a_mapping_may_have_written_more)
{
	ev_open(s, 10, "/work/db", O_RDWR, 0, 7);
	ev_write(10, "/work/db", 7, 1);
	ev_mmap(10, "/work/db", 7, PROT_READ); /* mprotect() may follow */
	ev_open(s, 10, "/work/other", O_RDWR, 0, 8);
	ev_write(10, "/work/other", 8, 2);
	add_sums("[[1, 3], [2, 4]]");
	exec_ends(s, 0, &facts);
	cr_expect_eq(bytes_of("/work/db"), -1);
	cr_expect_eq(bytes_of("/work/other"), 4);
}

Test(decode_bytes, are_left_out_where_a_sum_is_missing)
{
	ev_open(s, 10, "/work/a", O_RDWR, 0, 7);
	ev_write(10, "/work/a", 7, 1);
	ev_write(10, "/work/a", 7, 2);
	add_sums("[[1, 3]]");
	exec_ends(s, 0, &facts);
	cr_expect_eq(bytes_of("/work/a"), -1);
}

Test(decode_bytes, are_left_out_where_one_number_has_two_files)
{
	ev_open(s, 10, "/work/a", O_RDWR, 0, 7);
	ev_write(10, "/work/a", 7, 1);
	ev_open(s, 10, "/work/b", O_RDWR, 0, 8);
	ev_write(10, "/work/b", 8, 1);
	add_sums("[[1, 3]]");
	exec_ends(s, 0, &facts);
	cr_expect_eq(bytes_of("/work/a"), -1);
	cr_expect_eq(bytes_of("/work/b"), -1);
}

Test(decode_bytes, are_left_out_once_an_io_uring_was_set_up)
{
	ev_open(s, 10, "/work/a", O_RDWR, 0, 7);
	ev_write(10, "/work/a", 7, 1);
	ev_call(s, 10, QP_CALL_ID_io_uring_setup, 6, ARGS(8, 0x7000));
	add_sums("[[1, 3]]");
	exec_ends(s, 0, &facts);
	cr_expect_eq(bytes_of("/work/a"), -1);
}

Test(decode_bytes, are_left_out_when_events_are_missing)
{
	ev_open(s, 10, "/work/a", O_RDWR, 0, 7);
	ev_write(10, "/work/a", 7, 1);
	s->seq++;
	add_sums("[[1, 3]]");
	exec_ends(s, 0, &facts);
	cr_expect_not(facts.markers[MARKER_KERNEL_TRACE].ok);
	cr_expect_eq(bytes_of("/work/a"), -1);
}

Test(decode_bytes, of_records_that_make_no_sense_are_none)
{
	static const char *const senseless[] = {
		"7", "[7]", "[[0, 1]]", "[[4294967296, 1]]", "[[1, -1]]", "[[1]]"};

	for (size_t i = 0; i < sizeof(senseless) / sizeof(senseless[0]); i++) {
		if (i)
			begin();
		ev_open(s, 10, "/work/a", O_RDWR, 0, 7);
		ev_write(10, "/work/a", 7, 1);
		add_sums("[[1, 3]]");
		add_json(s, LOG_RECORD_WRITTEN,
			 json_pack("{s:o}", "sums",
				   json_loads(senseless[i], JSON_DECODE_ANY, NULL)));
		exec_ends(s, 0, &facts);
		cr_expect_eq(bytes_of("/work/a"), i == 5 ? 3 : -1, "%s", senseless[i]);
		tidy();
		facts = (struct run_facts){0};
	}
}
