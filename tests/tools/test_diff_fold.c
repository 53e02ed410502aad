// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/fold.h"
#include "tools/diff/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static json_t *receipt;
static struct fold *fold;

static void begin(void)
{
	receipt = json_pack("{s:{s:s, s:s}, s:{s:s, s:{s:{s:s, s:s, s:s}, s:s}, s:{s:s}}, "
			    "s:{s:[{s:s, s:s, s:s}, "
			    "{s:s, s:s, s:s}]}}",
			    "package", "name", "@scope/pad", "version", "1.2.3", "sandbox",
			    "hostName", "build-85", "hardening", "Tmpfs", "/home/alice", "rw",
			    "/tmp", "rw", "/work", "rw", "User", "31234:31234", "network", "subnet",
			    "10.0.5.0/24", "network", "sinkholeLog", "type", "dns", "name",
			    "x.example", "answer", "198.18.0.1", "type", "dns", "name", "x.example",
			    "answer", "fd00::c612:1");
	cr_assert(receipt);
	cr_assert_eq(fold_new(receipt, &fold), 0);
}

static void tidy(void)
{
	fold_free(fold);
	json_decref(receipt);
}

TestSuite(fold, .init = begin, .fini = tidy);

static void assert_folds(enum fold_as as, bool loose, const char *text, const char *expected)
{
	char *got = fold_text(fold, text, as, loose);

	cr_assert_str_eq(got, expected, "%s gave %s, not %s", text, got, expected);
	free(got);
}

struct folding {
	const char *text, *expected;
};

static void assert_all(enum fold_as as, const struct folding *cases, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		assert_folds(as, false, cases[i].text, cases[i].expected);
}

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

Test(fold, paths_lose_what_the_run_made_up)
{
	static const struct folding cases[] = {
		{"/home/alice/.npmrc", "~/.npmrc"},
		{"/home/alice", "~"},
		{"/home/alicex/.npmrc", "/home/alicex/.npmrc"},
		{"/mnt/home/alice/x", "/mnt/home/{user}/x"},
		{"/proc/18/environ", "/proc/{pid}/environ"},
		{"/proc/18/task/19/mem", "/proc/{pid}/task/{pid}/mem"},
		{"/proc/sys/kernel/18", "/proc/sys/kernel/18"},
		{"/proc/18x/environ", "/proc/18x/environ"},
		{"/work/node_modules/@scope/pad/x", "/work/node_modules/{package}/x"},
		{"/work/node_modules/@scope/pad", "/work/node_modules/{package}"},
		{"/work/node_modules/@scope/pad2/x", "/work/node_modules/@scope/pad2/x"},
		{"/work/out/pad-1.2.3.tgz", "/work/out/pad-{version}.tgz"},
		{"/work/out/pad-11.2.3.tgz", "/work/out/pad-11.2.3.tgz"},
		{"/work/out/pad-1.2.3.4.tgz", "/work/out/pad-1.2.3.4.tgz"},
		{"/run/user/31234/bus", "/run/user/{uid}/bus"},
		{"/etc/passwd", "/etc/passwd"},
		{"/work/a b/1.2.3", "/work/a b/{version}"},
	};

	assert_all(FOLD_PATH, cases, CNT(cases));
}

Test(fold, names_that_come_and_go_lose_their_random_parts)
{
	static const struct folding cases[] = {
		{"/tmp/xyz123", "/tmp/{random}"},
		{"/tmp/tmp.F54BC9QbDp/x", "/tmp/tmp.{random}/x"},
		{"/tmp/build-pBn3cL/out.js", "/tmp/build-{random}/out.js"},
		{"/tmp/pid.1234", "/tmp/pid.{random}"},
		{"/tmp/core-js-banners", "/tmp/core-js-banners"},
		{"/tmp/core-2", "/tmp/core-2"},
		{"/tmp/pid.14", "/tmp/pid.{random}"},
		{"/tmp/better-sqlite3-v8", "/tmp/better-sqlite3-v8"},
		{"/tmp/python3/abc123", "/tmp/python3/{random}"},
		{"/tmp/packageJson", "/tmp/packageJson"},
		{"/dev/shm/sem.aBcDeF", "/dev/shm/sem.{random}"},
		{"/home/alice/.npm/_logs/2026-11-30T19_26_52_348Z-debug-0.log",
		 "~/.npm/_logs/{time}-debug-0.log"},
		{"/tmp/node-compile-cache/v20.20.2-x64-7c2be9a1-31234/3fe81a2c/a9c0",
		 "/tmp/node-compile-cache/v20.20.2-x64-{random}-{uid}/{random}/a9c0"},
		{"/work/node_modules/.cache/babel/3fe81a2c9d.json",
		 "/work/node_modules/.cache/babel/{random}.json"},
		{"/work/build/xyz123", "/work/build/xyz123"},
		{"/var/tmpx/xyz123", "/var/tmpx/xyz123"},
		{"/tmp/\\x0a1234", "/tmp/\\x0a{random}"},
	};

	assert_all(FOLD_PATH, cases, CNT(cases));
}

Test(fold, words_of_commands_are_folded_where_a_path_or_an_address_stands)
{
	static const struct folding cases[] = {
		{"cp /tmp/xyz123 abc123", "cp /tmp/{random} abc123"},
		{"--cache=/home/alice/.cache/a1b2c3d4", "--cache=~/.cache/{random}"},
		{"http://198.18.0.1/x", "http://x.example/x"},
		{"http://[fd00::c612:1]:80/x", "http://[x.example]:80/x"},
		{"http://198.18.9.9/x", "http://{sinkhole}/x"},
		{"http://203.0.113.7/x", "http://203.0.113.7/x"},
		{"nc 10.0.5.1 53", "nc {local} 53"},
		{"user=alice", "user={user}"},
		{"--alice", "--alice"},
		{"{\"host\":\"build-85\"}", "{\"host\":\"{host}\"}"},
		{"build-851", "build-851"},
		{"/?t=1796067419122", "/?t={number}"},
		{"/?id=123e4567-e89b-12d3-a456-426614174000", "/?id={random}"},
		{"/v1.2.3/linux-x64.tgz", "/v{version}/linux-x64.tgz"},
		{"node install.js", "node install.js"},
		{"", ""},
	};

	assert_all(FOLD_TEXT, cases, CNT(cases));
}

Test(fold, host_names_lose_users_and_data)
{
	static const struct folding cases[] = {
		{"x.example", "x.example"},
		{"alice.x.example", "{user}.x.example"},
		{"alice.build-85.x.example", "{user}.{host}.x.example"},
		{"0123456789abcdef.x.example", "{data}.x.example"},
		{"mfrggzdfmztwq2lknnwg23tpobyxe43u.x.example", "{data}.x.example"},
		{"downloads2.x.example", "downloads2.x.example"},
		{"198.18.0.1", "x.example"},
	};

	assert_all(FOLD_NAME, cases, CNT(cases));
}

Test(fold, loosely_a_word_may_be_random)
{
	assert_folds(FOLD_PATH, false, "/tmp/build-abcdef", "/tmp/build-abcdef");
	assert_folds(FOLD_PATH, true, "/tmp/build-abcdef", "/tmp/build-{random}");
	assert_folds(FOLD_PATH, true, "/work/build-abcdef", "/work/build-abcdef");
}

Test(fold, a_receipt_that_says_nothing_of_its_run_folds_little)
{
	json_t *empty = json_object();
	struct fold *nothing;
	char *text;

	cr_assert_eq(fold_new(empty, &nothing), 0);
	text = fold_text(nothing, "/home/alice/1.2.3/node_modules/x", FOLD_PATH, false);
	cr_assert_str_eq(text, "/home/alice/1.2.3/node_modules/x");
	free(text);
	fold_free(nothing);
	json_decref(empty);
}

Test(random, times_and_uuids_are_told_by_their_form)
{
	cr_assert_eq(random_time_len("2026-11-30T19:26:52.348798Z x"), 27);
	cr_assert_eq(random_time_len("2026-11-30T19-26-52"), 19);
	cr_assert_eq(random_time_len("2026-11-30 19:26:52"), 0);
	cr_assert_eq(random_time_len("2026"), 0);
	cr_assert_eq(random_uuid_len("123e4567-e89b-12d3-a456-426614174000"), 36);
	cr_assert_eq(random_uuid_len("123e4567-e89b-12d3-a456-4266141740001"), 0);
}
