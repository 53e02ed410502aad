// SPDX-License-Identifier: Apache-2.0
/* What npm makes of these lines was taken from its documentation of npmrc and checked with
 * `npm config get`. */
#include "tools/download/npmrc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void expect_expanded(const char *text, const char *expected)
{
	char *expanded = npmrc_expand(text);

	cr_assert(expanded);
	cr_expect_str_eq(expanded, expected);
	free(expanded);
}

Test(npmrc, expands_variables_as_npm_does)
{
	setenv("QP_TEST_A", "alpha", 1);
	unsetenv("QP_TEST_NONE");
	expect_expanded("x", "x");
	expect_expanded("a-${QP_TEST_A}-${QP_TEST_A}", "a-alpha-alpha");
	expect_expanded("${QP_TEST_NONE}", "${QP_TEST_NONE}");
	expect_expanded("<${QP_TEST_NONE?}>", "<>");
	expect_expanded("${QP_TEST_A?}", "alpha");
	expect_expanded("\\${QP_TEST_A}", "\\${QP_TEST_A}");
	expect_expanded("${}", "${}");
	expect_expanded("${QP_TEST_A", "${QP_TEST_A");
	expect_expanded("$QP_TEST_A", "$QP_TEST_A");
}

static void expect_line(const char *line, const char *key, const char *value)
{
	char *got_key = NULL, *got_value = NULL;

	cr_expect_eq(npmrc_line_parse(line, &got_key, &got_value), 1, "%s", line);
	cr_expect_str_eq(got_key, key);
	cr_expect_str_eq(got_value, value);
	free(got_key);
	free(got_value);
}

Test(npmrc, reads_keys_and_values)
{
	expect_line("registry=https://r.example/", "registry", "https://r.example/");
	expect_line("  cafile = /etc/ca.pem \r", "cafile", "/etc/ca.pem");
	expect_line("cafile=\"/etc/a b.pem\"", "cafile", "/etc/a b.pem");
	expect_line("cafile='/etc/a.pem'", "cafile", "/etc/a.pem");
	expect_line("//r.example/:_authToken=a=b==", "//r.example/:_authToken", "a=b==");
	expect_line("x=1 ; said", "x", "1");
	expect_line("x=", "x", "");
}

Test(npmrc, takes_comments_sections_and_words_for_no_assignment)
{
	static const char *const lines[] = {"", "   ", "# a=b", ";a=b", "[section=1]", "word"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *key = NULL, *value = NULL;

		cr_expect_eq(npmrc_line_parse(lines[i], &key, &value), 0, "'%s'", lines[i]);
	}
}

Test(npmrc, lets_the_last_line_win)
{
	char *value = NULL;

	cr_assert_eq(npmrc_get("prefix=/a\nother=1\nprefix=/b\n", "prefix", &value), 0);
	cr_expect_str_eq(value, "/b");
	free(value);
	cr_expect_eq(npmrc_get("prefix=/a\n", "pre", &value), -ENOENT);
}

Test(npmrc, knows_secrets_and_paths_by_their_keys)
{
	cr_expect(npmrc_is_secret("//r.example/:_authToken"));
	cr_expect(npmrc_is_secret("//r.example/:_password"));
	cr_expect(npmrc_is_secret("_auth"));
	cr_expect(npmrc_is_secret("key"));
	cr_expect_not(npmrc_is_secret("registry"));
	cr_expect_not(npmrc_is_secret("//r.example/:username"));
	cr_expect(npmrc_is_pem_path("cafile"));
	cr_expect(npmrc_is_pem_path("//r.example/:keyfile"));
	cr_expect(npmrc_is_pem_path("//r.example/:certfile"));
	cr_expect_not(npmrc_is_pem_path("cache"));
}

static void note(void *context, const char *name)
{
	strcat(strcat(context, name), " ");
}

Test(npmrc, names_every_variable_a_line_needs)
{
	char names[64] = "";

	npmrc_each_variable("//r.example/:_authToken=${QP_A}${QP_B?} ${} $QP_C", note, names);
	cr_expect_str_eq(names, "QP_A QP_B ");
}
