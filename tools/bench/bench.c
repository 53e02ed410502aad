// SPDX-License-Identifier: Apache-2.0
/* The course of a benchmark: its folder and its cgroup, its rounds, its series. */
#include "tools/bench/bench.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/bench/statistics.h"
#include "tools/sandbox/random.h"
#include "tools/task/janitor.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

uint64_t bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct bench_series *series_find(struct bench_run *run, const char *name)
{
	for (size_t i = 0; i < run->series_cnt; i++) {
		if (!strcmp(run->series[i].name, name))
			return &run->series[i];
	}
	return NULL;
}

int bench_add(struct bench_run *run, const char *name, const char *unit, const char *baseline,
	      double value)
{
	struct bench_series *series = series_find(run, name);
	double *values;

	if (!series) {
		if (run->series_cnt == BENCH_SERIES_MAX)
			return -E2BIG;
		series = &run->series[run->series_cnt++];
		*series = (struct bench_series){.unit = unit};
		snprintf(series->name, sizeof(series->name), "%s", name);
		snprintf(series->baseline, sizeof(series->baseline), "%s",
			 baseline ? baseline : "");
	}
	values = realloc(series->values, (series->cnt + 1) * sizeof(*values));
	if (!values)
		return -ENOMEM;
	series->values = values;
	series->values[series->cnt++] = value;
	return 0;
}

/* Makes the group and opens it; a process of this program joins and leaves it for that. */
static int group_make(struct bench_run *run, struct qp_error *err)
{
	const struct cgroup_hierarchy *unified;
	char path[sizeof(unified->path) + BENCH_NAME_SIZE + 1];
	int r = cgroups_find(&run->cgroups);

	if (r)
		return qp_error_set(err, r, "no cgroup v2 hierarchy is mounted: %s", strerror(-r));
	unified = cgroups_unified(&run->cgroups);
	snprintf(path, sizeof(path), "%s/%s", unified->path, run->group);
	if (mkdir(path, 0755) < 0)
		return qp_error_set(err, -errno,
				    "cannot make the cgroup %s: %s (qp bench needs "
				    "root)",
				    path, strerror(errno));
	run->group_fd = cgroup_open(unified, run->group);
	return run->group_fd < 0 ? run->group_fd : 0;
}

static int run_prepare(struct bench_run *run, struct qp_error *err)
{
	int r = random_text(ALPHABET_HEX, TASK_ID_SIZE - 1, run->task_id);

	if (r)
		return qp_error_set(err, r, "the kernel gave no random bytes");
	snprintf(run->folder, sizeof(run->folder), "/tmp/qp-%s-bench", run->task_id);
	snprintf(run->group, sizeof(run->group), "qp-bench-%s", run->task_id);
	if (mkdir(run->folder, 0711) < 0)
		return qp_error_set(err, -errno, "%s: %s", run->folder, strerror(errno));
	return group_make(run, err);
}

static void run_clear(struct bench_run *run)
{
	if (run->group_fd >= 0)
		close(run->group_fd);
	sandbox_sweep(run->task_id, NULL);
	remove_tree_at(AT_FDCWD, run->folder);
	for (size_t i = 0; i < run->series_cnt; i++)
		free(run->series[i].values);
}

static json_t *result_make(const struct bench_run *run, unsigned int rounds)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->series_cnt; i++) {
		const struct bench_series *series = &run->series[i];
		const struct bench_series *baseline = NULL;

		for (size_t j = 0; j < run->series_cnt; j++) {
			if (!strcmp(run->series[j].name, series->baseline))
				baseline = &run->series[j];
		}
		json_array_append_new(list, statistics_json(series, baseline));
	}
	return json_pack("{s:s, s:i, s:o}", "benchmark", run->bench->name, "rounds", (int)rounds,
			 "series", list);
}

static int rounds_do(struct bench_run *run, unsigned int rounds, bool quiet, struct qp_error *err)
{
	int r = run->bench->begin ? run->bench->begin(run, err) : 0;

	for (unsigned int i = 0; !r && i < rounds; i++) {
		if (!quiet)
			fprintf(stderr, "  %-12s round %u of %u\n", run->bench->name, i + 1,
				rounds);
		r = run->bench->round(run, err);
	}
	if (run->bench->end)
		run->bench->end(run);
	return r;
}

int bench_do(const struct bench *bench, const struct bench_options *options, unsigned int rounds,
	     bool quiet, json_t **ret_result, struct qp_error *err)
{
	struct bench_run *run = calloc(1, sizeof(*run));
	struct janitor *janitor = NULL;
	int r;

	if (!run)
		return -ENOMEM;
	*run = (struct bench_run){.bench = bench, .options = options, .group_fd = -1};
	if (!rounds)
		rounds = bench->rounds;
	r = run_prepare(run, err);
	if (!r)
		r = janitor_start(run->task_id, run->folder, &janitor, err);
	if (!r)
		r = rounds_do(run, rounds, quiet, err);
	if (!r && !(*ret_result = result_make(run, rounds)))
		r = -ENOMEM;
	run_clear(run);
	janitor_dismiss(janitor);
	free(run);
	return r ? qp_error_set(err, r, "%s: %s", bench->name, strerror(-r)) : 0;
}
