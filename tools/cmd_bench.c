// SPDX-License-Identifier: Apache-2.0
/* qp bench: what observing costs on this host. */
#include "tools/command.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "tools/bench/bench.h"
#include "tools/derive.h"

#include <inttypes.h>
#include <string.h>

#define ROUNDS_MAX 1000

static const struct bench *const benches[] = {
	&bench_getppid, &bench_open_close, &bench_fork_exec, &bench_outside, &bench_flood,
	&bench_attach,	&bench_sandbox,	   &bench_qp_run,    &bench_replay,  &bench_sinkhole,
};

#define BENCHES_CNT (sizeof(benches) / sizeof(benches[0]))

/* The benchmarks as --help lists them. NULL when out of memory. */
static char *list_make(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fputs("Benchmarks, all of them when none is named:", out);
	for (size_t i = 0; i < BENCHES_CNT; i++)
		fprintf(out, "\n  %-11s %s", benches[i]->name, benches[i]->summary);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* The benchmarks that @names name, or all. */
static int benches_choose(char **names, int cnt, bool chosen[static BENCHES_CNT])
{
	for (size_t i = 0; i < BENCHES_CNT; i++)
		chosen[i] = !cnt;
	for (int n = 0; n < cnt; n++) {
		bool known = false;

		for (size_t i = 0; i < BENCHES_CNT; i++) {
			if (strcmp(names[n], benches[i]->name) != 0)
				continue;
			chosen[i] = known = true;
		}
		if (!known) {
			log_error("there is no benchmark '%s': see qp bench --help", names[n]);
			return EXIT_USAGE;
		}
	}
	return 0;
}

static int report_print(const json_t *host, const json_t *results, bool json)
{
	_cleanup_json_ json_t *report = NULL;

	if (json) {
		report = json_pack("{s:s, s:O, s:o, s:O}", "schema", "qp-bench/1", "hostBefore",
				   host, "hostAfter", bench_host(), "benchmarks", results);
		if (!report || json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)))
			return -EIO;
		puts("");
	}
	return fflush(stdout) ? -errno : 0;
}

int cmd_bench(int argc, char **argv)
{
	struct bench_options options = {
		.spec = "fastify@5.12.4", .events = 1000003, .load_percent = 100};
	_cleanup_json_ json_t *host = NULL, *results = json_array();
	uint64_t rounds = 0;
	bool json = false, quiet = false, chosen[BENCHES_CNT];
	const struct option rows[] = {
		{"rounds", OPTION_NUMBER, &rounds, "N",
		 "rounds (each benchmark has its own number)", 1, ROUNDS_MAX, NULL},
		{"spec", OPTION_STRING, &options.spec, "SPEC", "the package (fastify@5.12.4)", 0, 0,
		 NULL},
		{"events", OPTION_NUMBER, &options.events, "N", "events of replay's log (1000003)",
		 1, 100000000, NULL},
		{"load", OPTION_NUMBER, &options.load_percent, "PERCENT",
		 "of the load on the sinkhole (100)", 1, 1000, NULL},
		{"json", OPTION_FLAG, &json, NULL, "print every number, for machines", 0, 0, NULL},
		{"quiet", OPTION_FLAG, &quiet, NULL, "no progress", 0, 0, NULL},
		{0},
	};
	_cleanup_free_ char *list = list_make();
	const struct command_help help = {
		.usage = "qp bench [OPTION...] [NAME...]",
		.summary = "Measures what observing costs on this host. In every round each of the "
			   "things compared\nis measured once, in turn; medians and their ratios "
			   "are what counts.",
		.details = list,
		.example = "  qp bench getppid open-close --rounds 21\n"
			   "  qp bench sandbox --json > bench.json",
	};
	struct qp_error err = {0};
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 0, argc, &cnt);
	if (r != COMMAND_GO_ON)
		return r;
	r = benches_choose(argv, cnt, chosen);
	if (r)
		return r;
	host = bench_host();
	for (size_t i = 0; !r && i < BENCHES_CNT; i++) {
		json_t *result = NULL;

		if (!chosen[i])
			continue;
		r = bench_do(benches[i], &options, (unsigned int)rounds, quiet, &result, &err);
		if (!r && !json)
			bench_print(result);
		if (!r && json_array_append_new(results, result))
			r = -ENOMEM;
	}
	if (!r)
		r = report_print(host, results, json);
	return r ? command_failed(&err, r) : 0;
}
