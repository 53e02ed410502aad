// SPDX-License-Identifier: Apache-2.0
#include "tools/download/report.h"

#include "base/io.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PACKAGES 2

static char root[64];
static int root_fd;
static struct fetch_report report;

static void begin(void)
{
	strcpy(root, "/tmp/qp-test-report-XXXXXX");
	cr_assert(mkdtemp(root));
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(root_fd, 0);
}

static void end(void)
{
	fetch_report_clear(&report);
	close(root_fd);
	remove_tree_at(AT_FDCWD, root);
}

TestSuite(fetch_report, .init = begin, .fini = end);

/* A whole report; @change replaces its member @name when it is not NULL. */
static int read_report(const char *name, const char *change)
{
	json_t *root_value = json_loads(
		"{\"versions\": {\"node\": \"20.0.0\", \"npm\": \"11.0.0\"},"
		" \"name\": \"x\", \"version\": \"1.0.0\", \"integrity\": \"sha512-AA==\","
		" \"precheck\": {\"ok\": true, \"reason\": null, \"stage\": \"tree\", \"visited\": "
		"2,"
		"  \"manifestsFetched\": 2, \"nonRegistry\": []},"
		" \"lockcheck\": {\"ok\": true, \"packageCount\": 2, \"nonRegistry\": []},"
		" \"inventory\": {\"name\": \"x\", \"version\": \"1.0.0\", \"packageCount\": 2,"
		"  \"nonRegistry\": [], \"installScripts\": [\"node_modules/x\"]},"
		" \"packages\": [{\"name\": \"x\", \"version\": \"1.0.0\", \"path\": "
		"\"node_modules/x\","
		"  \"scripts\": [\"install\"]}], \"error\": null}",
		0, NULL);
	struct qp_error err = {0};
	char *text;
	int r;

	if (change) {
		json_t *value = json_loads(change, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

		cr_assert(value, "%s", change);
		json_object_set_new(root_value, name, value);
	}
	text = json_dumps(root_value, 0);
	json_decref(root_value);
	unlinkat(root_fd, "r.json", 0);
	cr_assert_eq(write_new_file_at(root_fd, "r.json", 0600, text, strlen(text)), 0);
	free(text);
	fetch_report_clear(&report);
	r = fetch_report_read(root_fd, "r.json", MAX_PACKAGES, &report, &err);
	cr_expect_eq(r == 0, *err.text == '\0');
	return r;
}

Test(fetch_report, takes_a_whole_report_over)
{
	cr_assert_eq(read_report(NULL, NULL), 0);
	cr_expect_str_eq(report.name, "x");
	cr_expect_str_eq(report.integrity, "sha512-AA==");
	cr_expect_eq(json_integer_value(json_object_get(report.precheck, "visited")), 2);
	cr_expect_eq(json_array_size(report.packages), 1);
	cr_expect_str_eq(report.error_code, "");
}

Test(fetch_report, drops_members_that_are_not_known)
{
	cr_assert_eq(read_report("lockcheck",
				 "{\"ok\": true, \"packageCount\": 1, \"nonRegistry\": [],"
				 " \"extra\": \"x\"}"),
		     0);
	cr_expect_eq(json_object_size(report.lockcheck), 3);
}

Test(fetch_report, spells_hostile_text_safely)
{
	const json_t *entry;

	cr_assert_eq(
		read_report("lockcheck",
			    "{\"ok\": false, \"packageCount\": 1, \"nonRegistry\": [{\"name\": "
			    "\"a\\u001b[31m\", \"spec\": \"b\\\\c\", \"from\": \"d\"}]}"),
		0);
	entry = json_array_get(json_object_get(report.lockcheck, "nonRegistry"), 0);
	cr_expect_str_eq(json_string_value(json_object_get(entry, "name")), "a\\x1b[31m");
	cr_expect_str_eq(json_string_value(json_object_get(entry, "spec")), "b\\x5cc");
}

Test(fetch_report, refuses_whatever_is_malformed)
{
	static const char *const changes[][2] = {
		{"name", "7"},
		{"name", "\"a\\nb\""},
		{"version", "\"1\\u0000\""},
		{"versions", "{}"},
		{"precheck", "[]"},
		{"precheck", "{\"ok\": 1, \"reason\": null, \"stage\": \"tree\", \"visited\": 2,"
			     " \"manifestsFetched\": 2, \"nonRegistry\": []}"},
		{"lockcheck", "{\"ok\": true, \"packageCount\": -1, \"nonRegistry\": []}"},
		{"lockcheck", "{\"ok\": true, \"packageCount\": 1, \"nonRegistry\": [{}]}"},
		{"packages",
		 "[{\"name\": \"x\", \"version\": \"1\", \"path\": \"node_modules/x\"}]"},
		{"packages", "{}"},
		{"packages", "[1]"},
		{"inventory", "{}"},
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		cr_expect_eq(read_report(changes[i][0], changes[i][1]), -EBADMSG, "%s: %s",
			     changes[i][0], changes[i][1]);
}

Test(fetch_report, refuses_places_outside_the_project)
{
	static const char *const paths[] = {
		"",
		"/etc",
		"node_modules",
		"node_modules/",
		"node_modules/..",
		"node_modules/../../etc",
		"node_modules/a/./b",
		"node_modules/a//b",
		"node_modules/a/",
		"other/a",
		"node_modules/a\\u000ab",
		"node_modules/a\\u0000b",
	};
	char change[256];

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		snprintf(change, sizeof(change),
			 "[{\"name\": \"x\", \"version\": \"1\", \"path\": \"%s\", \"scripts\": "
			 "[]}]",
			 paths[i]);
		cr_expect_eq(read_report("packages", change), -EBADMSG, "'%s'", paths[i]);
	}
	cr_expect_eq(read_report("packages",
				 "[{\"name\": \"x\", \"version\": \"1\", \"path\": "
				 "\"node_modules/@s/..a/node_modules/.b\", \"scripts\": []}]"),
		     0);
}

Test(fetch_report, refuses_scripts_that_npm_does_not_run)
{
	static const char *const scripts[] = {"\"prepare\"", "\"install\", \"install\"",
					      "\"install\", \"preinstall\"", "1"};
	char change[256];

	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		snprintf(change, sizeof(change),
			 "[{\"name\": \"x\", \"version\": \"1\", \"path\": \"node_modules/x\","
			 " \"scripts\": [%s]}]",
			 scripts[i]);
		cr_expect_eq(read_report("packages", change), -EBADMSG, "%s", scripts[i]);
	}
}

Test(fetch_report, refuses_more_packages_than_allowed)
{
	static const char one[] =
		"{\"name\": \"x\", \"version\": \"1\", \"path\": \"node_modules/x\","
		" \"scripts\": []}";
	char change[1024];

	snprintf(change, sizeof(change), "[%s, %s]", one, one);
	cr_expect_eq(read_report("packages", change), 0);
	snprintf(change, sizeof(change), "[%s, %s, %s]", one, one, one);
	cr_expect_eq(read_report("packages", change), -EBADMSG);
}

Test(fetch_report, carries_the_error_that_ended_the_fetch)
{
	cr_assert_eq(
		read_report("error", "{\"code\": \"E404\", \"message\": \"not \\u0007 there\"}"),
		0);
	cr_expect_str_eq(report.error_code, "E404");
	cr_expect_str_eq(report.error_message, "not \\x07 there");
}

Test(fetch_report, tells_a_missing_report_from_a_bad_one)
{
	struct qp_error err = {0};

	cr_expect_eq(fetch_report_read(root_fd, "none", MAX_PACKAGES, &report, &err), -ENOENT);
	cr_assert_eq(write_new_file_at(root_fd, "cut", 0600, "{\"name\"", 7), 0);
	cr_expect_eq(fetch_report_read(root_fd, "cut", MAX_PACKAGES, &report, &err), -EBADMSG);
}
