// SPDX-License-Identifier: Apache-2.0
/* Strict number parsing. */
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Reads digits at *@text and moves it past them. */
static int digits_parse(const char **text, uint64_t *ret_value)
{
	const char *p = *text;
	uint64_t value = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	}
	*text = p;
	*ret_value = value;
	return 0;
}

static int range_check(uint64_t value, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	if (value < min || value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;
	int r = digits_parse(&text, &value);

	if (r)
		return r;
	if (*text)
		return -EINVAL;
	return range_check(value, min, max, ret_value);
}

int bytes_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bytes)
{
	static const char units[] = "KMG";
	uint64_t value;
	int r = digits_parse(&text, &value);

	if (r)
		return r;
	if (*text) {
		const char *unit = strchr(units, *text++);

		if (!unit || (*text && strcmp(text, "iB") != 0))
			return -EINVAL;
		if (__builtin_mul_overflow(value, UINT64_C(1) << (10 * (unit - units + 1)), &value))
			return -ERANGE;
	}
	return range_check(value, min, max, ret_bytes);
}

int milli_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_milli)
{
	uint64_t whole, milli = 0, unit = 100;
	int r = digits_parse(&text, &whole);

	if (r)
		return r;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return -EINVAL;
		for (; isdigit((unsigned char)*text) && unit; text++, unit /= 10)
			milli += (uint64_t)(*text - '0') * unit;
	}
	if (*text)
		return -EINVAL;
	if (__builtin_mul_overflow(whole, 1000, &whole) ||
	    __builtin_add_overflow(whole, milli, &whole))
		return -ERANGE;
	return range_check(whole, min, max, ret_milli);
}
