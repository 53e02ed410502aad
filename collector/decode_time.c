// SPDX-License-Identifier: Apache-2.0
/* RFC 3339 times of records, made comparable to the events' clock. No time zone is asked. */
#include "collector/decode_net.h"

#include <stdio.h>
#include <string.h>

/* Days from 1970-01-01 of the proleptic Gregorian calendar (Hinnant's algorithm). */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400, of_era = y % 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool digits(const char **text, int cnt, int64_t *ret_value)
{
	int64_t value = 0;

	for (int i = 0; i < cnt; i++, ++*text) {
		if (**text < '0' || **text > '9')
			return false;
		value = value * 10 + (**text - '0');
	}
	*ret_value = value;
	return true;
}

static bool separator(const char **text, char c)
{
	return *(*text)++ == c;
}

/* "2026-11-04T15:50:26.867019Z" in nanoseconds since 1970; up to nine decimals. */
static bool parse_time(const char *text, int64_t *ret_ns)
{
	int64_t year, month, day, hour, minute, second, ns = 0, unit = 100000000;

	if (!text || strlen(text) < sizeof("2026-11-04T15:50:26Z") - 1)
		return false;
	if (!digits(&text, 4, &year) || !separator(&text, '-') || !digits(&text, 2, &month) ||
	    !separator(&text, '-') || !digits(&text, 2, &day) || !separator(&text, 'T') ||
	    !digits(&text, 2, &hour) || !separator(&text, ':') || !digits(&text, 2, &minute) ||
	    !separator(&text, ':') || !digits(&text, 2, &second))
		return false;
	if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9' && unit; text++, unit /= 10)
			ns += (*text - '0') * unit;
	if (*text != 'Z' || text[1])
		return false;
	*ret_ns = ((days_from_civil(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
	*ret_ns = *ret_ns * 1000000000 + ns;
	return true;
}

uint64_t time_since_start(const struct decoder *d, const char *text)
{
	int64_t started, at;

	if (!parse_time(json_member_text(d->facts.preamble, "startedAt"), &started) ||
	    !parse_time(text, &at) || at < started)
		return since_start(d, d->last_ns);
	return (uint64_t)(at - started);
}
