/* SPDX-License-Identifier: Apache-2.0 */
/* What a series of measurements says: its middle, its spread, its ratio to another. */
#ifndef QP_TOOLS_BENCH_STATISTICS_H
#define QP_TOOLS_BENCH_STATISTICS_H

#include "tools/bench/bench.h"

struct statistics {
	double min, q1, median, q3, max; /* quartiles by linear interpolation between ranks */
};

/* Of @cnt values, at least one; @values stay in their order. 0 or -ENOMEM. */
int statistics_of(const double *values, size_t cnt, struct statistics *ret_statistics);

/* The report's object: name, unit, the five numbers, the values; with @baseline "ratio", of
 * the medians. NULL when out of memory. */
json_t *statistics_json(const struct bench_series *series, const struct bench_series *baseline);

#endif
