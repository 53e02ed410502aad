// SPDX-License-Identifier: Apache-2.0
/* Where two values part. */
#include "rules/difference.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	cr_assert(value, "%s", text);
	return value;
}

static void check(const char *claimed, const char *rebuilt, const char *pointer, const char *says,
		  const char *evidence)
{
	json_auto_t *a = parse(claimed), *b = parse(rebuilt);
	struct difference difference;

	cr_assert_eq(difference_find(a, b, &difference), 1, "%s %s", claimed, rebuilt);
	cr_assert_str_eq(difference.pointer, pointer);
	cr_assert_str_eq(difference.claimed, says);
	cr_assert_str_eq(difference.rebuilt, evidence);
}

Test(difference, equal_values_have_none)
{
	static const char *const pairs[][2] = {
		{"{\"a\": [1, {\"b\": null}], \"c\": \"x\"}",
		 "{\"c\":\"x\",\"a\":[1,{\"b\":null}]}"},
		{"[]", "[]"},
		{"1", "1.0"},
		{"true", "true"},
	};
	struct difference difference;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		json_auto_t *a = parse(pairs[i][0]), *b = parse(pairs[i][1]);

		cr_assert_eq(difference_find(a, b, &difference), 0, "%s", pairs[i][0]);
	}
}

Test(difference, is_the_first_in_the_order_of_keys_whatever_order_they_were_written_in)
{
	check("{\"z\": 1, \"m\": 1, \"a\": 1}", "{\"a\": 1, \"m\": 2, \"z\": 2}", "/m", "1", "2");
	check("{\"b\": 1}", "{\"a\": 1, \"b\": 2}", "/a", "nothing", "1");
	check("{\"a\": 1, \"b\": 2}", "{\"b\": 3}", "/a", "1", "nothing");
}

Test(difference, names_the_element_that_lacks_or_is_too_many)
{
	check("[1, 2]", "[1, 2, {}]", "/2", "nothing", "an object");
	check("[1, 2, [3]]", "[1, 2]", "/2", "an array", "nothing");
	check("{\"a\": [{\"b\": true}]}", "{\"a\": [{\"b\": false}]}", "/a/0/b", "true", "false");
}

Test(difference, of_types_is_at_the_value)
{
	check("1", "\"1\"", "", "1", "\"1\"");
	check("{\"a\": []}", "{\"a\": {}}", "/a", "an array", "an object");
	check("{\"a\": null}", "{}", "/a", "null", "nothing");
}

/* RFC 6901, section 3 */
Test(difference, escapes_keys_as_pointers_do)
{
	check("{\"a/b~c\": 1}", "{\"a/b~c\": 2}", "/a~1b~0c", "1", "2");
	check("{\"\": 1}", "{\"\": 2}", "/", "1", "2");
}

Test(difference, cuts_long_values_between_characters_and_long_pointers_at_the_front)
{
	char text[400] = "{\"", other[400];
	struct difference difference;
	json_t *a, *b;

	memset(text + 2, 'k', 300);
	strcpy(text + 302, "\": \"");
	for (int i = 0; i < 40; i++)
		strcat(text, "ä");
	strcpy(other, text);
	strcat(text, "1\"}");
	strcat(other, "2\"}");
	a = parse(text);
	b = parse(other);
	cr_assert_eq(difference_find(a, b, &difference), 1);
	cr_assert_lt(strlen(difference.pointer), DIFFERENCE_POINTER_SIZE);
	cr_assert_eq(memcmp(difference.pointer, "...kkkk", 7), 0);
	json_decref(a);
	json_decref(b);
	a = json_pack("[s]", "ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää");
	b = parse("[1]");
	cr_assert_eq(difference_find(a, b, &difference), 1);
	cr_assert_lt(strlen(difference.claimed), DIFFERENCE_VALUE_SIZE);
	cr_assert_str_eq(difference.claimed + strlen(difference.claimed) - 5, "ä...");
	json_decref(a);
	json_decref(b);
}

Test(difference, refuses_to_go_deeper_than_the_canonical_spelling)
{
	json_t *a = json_integer(1), *b = json_integer(2);
	struct difference difference;

	for (int i = 0; i < 300; i++) {
		a = json_pack("[o]", a);
		b = json_pack("[o]", b);
	}
	cr_assert_eq(difference_find(a, b, &difference), -ELOOP);
	json_decref(a);
	json_decref(b);
}
