// SPDX-License-Identifier: Apache-2.0
/* Numbers as ECMAScript spells them: the shortest digits that give the same double back. */
#include "rules/canon.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 17 /* always enough for a double */

/* A value of 0.d1d2d3... times ten to the @point. */
struct decimal {
	char digits[DIGITS_MAX + 1];
	int cnt;
	int point;
};

static bool gives_back(const struct decimal *decimal, double value)
{
	char text[48];

	snprintf(text, sizeof(text), "0.%se%d", decimal->digits, decimal->point);
	return strtod(text, NULL) == value;
}

/* The decimal of @cnt digits nearest to @value, which is positive. */
static void decimal_round(double value, int cnt, struct decimal *ret_decimal)
{
	char text[48];

	snprintf(text, sizeof(text), "%.*e", cnt - 1, value);
	ret_decimal->digits[0] = text[0];
	if (cnt > 1)
		memcpy(ret_decimal->digits + 1, text + 2, (size_t)cnt - 1);
	ret_decimal->digits[cnt] = '\0';
	ret_decimal->cnt = cnt;
	ret_decimal->point = atoi(strchr(text, 'e') + 1) + 1;
}

/* One more in the last digit. */
static void decimal_increment(struct decimal *decimal)
{
	int i = decimal->cnt - 1;

	for (; i >= 0 && decimal->digits[i] == '9'; i--)
		decimal->digits[i] = '0';
	if (i >= 0) {
		decimal->digits[i]++;
		return;
	}
	decimal->digits[0] = '1';
	decimal->point++;
}

/*
 * Below a power of two doubles lie twice as close as above it, so the nearest decimal of
 * some length can miss such a value while the next one above hits it.
 */
static void decimal_shortest(double value, struct decimal *ret_decimal)
{
	for (int cnt = 1; cnt <= DIGITS_MAX; cnt++) {
		decimal_round(value, cnt, ret_decimal);
		if (gives_back(ret_decimal, value))
			break;
		decimal_increment(ret_decimal);
		if (gives_back(ret_decimal, value))
			break;
	}
	while (ret_decimal->cnt > 1 && ret_decimal->digits[ret_decimal->cnt - 1] == '0')
		ret_decimal->digits[--ret_decimal->cnt] = '\0';
}

/* The cases of Number::toString; k is the number of digits, n the place of the point.
 * Returns the length in bytes, as snprintf does. */
static int decimal_print(const struct decimal *decimal, char *out, size_t size)
{
	const char *digits = decimal->digits;
	int k = decimal->cnt, n = decimal->point;

	if (k <= n && n <= 21)
		return snprintf(out, size, "%s%.*s", digits, n - k, "00000000000000000000");
	if (0 < n && n <= 21)
		return snprintf(out, size, "%.*s.%s", n, digits, digits + n);
	if (-6 < n && n <= 0)
		return snprintf(out, size, "0.%.*s%s", -n, "000000", digits);
	return snprintf(out, size, "%c%s%se%+d", digits[0], k > 1 ? "." : "", digits + 1, n - 1);
}

int canon_number(double value, char ret_text[static CANON_NUMBER_SIZE])
{
	struct decimal decimal;
	bool negative = value < 0;
	int len;

	if (!isfinite(value))
		return -EINVAL;
	if (value == 0) {
		memcpy(ret_text, "0", 2);
		return 0;
	}
	if (negative)
		ret_text[0] = '-';
	decimal_shortest(fabs(value), &decimal);
	len = decimal_print(&decimal, ret_text + negative, CANON_NUMBER_SIZE - negative);
	return len < CANON_NUMBER_SIZE - negative ? 0 : -EINVAL;
}
