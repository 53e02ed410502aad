// SPDX-License-Identifier: Apache-2.0
/* Canonical JSON against the vectors of RFC 8785 and against what ECMAScript prints. */
#include "rules/canon.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

struct number {
	uint64_t bits;
	const char *text; /* NULL: has no canonical form */
};

/* RFC 8785, appendix B */
static const struct number rfc_numbers[] = {
	{0x0000000000000000, "0"},
	{0x8000000000000000, "0"},
	{0x0000000000000001, "5e-324"},
	{0x8000000000000001, "-5e-324"},
	{0x7fefffffffffffff, "1.7976931348623157e+308"},
	{0xffefffffffffffff, "-1.7976931348623157e+308"},
	{0x4340000000000000, "9007199254740992"},
	{0xc340000000000000, "-9007199254740992"},
	{0x4430000000000000, "295147905179352830000"},
	{0x7fffffffffffffff, NULL},
	{0x7ff0000000000000, NULL},
	{0xfff0000000000000, NULL},
	{0x44b52d02c7e14af5, "9.999999999999997e+22"},
	{0x44b52d02c7e14af6, "1e+23"},
	{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
	{0x444b1ae4d6e2ef4e, "999999999999999700000"},
	{0x444b1ae4d6e2ef4f, "999999999999999900000"},
	{0x444b1ae4d6e2ef50, "1e+21"},
	{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
	{0x3eb0c6f7a0b5ed8d, "0.000001"},
	{0x41b3de4355555553, "333333333.3333332"},
	{0x41b3de4355555554, "333333333.33333325"},
	{0x41b3de4355555555, "333333333.3333333"},
	{0x41b3de4355555556, "333333333.3333334"},
	{0x41b3de4355555557, "333333333.33333343"},
	{0xbecbf647612f3696, "-0.0000033333333333333333"},
	{0x43143ff3c1cb0959, "1424953923781206.2"},
};

/* What node prints; powers of two are where the nearest short decimal can miss. */
static const struct number node_numbers[] = {
	{0x3d30000000000000, "5.684341886080802e-14"},
	{0x0010000000000000, "2.2250738585072014e-308"},
	{0x000fffffffffffff, "2.225073858507201e-308"},
	{0x4340000000000001, "9007199254740994"},
	{0x44b0000000000000, "7.555786372591432e+22"},
	{0x4022f1a9fbe76c8b, "9.472"},
	{0x40222f1a9fbe76c9, "9.092"},
	{0x3f50624dd2f1a9fc, "0.001"},
	{0x4069000000000000, "200"},
};

static double from_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void check_numbers(const struct number *numbers, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		char text[CANON_NUMBER_SIZE] = "";
		int r = canon_number(from_bits(numbers[i].bits), text);

		if (numbers[i].text)
			cr_expect_str_eq(text, numbers[i].text, "wanted %s, got %s",
					 numbers[i].text, text);
		else
			cr_expect_eq(r, -EINVAL);
	}
}

Test(canon, numbers_are_those_of_rfc_8785_appendix_b)
{
	check_numbers(rfc_numbers, sizeof(rfc_numbers) / sizeof(rfc_numbers[0]));
}

Test(canon, numbers_are_what_ecmascript_prints)
{
	check_numbers(node_numbers, sizeof(node_numbers) / sizeof(node_numbers[0]));
}

static void check_text(const char *input, const char *wanted)
{
	json_t *value = json_loads(input, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	char *text = NULL;
	size_t len;

	cr_assert(value, "%s", input);
	cr_assert_eq(canon_dump(value, &text, &len), 0, "%s", input);
	cr_expect_str_eq(text, wanted, "wanted %s, got %s", wanted, text);
	cr_expect_eq(len, strlen(wanted));
	free(text);
	json_decref(value);
}

Test(canon, the_example_of_rfc_8785_3_2_2_is_spelt_as_there)
{
	check_text("{\"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, "
		   "0.000000000000000000000000001],"
		   "\"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\","
		   "\"literals\": [null, true, false]}",
		   "{\"literals\":[null,true,false],"
		   "\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
		   "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

Test(canon, keys_are_in_the_utf_16_order_of_rfc_8785_3_2_3)
{
	check_text("{\"\\u20ac\": \"Euro Sign\", \"\\r\": \"Carriage Return\","
		   "\"\\ufb33\": \"Hebrew Letter Dalet With Dagesh\", \"1\": \"One\","
		   "\"\\ud83d\\ude00\": \"Emoji: Grinning Face\", \"\\u0080\": \"Control\","
		   "\"\\u00f6\": \"Latin Small Letter O With Diaeresis\"}",
		   "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
		   "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\","
		   "\"\xe2\x82\xac\":\"Euro Sign\",\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\","
		   "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
}

Test(canon, a_key_comes_before_those_that_go_on_from_it)
{
	check_text("{\"ab\": 1, \"a\": 2, \"\": 3, \"B\": 4}", "{\"\":3,\"B\":4,\"a\":2,\"ab\":1}");
}

Test(canon, every_control_character_has_its_one_escape)
{
	check_text("\"\\u0000\\u0008\\u0009\\u000a\\u000b\\u000c\\u000d\\u001f\\u007f\"",
		   "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\x7f\"");
}

Test(canon, empty_values_and_whole_numbers_have_no_space_and_no_point)
{
	check_text("[ { }, [ ], \"\", 0, -0.0, 1.0, -17, 9007199254740991, 9223372036854775807 ]",
		   "[{},[],\"\",0,0,1,-17,9007199254740991,9223372036854776000]");
}

Test(canon, text_that_is_not_utf_8_is_refused)
{
	json_t *value = json_pack("[o]", json_stringn_nocheck("a\xff", 2));
	char *text;
	size_t len;

	cr_assert_eq(canon_dump(value, &text, &len), -EINVAL);
	json_decref(value);
}

Test(canon, nesting_is_bounded)
{
	json_t *value = json_array();
	char *text;
	size_t len;

	for (int i = 0; i < 200; i++)
		value = json_pack("[o]", value);
	cr_assert_eq(canon_dump(value, &text, &len), 0);
	free(text);
	for (int i = 0; i < 200; i++)
		value = json_pack("[o]", value);
	cr_assert_eq(canon_dump(value, &text, &len), -ELOOP);
	json_decref(value);
}
