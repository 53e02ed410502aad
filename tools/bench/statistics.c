// SPDX-License-Identifier: Apache-2.0
/* Medians and quartiles. */
#include "tools/bench/statistics.h"

#include "base/cleanup.h"

#include <string.h>

static int double_compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The value at @share (0 to 1) of the sorted @values. */
static double quantile(const double *values, size_t cnt, double share)
{
	double rank = share * (double)(cnt - 1);
	size_t below = (size_t)rank;

	if (below + 1 >= cnt)
		return values[cnt - 1];
	return values[below] + (rank - (double)below) * (values[below + 1] - values[below]);
}

int statistics_of(const double *values, size_t cnt, struct statistics *ret_statistics)
{
	_cleanup_free_ double *sorted = malloc(cnt * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, values, cnt * sizeof(*sorted));
	qsort(sorted, cnt, sizeof(*sorted), double_compare);
	*ret_statistics = (struct statistics){
		.min = sorted[0],
		.q1 = quantile(sorted, cnt, 0.25),
		.median = quantile(sorted, cnt, 0.5),
		.q3 = quantile(sorted, cnt, 0.75),
		.max = sorted[cnt - 1],
	};
	return 0;
}

json_t *statistics_json(const struct bench_series *series, const struct bench_series *baseline)
{
	struct statistics own, other;
	json_t *object, *values;

	if (statistics_of(series->values, series->cnt, &own))
		return NULL;
	values = json_array();
	for (size_t i = 0; i < series->cnt; i++)
		json_array_append_new(values, json_real(series->values[i]));
	object = json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:o}", "name", series->name, "unit",
			   series->unit, "min", own.min, "q1", own.q1, "median", own.median, "q3",
			   own.q3, "max", own.max, "values", values);
	if (!baseline || statistics_of(baseline->values, baseline->cnt, &other) ||
	    other.median <= 0)
		return object;
	json_object_set_new(object, "ratio", json_real(own.median / other.median));
	json_object_set_new(object, "ratioTo", json_string(baseline->name));
	return object;
}
