// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

struct values {
	bool flag;
	const char *text;
	const char *choice;
	uint64_t number, bytes;
	struct option_list list;
};

static int parse(struct values *values, const char *const *words, bool stop, int *ret_cnt,
		 char **argv, bool *ret_help, struct qp_error *err)
{
	const struct option rows[] = {
		{"flag", OPTION_FLAG, &values->flag, NULL, "a flag", 0, 0, NULL},
		{"text", OPTION_STRING, &values->text, "TEXT", "a text", 0, 0, NULL},
		{"tls", OPTION_CHOICE, &values->choice, "HOW", "a choice", 0, 0,
		 "intercept|refuse"},
		{"number", OPTION_NUMBER, &values->number, "N", "a number", 1, 9, NULL},
		{"bytes", OPTION_BYTES, &values->bytes, "SIZE", "a size", 1, 1 << 20, NULL},
		{"item", OPTION_LIST, &values->list, "ITEM", "several", 0, 0, NULL},
		{0},
	};
	int argc = 1;

	argv[0] = "prog";
	for (; *words; words++)
		argv[argc++] = (char *)*words;
	argv[argc] = NULL;
	return options_parse(rows, argc, argv, stop, ret_cnt, ret_help, err);
}

static int parse_error(const char *const *words, char *ret_text)
{
	struct values values = {0};
	struct qp_error err = {0};
	char *argv[16];
	bool help;
	int cnt, r = parse(&values, words, false, &cnt, argv, &help, &err);

	strcpy(ret_text, err.text);
	return r;
}

Test(options, stand_before_and_between_operands)
{
	const char *const words[] = {"one",	"--text", "t",	      "--flag", "two", "--number=3",
				     "--bytes", "4K",	  "--item=a", "--item", "b",   NULL};
	struct values values = {0};
	struct qp_error err = {0};
	char *argv[16];
	bool help;
	int cnt;

	cr_assert_eq(parse(&values, words, false, &cnt, argv, &help, &err), 0, "%s", err.text);
	cr_expect_eq(cnt, 2);
	cr_expect_str_eq(argv[0], "one");
	cr_expect_str_eq(argv[1], "two");
	cr_expect(values.flag);
	cr_expect_str_eq(values.text, "t");
	cr_expect_eq(values.number, 3);
	cr_expect_eq(values.bytes, 4096);
	cr_expect_eq(values.list.cnt, 2);
	cr_expect(!help);
}

Test(options, end_at_two_dashes_and_at_a_command)
{
	const char *const dashes[] = {"--flag", "--", "ls", "--text", NULL};
	const char *const command[] = {"--flag", "ls", "--text", "-l", NULL};
	struct values values = {0};
	struct qp_error err = {0};
	char *argv[16];
	bool help;
	int cnt;

	cr_assert_eq(parse(&values, dashes, false, &cnt, argv, &help, &err), 0);
	cr_expect_eq(cnt, 2);
	cr_expect_str_eq(argv[1], "--text");
	cr_assert_eq(parse(&values, command, true, &cnt, argv, &help, &err), 0);
	cr_expect_eq(cnt, 3);
	cr_expect_str_eq(argv[2], "-l");
}

Test(options, refuse_junk_and_say_what_they_take)
{
	const struct {
		const char *words[3];
		const char *text;
	} cases[] = {
		{{"--nosuch"}, "unknown option '--nosuch' (see --help)"},
		{{"-x"}, "unknown option '-x' (see --help)"},
		{{"--number", "80abc"}, "--number takes a whole number, not '80abc'"},
		{{"--number", "10"}, "--number 10 is out of range: it takes 1 to 9"},
		{{"--bytes", "abc"}, "--bytes takes a size such as 256M, not 'abc'"},
		{{"--tls", "maybe"}, "--tls takes intercept|refuse, not 'maybe'"},
		{{"--tls", "refu"}, "--tls takes intercept|refuse, not 'refu'"},
		{{"--text"}, "--text takes a value: TEXT"},
		{{"--flag=1"}, "--flag takes no value"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[QP_ERROR_TEXT_SIZE];

		cr_expect_eq(parse_error(cases[i].words, text), -EINVAL, "%s", cases[i].words[0]);
		cr_expect_str_eq(text, cases[i].text);
	}
}
