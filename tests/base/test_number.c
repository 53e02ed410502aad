// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"

#include <criterion/criterion.h>
#include <errno.h>

Test(number, is_parsed_whole)
{
	const char *junk[] = {"", "abc", "80abc", "-1", "+1", " 1", "1 ", "0x10", "1.5", "1e3"};
	uint64_t value = 7;

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		cr_expect_eq(number_parse(junk[i], 0, UINT64_MAX, &value), -EINVAL, "'%s'",
			     junk[i]);
	cr_expect_eq(value, 7, "a failure sets nothing");
	cr_expect_eq(number_parse("0080", 0, 100, &value), 0);
	cr_expect_eq(value, 80);
}

Test(number, has_a_range)
{
	uint64_t value;

	cr_expect_eq(number_parse("9", 10, 20, &value), -ERANGE);
	cr_expect_eq(number_parse("21", 10, 20, &value), -ERANGE);
	cr_expect_eq(number_parse("18446744073709551615", 0, UINT64_MAX, &value), 0);
	cr_expect_eq(value, UINT64_MAX);
	cr_expect_eq(number_parse("18446744073709551616", 0, UINT64_MAX, &value), -ERANGE);
}

Test(bytes, knows_its_units)
{
	const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"512", 512},	   {"4K", 4096},       {"256M", 268435456},
		    {"256MiB", 268435456}, {"1G", 1073741824}, {"2GiB", 2147483648}};
	const char *junk[] = {"M", "1X", "1MB", "1Mi", "1 M", "1m", "1MiBs", "abc"};
	uint64_t value;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_expect_eq(bytes_parse(good[i].text, 0, UINT64_MAX, &value), 0);
		cr_expect_eq(value, good[i].bytes, "%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		cr_expect_eq(bytes_parse(junk[i], 0, UINT64_MAX, &value), -EINVAL, "%s", junk[i]);
	cr_expect_eq(bytes_parse("99999999999999G", 0, UINT64_MAX, &value), -ERANGE);
}

Test(milli, has_three_decimals_at_most)
{
	uint64_t value;

	cr_expect_eq(milli_parse("0.5", 0, 10000, &value), 0);
	cr_expect_eq(value, 500);
	cr_expect_eq(milli_parse("1.25", 0, 10000, &value), 0);
	cr_expect_eq(value, 1250);
	cr_expect_eq(milli_parse("2", 0, 10000, &value), 0);
	cr_expect_eq(value, 2000);
	cr_expect_eq(milli_parse("0.1234", 0, 10000, &value), -EINVAL);
	cr_expect_eq(milli_parse("1.", 0, 10000, &value), -EINVAL);
	cr_expect_eq(milli_parse(".5", 0, 10000, &value), -EINVAL);
	cr_expect_eq(milli_parse("11", 0, 10000, &value), -ERANGE);
}
