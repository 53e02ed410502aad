// SPDX-License-Identifier: Apache-2.0
/* Clock readings. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

uint64_t clock_boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void clock_rfc3339(char ret_text[static RFC3339_SIZE])
{
	struct timespec now;
	struct tm tm;
	char seconds[20];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret_text, RFC3339_SIZE, "%.19s.%03uZ", seconds,
		 (unsigned)(now.tv_nsec / 1000000) % 1000);
}
