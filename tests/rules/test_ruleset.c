// SPDX-License-Identifier: Apache-2.0
/* Rule files: what is accepted, and where the errors of the others are. Each folder of
 * tests/cases/rule-files has a rules.json and the expected line of the error. */
#include "rules/ruleset.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define CASES "tests/cases/rule-files"

static char *case_read(const char *name, const char *file, size_t *ret_len)
{
	char path[512], *text;

	snprintf(path, sizeof(path), CASES "/%s/%s", name, file);
	cr_assert_eq(read_file_at(AT_FDCWD, path, 1 << 20, &text, ret_len), 0, "%s", path);
	return text;
}

static void check_case(const char *name)
{
	struct ruleset *rules = NULL;
	struct qp_error err = {0};
	char line[2048];
	size_t len, wanted_len;
	_cleanup_free_ char *text = case_read(name, "rules.json", &len);
	_cleanup_free_ char *wanted = case_read(name, "expected", &wanted_len);

	wanted[strcspn(wanted, "\n")] = '\0';
	cr_expect_eq(ruleset_parse(text, len, "rules.json", &rules, &err), -EINVAL, "%s", name);
	cr_expect_null(rules);
	qp_error_format(&err, line, sizeof(line));
	cr_expect_str_eq(line, wanted, "%s: wanted %s, got %s", name, wanted, line);
}

Test(ruleset, every_error_is_told_with_file_line_and_column)
{
	DIR *dir = opendir(CASES);
	size_t cnt = 0;

	cr_assert(dir);
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		if (entry->d_name[0] == '.')
			continue;
		check_case(entry->d_name);
		cnt++;
	}
	closedir(dir);
	cr_assert_geq(cnt, 25);
}

Test(ruleset, the_default_rules_have_every_rule_of_the_design)
{
	static const char *const ids[] = {"a", "b1", "b2", "c1", "c2", "d",
					  "e", "f",  "g",  "h",	 "i"};
	const char *text = ruleset_default_text();
	struct ruleset *rules = NULL;

	cr_assert_eq(ruleset_parse(text, strlen(text), "default.json", &rules, NULL), 0);
	cr_assert_eq(rules->cnt, sizeof(ids) / sizeof(ids[0]));
	for (size_t i = 0; i < rules->cnt; i++)
		cr_expect_str_eq(rules->rules[i].id, ids[i]);
	/* As the receipts of the older path have it. */
	cr_expect_str_eq(rules->rules[7].text,
			 "network attempt (DNS, TCP or UDP, TLS included; TLS bodies are not "
			 "inspected), or a bind/listen in the sandbox network namespace");
	ruleset_free(rules);
}

Test(ruleset, the_built_in_text_is_the_file)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	cr_assert_eq(read_file_at(AT_FDCWD, "rules/default.json", 1 << 20, &text, &len), 0);
	cr_assert_str_eq(ruleset_default_text(), text);
	cr_assert_eq(strlen(text), len);
}

Test(ruleset, size_is_bounded)
{
	struct ruleset *rules = NULL;
	struct qp_error err = {0};
	char *text = calloc(1, RULESET_BYTES_MAX + 2);

	memset(text, ' ', RULESET_BYTES_MAX + 1);
	cr_assert_eq(ruleset_parse(text, RULESET_BYTES_MAX + 1, "x", &rules, &err), -EFBIG);
	free(text);
}

/* Whatever is cut off or turned, an error or a ruleset comes back, never a crash. */
Test(ruleset, damaged_files_are_errors)
{
	const char *good = ruleset_default_text();
	size_t len = strlen(good);
	_cleanup_free_ char *text = malloc(len);

	for (size_t at = 0; at < len; at += 7) {
		struct ruleset *rules = NULL;
		struct qp_error err = {0};

		memcpy(text, good, len);
		text[at] ^= 0x15;
		if (ruleset_parse(text, len, "x", &rules, &err))
			cr_expect(err.line > 0 && err.column >= 0 && err.text[0]);
		ruleset_free(rules);
		rules = NULL;
		cr_expect_eq(ruleset_parse(good, at, "x", &rules, NULL), -EINVAL);
	}
}
