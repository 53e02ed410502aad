// SPDX-License-Identifier: Apache-2.0
/* What a benchmark found, for people; and the machine it ran on. */
#include "tools/bench/bench.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

json_t *bench_host(void)
{
	double load[3] = {0};
	struct utsname os;

	if (uname(&os) < 0 || getloadavg(load, 3) != 3)
		return NULL;
	return json_pack("{s:s, s:s, s:i, s:[f, f, f]}", "kernel", os.release, "machine",
			 os.machine, "cpus", (int)sysconf(_SC_NPROCESSORS_ONLN), "load", load[0],
			 load[1], load[2]);
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* Four figures, whatever the size. */
static void number_print(double value)
{
	double size = value < 0 ? -value : value;

	printf(" %10.*f",
	       size >= 1000 || value == (double)(long long)value ? 0
	       : size >= 10					 ? 2
								 : 3,
	       value);
}

void bench_print(const json_t *result)
{
	static const char *const columns[] = {"median", "min", "q1", "q3", "max"};
	const json_t *series;
	size_t i;

	printf("\n%s, %" JSON_INTEGER_FORMAT " rounds\n  %-34s %-9s",
	       json_string_value(json_object_get(result, "benchmark")),
	       json_integer_value(json_object_get(result, "rounds")), "", "unit");
	for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++)
		printf(" %10s", columns[c]);
	printf("  ratio\n");
	json_array_foreach (json_object_get(result, "series"), i, series) {
		const char *to = json_string_value(json_object_get(series, "ratioTo"));

		printf("  %-34s %-9s", json_string_value(json_object_get(series, "name")),
		       json_string_value(json_object_get(series, "unit")));
		for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++)
			number_print(number(series, columns[c]));
		if (to)
			printf("  %.3f x %s", number(series, "ratio"), to);
		printf("\n");
	}
	fflush(stdout);
}
