/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every benchmark shares: a run that collects series of numbers, one number of each
 * series in each round, so that the things compared are measured in turn (A B C A B C ...)
 * and the machine's moods fall on all of them alike.
 */
#ifndef QP_TOOLS_BENCH_BENCH_H
#define QP_TOOLS_BENCH_BENCH_H

#include "base/error.h"
#include "tools/sandbox/cgroup.h"
#include "tools/sandbox/sandbox.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_SERIES_MAX  64
#define BENCH_NAME_SIZE	  48
#define BENCH_FOLDER_SIZE 64

struct bench_series {
	char name[BENCH_NAME_SIZE];
	const char *unit;
	char baseline[BENCH_NAME_SIZE]; /* the series that ratios refer to; "" for none */
	double *values;			/* in the order of the rounds */
	size_t cnt;
};

struct bench_options {
	const char *spec;      /* the package of `run` and `sandbox` */
	uint64_t events;       /* of the log that `replay` reads */
	uint64_t load_percent; /* of what `sinkhole` is loaded with */
};

struct bench_run {
	const struct bench *bench;
	const struct bench_options *options;
	char task_id[TASK_ID_SIZE];
	char folder[BENCH_FOLDER_SIZE]; /* temporary, removed with all it holds */
	char group[BENCH_NAME_SIZE];	/* a cgroup of version 2, removed likewise */
	int group_fd;
	struct cgroups cgroups;
	struct bench_series series[BENCH_SERIES_MAX];
	size_t series_cnt;
	void *state; /* the benchmark's own, between begin and end */
};

struct bench {
	const char *name;
	const char *summary; /* one line */
	unsigned int rounds; /* unless --rounds says otherwise */
	/* Each 0 or -errno with the cause in @err. begin and end may be NULL; end is called
	 * whenever begin was. */
	int (*begin)(struct bench_run *run, struct qp_error *err);
	int (*round)(struct bench_run *run, struct qp_error *err);
	void (*end)(struct bench_run *run);
};

/* The benchmarks themselves, in a file each. */
extern const struct bench bench_getppid, bench_open_close, bench_fork_exec, bench_outside,
	bench_flood, bench_attach, bench_sandbox, bench_qp_run, bench_replay, bench_sinkhole;

/* One number of a series, which is made when it is new. @baseline names another series or
 * is NULL. -ENOMEM or, with too many series, -E2BIG. */
int bench_add(struct bench_run *run, const char *series, const char *unit, const char *baseline,
	      double value);

/*
 * Does @bench from begin to end, @rounds times (0: its own number), with a line of progress
 * for each round on stderr unless @quiet. *ret_result has the benchmark's member of the
 * report. 0 or -errno.
 */
int bench_do(const struct bench *bench, const struct bench_options *options, unsigned int rounds,
	     bool quiet, json_t **ret_result, struct qp_error *err);

/* The machine and its load now. */
json_t *bench_host(void);

/* Prints what bench_do gave as a table. */
void bench_print(const json_t *result);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t bench_now_ns(void);

#endif
