// SPDX-License-Identifier: Apache-2.0
#include "base/escape.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *bytes, size_t len, const char *text)
{
	char *escaped = escape_bytes(bytes, len);

	cr_expect_str_eq(escaped, text);
	free(escaped);
}

Test(escape, keeps_printable_utf8)
{
	expect("/tmp/a b", 8, "/tmp/a b");
	expect("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	expect("\"'<>&", 5, "\"'<>&");
}

Test(escape, spells_controls_and_the_backslash)
{
	expect("a\nb\x1b[31m\x7f\\", 10, "a\\x0ab\\x1b[31m\\x7f\\x5c");
	expect("\0x", 2, "\\x00x");
}

/* Overlong forms, surrogates, values past U+10FFFF and cut characters are no UTF-8. */
Test(escape, spells_what_is_no_utf8)
{
	expect("\xc0\xaf", 2, "\\xc0\\xaf");
	expect("\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf");
	expect("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
	expect("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80");
	expect("\xe2\x82", 2, "\\xe2\\x82");
	expect("\xff", 1, "\\xff");
}

/* Right-to-left override and friends can make a path look like another one. */
Test(escape, spells_what_reorders_or_hides_text)
{
	expect("\xe2\x80\xae"
	       "txt",
	       6, "\\xe2\\x80\\xaetxt");
	expect("\xe2\x80\x8b", 3, "\\xe2\\x80\\x8b");
	expect("\xc2\x9b", 2, "\\xc2\\x9b");
	expect("\xef\xbb\xbf", 3, "\\xef\\xbb\\xbf");
}

Test(escape, leaves_the_lines_of_output_alone)
{
	char *text = escape_lines("a\n\tb\r\0\\", 7);

	cr_expect_str_eq(text, "a\n\tb\\x0d\\x00\\x5c");
	free(text);
}

Test(escape, is_reversible_for_every_pair_of_bytes)
{
	for (unsigned i = 0; i < 0x10000; i++) {
		char bytes[3] = {(char)(i >> 8), (char)i, 'x'};
		char *text = escape_bytes(bytes, sizeof(bytes));
		size_t len = 0;
		char *back = unescape_text(text, &len);

		cr_assert_eq(len, sizeof(bytes), "%04x became %s", i, text);
		cr_assert(!memcmp(back, bytes, len), "%04x became %s", i, text);
		free(text);
		free(back);
	}
}

Test(escape, refuses_what_it_never_writes)
{
	const char *bad[] = {"\\", "\\x", "\\x1", "\\n", "\\xZZ", "\\xAB", "a\\"};
	size_t len;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_null(unescape_text(bad[i], &len), "%s", bad[i]);
}
