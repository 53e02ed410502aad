// SPDX-License-Identifier: Apache-2.0
/* Telling made-up parts of names from chosen ones, by how they look alone. */
#include "tools/diff/random.h"

#include <ctype.h>
#include <string.h>

#define NUMBER_DIGITS_MIN   2 /* a pid of the sandbox; one digit is chosen: "core-2" */
#define HEX_DIGITS_MIN	    8
#define MIXED_CHARS_MIN	    6  /* mkdtemp's suffix is six letters and digits */
#define LOOSE_CHARS_MAX	    16 /* mktemp's is ten; words grow no longer */
#define WORD_LETTERS_MIN    3
#define NUMBERED_DIGITS_MAX 2
#define CASE_CHANGES_MIN    3 /* "packageJson" has two */
#define LABEL_HEX_MIN	    16
#define LABEL_CHARS_MIN	    24

/* In a pattern '0' stands for a digit, 'x' for a hexadecimal one, ':' for any of ":_-". */
static bool matches(const char *text, const char *pattern)
{
	for (; *pattern; pattern++, text++) {
		unsigned char c = (unsigned char)*text;
		bool ok = *pattern == '0'   ? isdigit(c) != 0
			  : *pattern == 'x' ? isxdigit(c) != 0
			  : *pattern == ':' ? c && strchr(":_-", c)
					    : c == (unsigned char)*pattern;

		if (!ok)
			return false;
	}
	return true;
}

size_t random_time_len(const char *text)
{
	static const char moment[] = "0000-00-00T00:00:00";
	size_t len = sizeof(moment) - 1;

	if (!matches(text, moment))
		return 0;
	if (text[len] && strchr("._", text[len]) && isdigit((unsigned char)text[len + 1]))
		for (len++; isdigit((unsigned char)text[len]); len++)
			;
	return text[len] == 'Z' ? len + 1 : len;
}

size_t random_uuid_len(const char *text)
{
	static const char uuid[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t len = sizeof(uuid) - 1;

	return matches(text, uuid) && !isalnum((unsigned char)text[len]) ? len : 0;
}

struct looks {
	size_t digits, letters, hex, changes;
};

static struct looks looks_of(const char *text, size_t len)
{
	struct looks looks = {0};

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];

		looks.digits += isdigit(c) != 0;
		looks.letters += isalpha(c) != 0;
		looks.hex += isxdigit(c) != 0;
		if (i + 1 < len && isalpha(c) && isalpha(next))
			looks.changes += !islower(c) != !islower(next);
	}
	return looks;
}

/* "sqlite3", "node20": lower case, then one or two digits. */
static bool is_numbered_word(const char *part, size_t len, const struct looks *looks)
{
	size_t letters = 0;

	while (letters < len && islower((unsigned char)part[letters]))
		letters++;
	return letters >= WORD_LETTERS_MIN && looks->digits <= NUMBERED_DIGITS_MAX &&
	       letters + looks->digits == len;
}

bool random_is_part(const char *part, size_t len, bool loose)
{
	struct looks looks = looks_of(part, len);

	if (looks.digits == len)
		return loose || len >= NUMBER_DIGITS_MIN;
	if (looks.hex == len && looks.digits && len >= HEX_DIGITS_MIN)
		return true;
	if (len < MIXED_CHARS_MIN)
		return false;
	if (looks.digits && looks.letters && !is_numbered_word(part, len, &looks))
		return true;
	return looks.changes >= CASE_CHANGES_MIN || (loose && len <= LOOSE_CHARS_MAX);
}

bool random_is_label(const char *label, size_t len)
{
	struct looks looks = looks_of(label, len);

	if (looks.digits + looks.letters != len || !looks.digits)
		return false;
	return (looks.hex == len && len >= LABEL_HEX_MIN) || len >= LABEL_CHARS_MIN;
}
