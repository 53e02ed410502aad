// SPDX-License-Identifier: Apache-2.0
/* sinkhole: what it takes in a second, what memory that needs, and whether anything is missing
 * from its records. */
#include "tools/bench/sinkhole_box.h"

#include <errno.h>
#include <string.h>

enum counted {
	COUNT_TCP,
	COUNT_DATAGRAMS,
};

static const struct part {
	const char *name;
	const char *unit; /* of the rate; NULL: none is told */
	uint64_t cnt;	  /* with --load 100 */
	enum counted counted;
	bool answers; /* each must be answered */
	bool bytes;   /* what was sent must be what was received */
	int (*generate)(struct load *load, struct qp_error *err);
} parts[] = {
	{"connections", "connections/s", 10000, COUNT_TCP, true, true, load_connections},
	{"slow", NULL, 5000, COUNT_TCP, true, false, load_slow},
	{"half-open", NULL, 10000, COUNT_TCP, false, false, load_half_open},
	{"junk", "MB/s", 125000000, COUNT_TCP, true, true, load_junk},
	{"queries", "queries/s", 100000, COUNT_DATAGRAMS, true, true, load_queries},
	{"query burst", NULL, 100000, COUNT_DATAGRAMS, false, false, load_query_burst},
	{"datagrams", NULL, 2000, COUNT_DATAGRAMS, false, false, load_datagrams},
	{"HTTP/1.1", "requests/s", 50000, COUNT_TCP, true, false, load_http1},
	{"HTTP/2", "requests/s", 50000, COUNT_TCP, true, false, load_http2},
};

static int add(struct bench_run *run, const struct part *part, const char *what, const char *unit,
	       double value)
{
	char name[BENCH_NAME_SIZE];

	snprintf(name, sizeof(name), "%s: %s", part->name, what);
	return bench_add(run, name, unit, NULL, value);
}

/* Every attempt has its record, or is among those that the sinkhole says it lost. */
static int check(const struct part *part, const struct box_report *report, struct qp_error *err)
{
	uint64_t records = report->records[part->counted];

	if (records + report->lost != report->load.attempts)
		return qp_error_set(err, -EBADMSG, "%s: %lu attempts, %lu records, %lu lost",
				    part->name, (unsigned long)report->load.attempts,
				    (unsigned long)records, (unsigned long)report->lost);
	if (report->flushed != !report->lost)
		return qp_error_set(err, -EBADMSG, "%s: %lu lost, and flushed is %s", part->name,
				    (unsigned long)report->lost,
				    report->flushed ? "true" : "false");
	if (part->answers && report->load.answered != report->load.attempts)
		return qp_error_set(err, -EBADMSG, "%s: %lu of %lu were answered", part->name,
				    (unsigned long)report->load.answered,
				    (unsigned long)report->load.attempts);
	if (part->bytes && report->bytes != report->load.bytes)
		return qp_error_set(err, -EBADMSG, "%s: %lu bytes were sent, %lu are recorded",
				    part->name, (unsigned long)report->load.bytes,
				    (unsigned long)report->bytes);
	return 0;
}

static int part_do(struct bench_run *run, const struct part *part, struct qp_error *err)
{
	uint64_t cnt = part->cnt * run->options->load_percent / 100;
	struct box_report report;
	double done;
	int r = box_run(run->folder, part->generate, cnt ? cnt : 1, &report, err);

	r = r ? r : check(part, &report, err);
	if (r)
		return r;
	done = part->generate == load_junk ? (double)report.load.bytes / 1e6
					   : (double)report.load.answered;
	if (part->unit)
		r = add(run, part, "rate", part->unit, done / report.load.seconds);
	r = r ? r : add(run, part, "attempts", "attempts", (double)report.load.attempts);
	r = r ? r : add(run, part, "records", "records", (double)report.records[part->counted]);
	r = r ? r : add(run, part, "lost", "records", (double)report.lost);
	return r ? r : add(run, part, "peak memory", "MiB", (double)report.peak_bytes / 1048576);
}

static int sinkhole_round(struct bench_run *run, struct qp_error *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(parts) / sizeof(parts[0]); i++)
		r = part_do(run, &parts[i], err);
	return r;
}

const struct bench bench_sinkhole = {
	.name = "sinkhole",
	.summary = "connections, queries and requests a second; memory; records against attempts",
	.rounds = 3,
	.round = sinkhole_round,
};
