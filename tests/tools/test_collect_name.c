// SPDX-License-Identifier: Apache-2.0
/* Names of groups as file names, and the patterns that choose groups. */
#include "tools/collect/name.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void expect_flat(const char *path, const char *expected)
{
	char *flat = name_flatten(path);
	char *back = name_unflatten(flat);

	cr_expect_str_eq(flat, expected);
	cr_assert_not_null(back, "%s", flat);
	cr_expect_str_eq(back, path);
	free(flat);
	free(back);
}

Test(collect_name, plain_names_stay)
{
	expect_flat("qp-mine", "qp-mine");
	expect_flat("docker-0a1b.scope", "docker-0a1b.scope");
	expect_flat("user@1000.service", "user@1000.service");
}

Test(collect_name, slashes_and_hostile_bytes_are_spelt_and_come_back)
{
	expect_flat("system.slice/a_b", "system.slice%2Fa_b");
	expect_flat("system.slice_a/b", "system.slice_a%2Fb");
	expect_flat("a%2Fb", "a%252Fb");
	expect_flat(".hidden", "%2Ehidden");
	expect_flat("..", "%2E.");
	expect_flat("a\nb \"'\x1b[31m\xff", "a%0Ab%20%22%27%1B%5B31m%FF");
	expect_flat("-rf *", "-rf%20%2A");
}

Test(collect_name, long_names_are_cut_and_still_differ)
{
	char path[1000];
	char *one, *other;

	memset(path, '/', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	one = name_flatten(path);
	path[sizeof(path) - 2] = 'x';
	other = name_flatten(path);
	cr_expect_leq(strlen(one), NAME_FLAT_MAX);
	cr_expect_null(strchr(one, '/'));
	cr_expect_str_neq(one, other);
	cr_expect_null(name_unflatten(one), "what was cut cannot come back");
	free(one);
	free(other);
}

Test(collect_name, text_that_is_no_such_name_is_refused)
{
	cr_expect_null(name_unflatten("a%"));
	cr_expect_null(name_unflatten("a%2"));
	cr_expect_null(name_unflatten("a%2f"));
	cr_expect_null(name_unflatten("a%00b"));
}

static struct pattern parsed(const char *glob)
{
	struct pattern pattern = {0};
	struct qp_error err = {0};

	cr_assert_eq(pattern_parse(glob, "/sys/fs/cgroup/unified", &pattern, &err), 0, "%s",
		     err.text);
	return pattern;
}

static bool matches(const char *glob, const char *path)
{
	struct pattern pattern = parsed(glob);
	bool result = pattern_match(&pattern, path);

	pattern_clear(&pattern);
	return result;
}

Test(collect_pattern, matches_part_by_part)
{
	cr_expect(matches("qp-*", "qp-a"));
	cr_expect(matches("qp-*", "qp-"));
	cr_expect_not(matches("qp-*", "qp-a/b"), "a star does not pass a slash");
	cr_expect_not(matches("qp-*", "aqp-a"));
	cr_expect_not(matches("*", ".hidden"));
	cr_expect(matches("system.slice/docker-*.scope", "system.slice/docker-12.scope"));
	cr_expect_not(matches("system.slice/docker-*.scope", "system.slice"));
	cr_expect(matches("a/[bc]?/d", "a/cx/d"));
	cr_expect_not(matches("a/[bc]?/d", "a/dx/d"));
}

Test(collect_pattern, absolute_ones_are_below_the_mount_point)
{
	cr_expect(matches("/sys/fs/cgroup/unified/qp-*", "qp-a"));
	cr_expect(matches("/sys/fs/cgroup/qp-*", "qp-a"), "as it is written for most hosts");
}

Test(collect_pattern, says_how_far_below_a_match_can_be)
{
	struct pattern pattern = parsed("a*/b*/c");

	cr_expect_eq(pattern_levels(&pattern, ""), 1u << 2);
	cr_expect_eq(pattern_levels(&pattern, "a1"), 1u << 1);
	cr_expect_eq(pattern_levels(&pattern, "a1/b1"), 1u << 0);
	cr_expect_eq(pattern_levels(&pattern, "a1/b1/c"), 0);
	cr_expect_eq(pattern_levels(&pattern, "x"), 0);
	cr_expect_eq(pattern_levels(&pattern, "a1/x"), 0);
	pattern_clear(&pattern);
}

Test(collect_pattern, bad_ones_are_refused)
{
	static const char *const bad[] = {"", "/", "/etc/*", "a//b", "a/", "../a", "a/./b"};
	struct pattern pattern;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct qp_error err = {0};

		cr_expect_eq(pattern_parse(bad[i], "/sys/fs/cgroup/unified", &pattern, &err),
			     -EINVAL, "%s", bad[i]);
		cr_expect_neq(err.text[0], '\0');
	}
}

Test(collect_pattern, has_a_bound_on_its_parts)
{
	char glob[2 * (PATTERN_PARTS_MAX + 1)] = "";
	struct pattern pattern;

	for (int i = 0; i < PATTERN_PARTS_MAX + 1; i++)
		strcat(glob, i ? "/a" : "a");
	cr_expect_eq(pattern_parse(glob, "/c", &pattern, NULL), -EINVAL);
	glob[strlen(glob) - 2] = '\0';
	cr_assert_eq(pattern_parse(glob, "/c", &pattern, NULL), 0);
	cr_expect_eq(pattern_levels(&pattern, ""), 1u << (PATTERN_PARTS_MAX - 1));
	pattern_clear(&pattern);
}
