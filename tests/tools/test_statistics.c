// SPDX-License-Identifier: Apache-2.0
/* Expected quartiles are those of numpy.percentile with its default, linear, method. */
#include "tools/bench/statistics.h"

#include <criterion/criterion.h>

static void expect(const double *values, size_t cnt, const double five[static 5])
{
	struct statistics got;

	cr_assert_eq(statistics_of(values, cnt, &got), 0);
	cr_assert_float_eq(got.min, five[0], 1e-9);
	cr_assert_float_eq(got.q1, five[1], 1e-9);
	cr_assert_float_eq(got.median, five[2], 1e-9);
	cr_assert_float_eq(got.q3, five[3], 1e-9);
	cr_assert_float_eq(got.max, five[4], 1e-9);
}

Test(statistics, one_value_is_its_own_everything)
{
	expect((const double[]){7.5}, 1, (const double[]){7.5, 7.5, 7.5, 7.5, 7.5});
}

Test(statistics, an_even_count_has_its_median_between_two)
{
	expect((const double[]){4, 1, 3, 2}, 4, (const double[]){1, 1.75, 2.5, 3.25, 4});
}

Test(statistics, an_odd_count_has_its_median_among_the_values)
{
	expect((const double[]){10, 1, 100, 1000, 5}, 5, (const double[]){1, 5, 10, 100, 1000});
}

Test(statistics, values_stay_in_the_order_of_their_rounds)
{
	const double values[] = {3, 1, 2};
	struct statistics got;

	cr_assert_eq(statistics_of(values, 3, &got), 0);
	cr_assert_eq(values[0], 3);
	cr_assert_eq(values[2], 2);
}

Test(statistics, the_ratio_is_of_the_medians)
{
	double fast[] = {1, 2, 9}, slow[] = {3, 5, 100};
	const struct bench_series a = {.name = "a", .unit = "s", .values = fast, .cnt = 3};
	const struct bench_series b = {.name = "b", .unit = "s", .values = slow, .cnt = 3};
	json_auto_t *object = statistics_json(&b, &a);

	cr_assert_float_eq(json_real_value(json_object_get(object, "ratio")), 2.5, 1e-9);
	cr_assert_str_eq(json_string_value(json_object_get(object, "ratioTo")), "a");
	cr_assert_eq(json_array_size(json_object_get(object, "values")), 3);
}

Test(statistics, without_a_baseline_there_is_no_ratio)
{
	double values[] = {1};
	const struct bench_series a = {.name = "a", .unit = "s", .values = values, .cnt = 1};
	json_auto_t *object = statistics_json(&a, NULL);

	cr_assert_not(json_object_get(object, "ratio"));
}
