// SPDX-License-Identifier: Apache-2.0
/* Patterns as docs/rules.md describes them. */
#include "rules/glob.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const struct glob_values usual = {{
	[GLOB_WORK] = "/work",
	[GLOB_TMP] = "/tmp",
	[GLOB_HOME] = "/home/al*ce",
	[GLOB_PACKAGE] = "@scope/name",
	[GLOB_PID] = "46",
}};

static int match(const char *pattern, const char *text)
{
	const char *reason = NULL;
	struct glob *glob = NULL;
	bool matched;

	cr_assert_eq(glob_parse(pattern, strlen(pattern), &glob, &reason), 0, "%s: %s", pattern,
		     reason);
	matched = glob_match(glob, text, &usual);
	glob_free(glob);
	return matched;
}

struct sample {
	const char *pattern, *text;
	int matches;
};

static const struct sample samples[] = {
	{"/a/b", "/a/b", 1},
	{"/a/b", "/a/b/", 1},
	{"/a/b", "/a/bc", 0},
	{"/a/b", "/a", 0},
	{"/a/b", "a/b", 0},
	{"/a/*", "/a/b", 1},
	{"/a/*", "/a/", 0},
	{"/a/*", "/a/b/c", 0},
	{"/a/*.js", "/a/.js", 1},
	{"/a/*x*y", "/a/1x2x3y", 1},
	{"/a/*x*y", "/a/1x2x3yz", 0},
	{"/a/???", "/a/abc", 1},
	{"/a/???", "/a/ab", 0},
	{"/a/?", "/a/\\x0a", 1},
	{"/a/?", "/a/\xe2\x82\xac", 1},
	{"/a/\\x0a", "/a/\\x0a", 1},
	{"/a/**", "/a", 1},
	{"/a/**", "/a/b/c", 1},
	{"/a/**", "/ab", 0},
	{"/a/**/z", "/a/z", 1},
	{"/a/**/z", "/a/b/c/z", 1},
	{"/a/**/z", "/a/b/c/z/y", 0},
	{"**/.npmrc", "/x/y/.npmrc", 1},
	{"**/.npmrc", "/.npmrc", 1},
	{"**/.npmrc", "/x/.npmrc.bak", 0},
	{"**/a/**/b", "/a/a/c/b/d/b", 1},
	{"**", "/", 1},
	{"**", "any text", 1},
	{"/[a]/{b}", "/[a]/{b}", 1},
	{"/[a]", "/a", 0},
	{"${work}/**", "/work", 1},
	{"${work}/**", "/work/x", 1},
	{"${work}/**", "/workx", 0},
	{"${work}/node_modules/${package}/**", "/work/node_modules/@scope/name/x", 1},
	{"${work}/node_modules/${package}/**", "/work/node_modules/@scope/other/x", 0},
	{"/proc/${pid}/comm", "/proc/46/comm", 1},
	{"/proc/${pid}/comm", "/proc/47/comm", 0},
	{"${home}/x", "/home/al*ce/x", 1},
	{"${home}/x", "/home/alice/x", 0},
	{"${shm}/**", "/dev/shm/x", 0},
	{"/a/**", "/a/../b", 0},
	{"/a/**", "/a/./b", 0},
	{"/a/**", "/a//b", 0},
	{"/a/**", "/a/..", 0},
	{"/a/**", "/a/...", 1},
	{"*TOKEN*", "NPM_TOKEN", 1},
	{"*.example", "x.example", 1},
	{"*", "a/b", 0},
};

Test(glob, matches_what_the_documentation_says)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		cr_expect_eq(match(samples[i].pattern, samples[i].text), samples[i].matches,
			     "%s against %s", samples[i].pattern, samples[i].text);
}

Test(glob, bad_patterns_are_refused_with_a_reason)
{
	static const char *const bad[] = {
		"",	     "/a/",	   "/a//b",    "/a/./b",  "/a/../b",  "/a/b**",
		"**b/c",     "/a/\\",	   "/a/\\n",   "/a/\\x0", "/a/\\x0g", "${nothing}/x",
		"/x${work}", "/x/${work}", "${work}x", "/a\tb",	  "/a/***",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *reason = NULL;
		struct glob *glob = NULL;

		cr_expect_eq(glob_parse(bad[i], strlen(bad[i]), &glob, &reason), -EINVAL, "%s",
			     bad[i]);
		cr_expect_not_null(reason);
		cr_expect_null(glob);
	}
}

Test(glob, length_and_parts_are_bounded)
{
	char text[2 * GLOB_BYTES_MAX];
	const char *reason;
	struct glob *glob;

	memset(text, 'a', sizeof(text));
	cr_assert_eq(glob_parse(text, GLOB_BYTES_MAX, &glob, &reason), 0);
	glob_free(glob);
	cr_assert_eq(glob_parse(text, GLOB_BYTES_MAX + 1, &glob, &reason), -EINVAL);
	for (size_t i = 0; i < 2 * GLOB_PARTS_MAX; i += 2)
		text[i] = '/';
	cr_assert_eq(glob_parse(text, 2 * (GLOB_PARTS_MAX - 1), &glob, &reason), 0);
	glob_free(glob);
	cr_assert_eq(glob_parse(text, 2 * GLOB_PARTS_MAX, &glob, &reason), -EINVAL);
}

/* 2^60 steps for a matcher that tries every way; the test's time-out would end it. */
Test(glob, hostile_names_take_linear_time, .timeout = 10)
{
	char text[8192];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	cr_assert_eq(match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text), 0);
	for (size_t i = 0; i < sizeof(text) - 1; i += 2)
		text[i] = '/';
	cr_assert_eq(match("/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/b", text),
		     0);
}
