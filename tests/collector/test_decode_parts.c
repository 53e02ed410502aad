// SPDX-License-Identifier: Apache-2.0
/* The small parts that decoding is made of. */
#include "collector/decode_call.h"
#include "collector/decode_map.h"
#include "collector/decode_order.h"
#include "collector/decode_text.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_normal(const char *path, const char *expected)
{
	char *text = path_normalise(path);

	cr_assert_str_eq(text, expected);
	free(text);
}

/* What POSIX says of pathname resolution, links aside. */
Test(decode_text, paths_are_normalised)
{
	assert_normal("/", "/");
	assert_normal("//a//b/", "/a/b");
	assert_normal("/a/./b/../c", "/a/c");
	assert_normal("/../../a", "/a");
	assert_normal("/a/..", "/");
	assert_normal("/a/...", "/a/...");
	assert_normal("a", "/a");
}

static void assert_package(const char *path, const char *expected)
{
	char *name = path_package(path);

	if (expected)
		cr_assert_str_eq(name, expected);
	else
		cr_assert_null(name);
	free(name);
}

Test(decode_text, the_deepest_package_owns_a_path)
{
	assert_package("/work/node_modules/a", "a");
	assert_package("/work/node_modules/a/node_modules/@s/b/lib", "@s/b");
	assert_package("/work/node_modules/a/node_modules/.bin", "a");
	assert_package("/work/node_modules/", NULL);
	assert_package("/work/my_node_modules/a", NULL);
	assert_package("/work", NULL);
}

Test(decode_text, a_star_matches_any_bytes_and_nothing_else_is_special)
{
	cr_assert(text_matches("*/.ssh/*", "/home/a/.ssh/x/y"));
	cr_assert_not(text_matches("*/.ssh/*", "/home/a/.sshx/y"));
	cr_assert(text_matches("/etc/sudoers*", "/etc/sudoers"));
	cr_assert_not(text_matches("/etc/s?", "/etc/sh"));
	cr_assert(text_matches("a*b*c", "aXbXbXc"));
	cr_assert_not(text_matches("", "a"));
}

Test(decode_text, a_folder_has_itself_and_what_is_in_it)
{
	cr_assert(path_is_below("/work", "/work"));
	cr_assert(path_is_below("/work/a", "/work"));
	cr_assert_not(path_is_below("/workshop", "/work"));
	cr_assert_not(path_is_below("/", "/work"));
}

Test(decode_text, a_path_of_a_process_is_told_by_its_number)
{
	const char *rest;
	long pid;

	cr_assert(path_of_process("/proc/42/environ", &pid, &rest));
	cr_assert_eq(pid, 42);
	cr_assert_str_eq(rest, "environ");
	cr_assert_not(path_of_process("/proc/self/environ", &pid, &rest));
	cr_assert_not(path_of_process("/proc/42", &pid, &rest));
	cr_assert_not(path_of_process("/proc/42x/y", &pid, &rest));
	cr_assert_not(path_of_process("/proc/99999999999999999999/y", &pid, &rest));
}

/* The numbers are those of the kernel's tables: syscall_64.tbl, syscall_32.tbl, and
 * asm-generic/unistd.h for aarch64. */
Test(decode_call, a_number_is_that_of_the_abi)
{
	static const struct {
		bool fits;
		struct qp_call call;
	} cases[] = {
		{true, {.call = QP_CALL_ID_openat, .nr = 257}},
		{true, {.call = QP_CALL_ID_openat, .nr = 56}},
		{false, {.call = QP_CALL_ID_openat, .nr = 295}},
		{true, {.call = QP_CALL_ID_openat, .nr = 295, .abi = QP_ABI_I386}},
		{false, {.call = QP_CALL_ID_openat, .nr = 257, .abi = QP_ABI_I386}},
		{true, {.call = QP_CALL_ID_connect, .nr = 102, .abi = QP_ABI_I386}},
		{true, {.call = QP_CALL_ID_openat, .nr = 257, .abi = QP_ABI_X32}},
		{false, {.call = QP_CALL_ID_openat, .nr = 56, .abi = QP_ABI_X32}},
		{true, {.call = QP_CALL_ID_execve, .nr = 520, .abi = QP_ABI_X32}},
		{false, {.call = QP_CALL_ID_openat, .nr = 322, .abi = QP_ABI_ARM}},
		{false, {.call = QP_CALL_ID_unlink, .nr = UINT32_MAX}}, /* aarch64 has none */
		{false, {.call = QP_CALL_NONE}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(call_number_fits(&cases[i].call), cases[i].fits, "case %zu", i);
}

Test(decode_call, rows_are_those_of_the_table)
{
	cr_assert_str_eq(call_info_get(QP_CALL_ID_openat)->name, "openat");
	cr_assert_eq(call_info_get(QP_CALL_ID_openat)->roles[1], QP_ARG_PATH);
	cr_assert_null(call_info_get(QP_CALL_NONE));
	cr_assert_null(call_info_get(QP_CALL_ID_CNT));
	cr_assert_null(call_info_get(UINT32_MAX));
	cr_assert_str_eq(errno_name(13), "EACCES");
	cr_assert_null(errno_name(4000));
}

static const uint64_t seed[2] = {1, 2};

Test(decode_map, keeps_what_is_put_through_growth_and_removal)
{
	struct map map;
	char key[16];

	map_init(&map, seed, 10000);
	for (uint64_t i = 0; i < 5003; i++) {
		int len = snprintf(key, sizeof(key), "k%llu", (unsigned long long)i);

		cr_assert_eq(map_put(&map, key, (size_t)len, i), 0);
	}
	for (uint64_t i = 0; i < 5003; i += 2) {
		int len = snprintf(key, sizeof(key), "k%llu", (unsigned long long)i);
		uint64_t value;

		cr_assert(map_remove(&map, key, (size_t)len, &value));
		cr_assert_eq(value, i);
	}
	for (uint64_t i = 0; i < 5003; i++) {
		int len = snprintf(key, sizeof(key), "k%llu", (unsigned long long)i);
		uint64_t *value = map_get(&map, key, (size_t)len);

		if (i % 2 == 0)
			cr_assert_null(value);
		else
			cr_assert_eq(*value, i);
	}
	map_clear(&map);
}

Test(decode_map, is_bounded)
{
	struct map map;

	map_init(&map, seed, 2);
	cr_assert_eq(map_put(&map, "a", 1, 1), 0);
	cr_assert_eq(map_put(&map, "b", 1, 2), 0);
	cr_assert_eq(map_put(&map, "c", 1, 3), -E2BIG);
	cr_assert_eq(map_put(&map, "a", 1, 4), 0, "an old key takes no room");
	cr_assert_eq(*map_get(&map, "a", 1), 4);
	map_clear(&map);
}

Test(decode_order, gives_the_earliest_first_and_those_of_one_instant_as_they_came)
{
	static const uint64_t times[] = {5, 3, 9, 3, 1, 5};
	static const int expected[] = {4, 1, 3, 0, 5, 2};
	struct order_item item;
	struct order *order;

	cr_assert_eq(order_new(&order), 0);
	for (int i = 0; i < 6; i++)
		cr_assert_eq(order_push(order, times[i], i, "x", 1), 0);
	cr_assert_eq(order_pop(order, 0, &item), 0, "more may come");
	for (int i = 0; i < 6; i++) {
		cr_assert_eq(order_pop(order, 1, &item), 1);
		cr_assert_eq(item.what, expected[i]);
		free(item.bytes);
	}
	cr_assert_eq(order_pop(order, 1, &item), 0);
	cr_assert_eq(order_late(order), 0);
	order_free(order);
}

Test(decode_order, counts_what_comes_later_than_the_window_holds)
{
	struct order_item item;
	struct order *order;

	cr_assert_eq(order_new(&order), 0);
	for (uint64_t i = 0; i < ORDER_ITEMS_MAX; i++)
		cr_assert_eq(order_push(order, 10 + i, 0, "", 0), 0);
	cr_assert_eq(order_pop(order, 0, &item), 1);
	free(item.bytes);
	cr_assert_eq(order_push(order, 3, 0, "", 0), 0);
	cr_assert_eq(order_pop(order, 0, &item), 1);
	cr_assert_eq(item.time_ns, 3);
	free(item.bytes);
	cr_assert_eq(order_late(order), 1);
	order_free(order);
}

Test(decode_sequences, counts_gaps_on_each_cpu)
{
	struct sequences *sequences;

	cr_assert_eq(sequences_new(&sequences), 0);
	cr_assert_eq(sequences_add(sequences, 0, 1), 0);
	cr_assert_eq(sequences_add(sequences, 0, 4), 0);
	cr_assert_eq(sequences_add(sequences, 1, 2), 0);
	cr_assert_eq(sequences_missing(sequences), 3);
	cr_assert_eq(sequences_add(sequences, 0, 3), 0, "late is not lost");
	cr_assert_eq(sequences_add(sequences, 0, 2), 0);
	cr_assert_eq(sequences_missing(sequences), 1);
	cr_assert_eq(sequences_add(sequences, 0, 3), -EEXIST);
	cr_assert_eq(sequences_add(sequences, ORDER_CPUS_MAX, 1), -ERANGE);
	sequences_free(sequences);
}

Test(decode_sequences, a_jump_beyond_the_window_costs_neither_time_nor_count)
{
	struct sequences *sequences;

	cr_assert_eq(sequences_new(&sequences), 0);
	cr_assert_eq(sequences_add(sequences, 0, 3), 0);
	cr_assert_eq(sequences_add(sequences, 0, 1000000003), 0);
	cr_assert_eq(sequences_missing(sequences), 1000000001);
	cr_assert_eq(sequences_add(sequences, 0, 2), -EEXIST);
	cr_assert_eq(sequences_add(sequences, 0, UINT64_MAX - 1), 0);
	cr_assert_eq(sequences_missing(sequences), UINT64_MAX - 1 - 3);
	sequences_free(sequences);
}

static void assert_follows(enum qp_call_id call, uint8_t arg, uint64_t flags, bool follows)
{
	struct qp_call body = {.call = call};

	body.args[arg] = flags;
	cr_expect_eq(call_follows_last(&body), follows, "%s with %#llx", call_info_get(call)->name,
		     (unsigned long long)flags);
}

/* What each call's man page says of a link in the last place; the rest is path_resolution(7). */
Test(decode_call, a_link_in_the_last_place_is_followed_by_some_calls_only)
{
	assert_follows(QP_CALL_ID_unlink, 0, 0, false);
	assert_follows(QP_CALL_ID_rename, 0, 0, false);
	assert_follows(QP_CALL_ID_mkdir, 0, 0, false);
	assert_follows(QP_CALL_ID_link, 0, 0, false);
	assert_follows(QP_CALL_ID_linkat, 4, 0, false);
	assert_follows(QP_CALL_ID_linkat, 4, 0x400 /* AT_SYMLINK_FOLLOW */, true);
	assert_follows(QP_CALL_ID_chmod, 0, 0, true);
	assert_follows(QP_CALL_ID_truncate64, 0, 0, true);
	assert_follows(QP_CALL_ID_chown32, 0, 0, true);
	assert_follows(QP_CALL_ID_lchown, 0, 0, false);
	assert_follows(QP_CALL_ID_lchown32, 0, 0, false);
	assert_follows(QP_CALL_ID_lsetxattr, 0, 0, false);
	assert_follows(QP_CALL_ID_lremovexattr, 0, 0, false);
	assert_follows(QP_CALL_ID_umount2, 1, 0, true);
	assert_follows(QP_CALL_ID_umount2, 1, 8 /* UMOUNT_NOFOLLOW */, false);
}

Test(decode_call, at_symlink_nofollow_is_looked_for_where_each_call_has_it)
{
	static const struct {
		enum qp_call_id call;
		uint8_t arg;
	} rows[] = {{QP_CALL_ID_fchmodat2, 3},	 {QP_CALL_ID_fchownat, 4},
		    {QP_CALL_ID_utimensat, 3},	 {QP_CALL_ID_utimensat_time64, 3},
		    {QP_CALL_ID_setxattrat, 2},	 {QP_CALL_ID_removexattrat, 2},
		    {QP_CALL_ID_file_setattr, 4}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_follows(rows[i].call, rows[i].arg, 0, true);
		assert_follows(rows[i].call, rows[i].arg, 0x100, false);
	}
}
