// SPDX-License-Identifier: Apache-2.0
#include "rules/canon.h"
#include "tools/diff/diff.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A receipt with one run's own home, network and package. */
static json_t *receipt(const char *user, const char *subnet, const char *observations)
{
	json_error_t error;
	json_t *list = json_loads(observations, 0, &error), *result;
	char home[64];

	cr_assert(list, "%s", error.text);
	snprintf(home, sizeof(home), "/home/%s", user);
	result = json_pack(
		"{s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:{s:{s:{s:s, s:s}, s:s}, s:{s:s}}, s:o}",
		"schema", "qp-receipt/1", "verdict", "review", "status", "completed", "package",
		"name", "left-pad", "version", "1.2.3", "requested", "left-pad", "sandbox",
		"hardening", "Tmpfs", home, "rw", "/tmp", "rw", "User", "31234:31234", "network",
		"subnet", subnet, "observations", list);
	cr_assert(result);
	return result;
}

static json_t *observed(const char *observations)
{
	return receipt("alice", "10.0.0.0/24", observations);
}

/* Compares and gives up both. */
static json_t *compare(json_t *a, json_t *b)
{
	json_t *diff;

	cr_assert_eq(diff_build(a, b, &diff), 0);
	json_decref(a);
	json_decref(b);
	return diff;
}

static void assert_same(json_t *a, json_t *b)
{
	json_t *diff = compare(a, b);
	char *text = json_dumps(diff, 0);

	cr_assert(diff_is_same(diff), "%s", text);
	free(text);
	json_decref(diff);
}

/* Lists are given as JSON with single quotes. */
static void assert_section(const json_t *diff, const char *section, const char *side,
			   const char *expected)
{
	char *text = strdup(expected), *got, *want;
	size_t len;
	json_t *value;

	for (char *p = text; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	value = json_loads(text, 0, NULL);
	cr_assert(value, "%s", text);
	cr_assert_eq(canon_dump(value, &want, &len), 0);
	cr_assert_eq(canon_dump(json_object_get(json_object_get(diff, section), side), &got, &len),
		     0);
	cr_assert_str_eq(got, want);
	json_decref(value);
	free(text);
	free(got);
	free(want);
}

Test(diff, two_runs_with_other_pids_homes_and_times_are_the_same)
{
	assert_same(
		receipt("alice", "10.0.5.0/24",
			"[{\"id\":\"o1\",\"kind\":\"file-read\",\"actor\":\"package\",\"pid\":12,"
			"\"t\":1,\"path\":\"/home/alice/.npmrc\"},"
			"{\"id\":\"o2\",\"kind\":\"file-read\",\"pid\":12,\"path\":\"/proc/12/"
			"environ\"}]"),
		receipt("bob", "192.168.7.0/24",
			"[{\"id\":\"o1\",\"kind\":\"file-read\",\"actor\":\"package\",\"pid\":99,"
			"\"t\":7,\"path\":\"/home/bob/.npmrc\"},"
			"{\"id\":\"o2\",\"kind\":\"file-read\",\"pid\":9,\"path\":\"/proc/99/"
			"environ\"}]"));
}

Test(diff, what_only_one_did_is_named_with_its_observations)
{
	json_t *diff = compare(
		observed("[{\"id\":\"o1\",\"kind\":\"spawn\",\"exe\":\"/usr/bin/node\",\"argv\":"
			 "[\"node\",\"a.js\"]}]"),
		observed("[{\"id\":\"o1\",\"kind\":\"file-write\",\"outcome\":\"attempted\","
			 "\"path\":\"/etc/x\"},{\"id\":\"o4\",\"kind\":\"file-write\","
			 "\"outcome\":\"attempted\",\"path\":\"/etc/x\"}]"));

	cr_assert_not(diff_is_same(diff));
	assert_section(diff, "processes", "removed",
		       "[{'kind': 'spawn', 'exe': '/usr/bin/node', 'argv': ['node', 'a.js'], "
		       "'observationIds': ['o1']}]");
	assert_section(diff, "processes", "added", "[]");
	assert_section(diff, "files", "added",
		       "[{'kind': 'file-write', 'outcome': 'attempted', 'path': '/etc/x', "
		       "'observationIds': ['o1', 'o4']}]");
	json_decref(diff);
}

Test(diff, an_attempt_and_a_deed_differ)
{
	json_t *diff = compare(observed("[{\"kind\":\"file-write\",\"outcome\":\"attempted\","
					"\"path\":\"/etc/x\"}]"),
			       observed("[{\"kind\":\"file-write\",\"outcome\":\"effected\","
					"\"path\":\"/etc/x\"}]"));

	assert_section(diff, "files", "added", "[{'kind': 'file-write', 'path': '/etc/x'}]");
	json_decref(diff);
}

Test(diff, a_suffix_that_looks_like_a_word_meets_one_that_does_not)
{
	assert_same(observed("[{\"kind\":\"file-create\",\"path\":\"/tmp/build-k3F9aQ\"}]"),
		    observed("[{\"kind\":\"file-create\",\"path\":\"/tmp/build-abcdef\"}]"));
}

Test(diff, two_suffixes_that_look_like_words_are_words)
{
	json_t *diff =
		compare(observed("[{\"kind\":\"file-create\",\"path\":\"/tmp/build-config\"}]"),
			observed("[{\"kind\":\"file-create\",\"path\":\"/tmp/build-passwd\"}]"));

	assert_section(diff, "files", "added",
		       "[{'kind': 'file-create', 'path': '/tmp/build-passwd'}]");
	json_decref(diff);
}

Test(diff, names_of_files_that_came_and_went_are_temporary_anywhere)
{
	static const char *const forms = "[{\"kind\":\"file-create\",\"path\":\"/work/b/%s\"},"
					 "{\"kind\":\"%s\",\"path\":\"/work/b/%s\"}]";
	char a[256], b[256], kept[256];
	json_t *diff;

	snprintf(a, sizeof(a), forms, "stZ9YpeA", "file-delete", "stZ9YpeA");
	snprintf(b, sizeof(b), forms, "stXn9Fxy", "file-delete", "stXn9Fxy");
	snprintf(kept, sizeof(kept), forms, "stXn9Fxy", "file-meta", "stXn9Fxy");
	assert_same(observed(a), observed(b));
	diff = compare(observed(a), observed(kept));
	cr_assert_not(diff_is_same(diff));
	json_decref(diff);
}

Test(diff, pids_of_one_digit_and_of_two_are_pids)
{
	assert_same(observed("[{\"kind\":\"file-create\",\"path\":\"/tmp/pid.6\"}]"),
		    observed("[{\"kind\":\"file-create\",\"path\":\"/tmp/pid.12\"}]"));
}

Test(diff, a_body_counts_and_its_size_does_not)
{
	static const char *const forms =
		"[{\"kind\":\"net-tcp\",\"dest\":\"x.example\",\"orig_dest\":\"198.18.0.%d:80\","
		"\"port\":80,\"http\":{\"method\":\"POST\",\"host\":\"x.example\",\"path\":\"/\","
		"\"payloadBytes\":%d}}]";
	char none[256], some[256], more[256];
	json_t *diff;

	snprintf(none, sizeof(none), forms, 1, 0);
	snprintf(some, sizeof(some), forms, 1, 130);
	snprintf(more, sizeof(more), forms, 9, 133);
	assert_same(observed(some), observed(more));
	diff = compare(observed(none), observed(some));
	assert_section(diff, "network", "added",
		       "[{'kind': 'net-tcp', 'host': 'x.example', 'port': 80, 'method': 'POST', "
		       "'url': '/', 'body': true}]");
	json_decref(diff);
}

Test(diff, both_address_families_are_one_question_and_text_records_another)
{
	json_t *diff;

	assert_same(observed("[{\"kind\":\"net-dns\",\"orig_dest\":\"10.0.0.1:53\",\"queries\":"
			     "[{\"name\":\"x.example\",\"qtype\":1},"
			     "{\"name\":\"x.example\",\"qtype\":28}]}]"),
		    observed("[{\"kind\":\"net-dns\",\"orig_dest\":\"10.0.0.9:53\",\"queries\":"
			     "[{\"name\":\"x.example\",\"qtype\":1}]}]"));
	diff = compare(observed("[]"),
		       observed("[{\"kind\":\"net-dns\",\"orig_dest\":\"203.0.113.7:5353\","
				"\"queries\":[{\"name\":\"x.example\",\"qtype\":16}]}]"));
	assert_section(diff, "names", "added",
		       "[{'kind': 'net-dns', 'name': 'x.example', 'type': 16, 'server': "
		       "'203.0.113.7:5353'}]");
	json_decref(diff);
}

Test(diff, decoys_are_a_set)
{
	json_t *diff;

	assert_same(observed("[{\"kind\":\"net-tcp\",\"decoys\":[\"npm-token\",\"aws\"]}]"),
		    observed("[{\"kind\":\"net-tcp\",\"decoys\":[\"aws\",\"npm-token\"]}]"));
	diff = compare(observed("[{\"kind\":\"net-tcp\"}]"),
		       observed("[{\"kind\":\"net-tcp\",\"decoys\":[\"npm-token\", 3]}]"));
	assert_section(diff, "network", "added",
		       "[{'kind': 'net-tcp', 'decoys': {'npm-token': true}}]");
	json_decref(diff);
}

Test(diff, ports_fold_on_local_addresses_only)
{
	json_t *diff;

	assert_same(observed("[{\"kind\":\"net-listen\",\"orig_dest\":\"127.0.0.1:40001\","
			     "\"port\":40001}]"),
		    observed("[{\"kind\":\"net-listen\",\"orig_dest\":\"127.0.0.1:53211\","
			     "\"port\":53211}]"));
	diff = compare(observed("[{\"kind\":\"net-tcp\",\"orig_dest\":\"203.0.113.7:40001\","
				"\"port\":40001}]"),
		       observed("[{\"kind\":\"net-tcp\",\"orig_dest\":\"203.0.113.7:40002\","
				"\"port\":40002}]"));
	assert_section(diff, "network", "added",
		       "[{'kind': 'net-tcp', 'host': '203.0.113.7', 'port': 40002}]");
	json_decref(diff);
}

Test(diff, a_verdict_and_a_marker_that_changed_are_told)
{
	json_t *a = observed("[]"), *b = observed("[]"), *diff, *list;

	json_object_set_new(b, "verdict", json_string("do-not-install"));
	json_object_set_new(a, "completeness",
			    json_pack("{s:{s:b}, s:{s:b}}", "x", "ok", 1, "y", "ok", 1));
	json_object_set_new(b, "completeness",
			    json_pack("{s:{s:b}, s:{s:b}}", "x", "ok", 0, "z", "ok", 1));
	diff = compare(a, b);
	cr_assert_not(diff_is_same(diff));
	cr_assert_str_eq(json_string_value(json_object_get(json_object_get(diff, "verdict"), "b")),
			 "do-not-install");
	list = json_pack("[{s:s, s:b, s:b}, {s:s, s:b, s:n}, {s:s, s:n, s:b}]", "marker", "x", "a",
			 1, "b", 0, "marker", "y", "a", 1, "b", "marker", "z", "a", "b", 1);
	cr_assert(json_equal(json_object_get(diff, "completeness"), list));
	json_decref(list);
	json_decref(diff);
}

Test(diff, a_rule_is_itself_whatever_its_words)
{
	json_t *a = observed("[]"), *b = observed("[]");

	json_object_set_new(
		a, "rulesFired",
		json_pack("[{s:s, s:s, s:s}]", "id", "f", "tier", "review", "text", "old words"));
	json_object_set_new(
		b, "rulesFired",
		json_pack("[{s:s, s:s, s:s}]", "id", "f", "tier", "review", "text", "new words"));
	assert_same(a, b);
}

Test(diff, members_of_wrong_types_count_as_missing)
{
	static const char *const texts[] = {
		"{\"schema\":\"qp-receipt/1\",\"observations\":{\"kind\":\"spawn\"}}",
		"{\"schema\":\"qp-receipt/1\",\"observations\":[1,null,\"x\",[],{\"kind\":7}]}",
		"{\"schema\":\"qp-receipt/1\",\"rulesFired\":[3],\"completeness\":[]}",
		"{\"schema\":\"qp-receipt/1\",\"sandbox\":{\"hardening\":{\"User\":9,\"Tmpfs\":[]},"
		"\"network\":{\"subnet\":\"10.0.0.0/99\"}},\"network\":{\"sinkholeLog\":[[],5]}}",
		"{\"schema\":\"qp-receipt/"
		"1\",\"observations\":[{\"kind\":\"net-dns\",\"queries\":[4]},"
		"{\"kind\":\"net-tcp\",\"orig_dest\":\"]\"},{\"kind\":\"net-tcp\",\"orig_dest\":\"["
		"\"},"
		"{\"kind\":\"net-tcp\",\"orig_dest\":\"[]:\"},{\"kind\":\"net-udp\",\"orig_dest\":"
		"\":\"},"
		"{\"kind\":\"spawn\",\"argv\":[{},1]}]}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *diff = compare(json_loads(texts[i], 0, NULL), observed("[]"));
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		diff_print(out, diff, &(struct diff_options){0});
		fclose(out);
		cr_assert(len);
		free(text);
		json_decref(diff);
	}
}

/* Thirty files and their difference to none, printed. */
static char *thirty_printed(bool all)
{
	json_t *list = json_array(), *b = observed("[]"), *diff;
	struct diff_options options = {.all = all};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	for (int i = 0; i < 30; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:o}", "kind", "file-write", "path",
					json_sprintf("/work/%c%c", 'a' + i / 10, 'a' + i % 10)));
	json_object_set_new(b, "observations", list);
	diff = compare(observed("[]"), b);
	diff_print(out, diff, &options);
	fclose(out);
	json_decref(diff);
	return text;
}

Test(diff, long_lists_are_cut_unless_all_is_asked_for)
{
	char *some = thirty_printed(false), *all = thirty_printed(true);

	cr_assert(strstr(some, "+ write /work/cd\n  + and 6 more\n"), "%s", some);
	cr_assert_not(strstr(some, "/work/cj"));
	cr_assert(strstr(all, "+ write /work/cj\n"));
	cr_assert_not(strstr(all, "more"));
	free(some);
	free(all);
}

Test(diff, hostile_text_moves_no_cursor)
{
	json_t *diff = compare(
		observed("[]"),
		observed(
			"[{\"kind\":\"file-write\",\"path\":\"/a\\u001b[2J\\nx\\u202e\\\\x0a\"}]"));
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	diff_print(out, diff, &(struct diff_options){0});
	fclose(out);
	cr_assert_not(strchr(text, '\033'));
	cr_assert(strstr(text, "+ write /a?[2J?x?\\x0a\n"));
	free(text);
	json_decref(diff);
}
