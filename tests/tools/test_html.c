// SPDX-License-Identifier: Apache-2.0
#include "tools/show/html.h"
#include "tools/show/html_parts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *printed(int (*print)(FILE *out, const char *text), const char *text)
{
	char *result = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&result, &len);

	cr_assert_eq(print(out, text), 0);
	fclose(out);
	return result;
}

static void assert_text(const char *text, const char *expected)
{
	char *got = printed(html_text, text);

	cr_assert_str_eq(got, expected);
	free(got);
}

Test(html, markup_is_text)
{
	assert_text("<script>alert(\"1\" & '2')</script>",
		    "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
	assert_text("&lt;", "&amp;lt;");
}

Test(html, what_cannot_be_seen_is_spelt_out)
{
	assert_text("a\033[2J\n\tb\177", "a\\x1b[2J\\x0a\\x09b\\x7f");
	assert_text("x\u202ecod.exe", "x\\xe2\\x80\\xaecod.exe");
	assert_text("\xc3\xbc", "\xc3\xbc");
}

Test(html, what_is_spelt_out_already_stays)
{
	assert_text("a\\x0a\\x5c", "a\\x0a\\x5c");
	assert_text("\\", "\\");
	assert_text("", "");
}

Test(html, output_keeps_its_lines)
{
	char *got = printed(html_lines, "a\n\tb<\033");

	cr_assert_str_eq(got, "a\n\tb&lt;\\x1b");
	free(got);
}

Test(html, long_text_is_cut_between_characters)
{
	char *text = malloc(10002), *got;

	text[0] = 'a'; /* so that the bound is in the middle of one */
	for (size_t i = 1; i < 10001; i += 2)
		memcpy(text + i, "\xc3\xbc", 2);
	text[10001] = '\0';
	got = printed(html_text, text);
	cr_assert_eq(strlen(got), 4095 + strlen("&hellip;"));
	cr_assert_str_eq(got + 4093, "\xc3\xbc&hellip;");
	free(got);
	free(text);
}

Test(html, only_numbers_of_observations_are_anchors)
{
	char *got = printed(html_link, "o12");

	cr_assert_str_eq(got, "<a href=\"#o12\">o12</a>");
	free(got);
	got = printed(html_link, "o1\" onclick=\"x");
	cr_assert_str_eq(got, "o1&quot; onclick=&quot;x");
	free(got);
	cr_assert_not(html_is_anchor("o"));
	cr_assert_not(html_is_anchor("12"));
	cr_assert_not(html_is_anchor("o12345678901"));
}

Test(html, a_word_that_is_no_verdict_is_no_good_one)
{
	cr_assert_str_eq(html_verdict_class("install"), "good");
	cr_assert_str_eq(html_verdict_class("review"), "warn");
	cr_assert_str_eq(html_verdict_class("do-not-install"), "bad");
	cr_assert_str_eq(html_verdict_class("install "), "bad");
	cr_assert_str_eq(html_verdict_class(""), "bad");
}

Test(html, members_of_wrong_types_do_no_harm)
{
	static const char *const texts[] = {
		"{}",
		"{\"observations\": [1, null, [], \"x\", {\"pid\": \"<b>\", \"id\": 3, \"t\": "
		"\"x\"}]}",
		"{\"observations\": {}, \"rulesFired\": [7, {\"observationIds\": [null, \"o1\"]}]}",
		"{\"package\": [], \"sandbox\": 3, \"completeness\": {\"<i>\": 1}, \"limits\": "
		"\"x\"}",
		"{\"network\": {\"sinkholeLog\": [3, {\"t\": {}}]}, \"knownLimitations\": [1, {}]}",
		"{\"logs\": {\"sandboxOutput\": []}, \"evidence\": {\"log\": {\"sha256\": "
		"[\"<\"]}}}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *receipt = json_loads(texts[i], 0, NULL);
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		cr_assert(receipt);
		cr_assert_eq(html_print(out, receipt), 0, "%s", texts[i]);
		fclose(out);
		cr_assert(strstr(text, "</html>"));
		cr_assert_not(strstr(text, "<b>"));
		cr_assert_not(strstr(text, "<i>"));
		free(text);
		json_decref(receipt);
	}
}
