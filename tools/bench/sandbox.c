// SPDX-License-Identifier: Apache-2.0
/* sandbox: the same container observed, unobserved and under strace -f. */
#include "tools/bench/container.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/download/download.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#define SOURCES	    24 /* C files of the build */
#define FUNCTIONS   40 /* in each */
#define SCRIPT_SIZE 1024

/* %s: the package's name, which npm allows no quotes in. */
#define NPM_SCRIPT                                                                     \
	"cp -r /in/. /work && cd /work && npm rebuild --offline --no-audit --no-fund " \
	"--no-update-notifier --logs-max=0 && node -e 'require(process.argv[1])' '%s'"
#define BUILD_SCRIPT                                                                      \
	"cd /work && for f in /in/*.c; do cc -O1 -c \"$f\" || exit 1; done && cc *.o && " \
	"./a.out"

struct workload {
	const char *name;
	char in[PATH_MAX];
	char script[SCRIPT_SIZE];
};

struct workloads {
	struct persona persona;
	struct workload npm, build;
};

static int package_fetch(struct bench_run *run, struct workloads *workloads, struct qp_error *err)
{
	_cleanup_close_ int never = eventfd(0, EFD_CLOEXEC);
	struct download download = {0};
	struct limits limits;
	struct spec spec;
	int r = spec_parse(run->options->spec, &spec, err);

	if (r)
		return r;
	limits_default(&limits);
	snprintf(workloads->npm.in, PATH_MAX, "%s/package", run->folder);
	if (mkdir(workloads->npm.in, 0755) < 0)
		return -errno;
	r = download_run(&spec, run->task_id, NULL, &limits, &workloads->persona, workloads->npm.in,
			 never, &download, err);
	if (r)
		return r;
	if (download.refused)
		r = qp_error_set(err, -EINVAL, "%s is not all from the registry",
				 run->options->spec);
	else
		snprintf(workloads->npm.script, SCRIPT_SIZE, NPM_SCRIPT, download.name);
	download_clear(&download);
	return r;
}

/* A C file of plain functions; the one numbered 0 has main too. */
static int source_write(const char *folder, unsigned int number)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len;
	FILE *file = open_memstream(&text, &len);

	if (!file)
		return -ENOMEM;
	fputs("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n", file);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		fprintf(file,
			"int f%u_%u(int n)\n{\n\tint sum = %u;\n\n\tfor (int i = 0; i < n; i++)\n"
			"\t\tsum += i %% %u ? i * %u : (int)strlen(\"%u\");\n\treturn sum;\n}\n",
			number, i, i, i + 2, number + 1, i);
	if (!number)
		fputs("int main(void)\n{\n\treturn f0_0(0);\n}\n", file);
	if (fclose(file))
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/f%02u.c", folder, number);
	return write_new_file_at(AT_FDCWD, path, 0644, text, len);
}

static int sources_make(struct bench_run *run, struct workload *build, struct qp_error *err)
{
	int r = 0;

	snprintf(build->in, PATH_MAX, "%s/sources", run->folder);
	if (mkdir(build->in, 0755) < 0)
		r = -errno;
	for (unsigned int i = 0; !r && i < SOURCES; i++)
		r = source_write(build->in, i);
	snprintf(build->script, SCRIPT_SIZE, "%s", BUILD_SCRIPT);
	return r ? qp_error_set(err, r, "cannot write %s: %s", build->in, strerror(-r)) : 0;
}

static int sandbox_begin(struct bench_run *run, struct qp_error *err)
{
	struct workloads *workloads = calloc(1, sizeof(*workloads));
	int r;

	run->state = workloads;
	if (!workloads)
		return -ENOMEM;
	workloads->npm.name = "npm rebuild+import";
	workloads->build.name = "C build";
	r = persona_make(&workloads->persona);
	if (!r)
		r = package_fetch(run, workloads, err);
	return r ? r : sources_make(run, &workloads->build, err);
}

static int workload_round(struct bench_run *run, const struct workloads *workloads,
			  const struct workload *workload, struct qp_error *err)
{
	const char *const names[] = {"unobserved", "observed", "strace -f"};
	const enum container_watch watches[] = {WATCH_NONE, WATCH_COLLECTOR, WATCH_STRACE};
	char baseline[BENCH_NAME_SIZE], series[BENCH_NAME_SIZE];
	int r = 0;

	snprintf(baseline, sizeof(baseline), "%s, %s", workload->name, names[0]);
	for (size_t i = 0; !r && i < sizeof(watches) / sizeof(*watches); i++) {
		const struct container_job job = {.script = workload->script,
						  .in = workload->in,
						  .persona = &workloads->persona,
						  .watch = watches[i]};
		double seconds;

		snprintf(series, sizeof(series), "%s, %s", workload->name, names[i]);
		r = container_time(run, &job, &seconds, err);
		if (!r)
			r = bench_add(run, series, "s", baseline, seconds);
	}
	return r;
}

static int sandbox_round(struct bench_run *run, struct qp_error *err)
{
	const struct workloads *workloads = run->state;
	int r = workload_round(run, workloads, &workloads->npm, err);

	return r ? r : workload_round(run, workloads, &workloads->build, err);
}

static void sandbox_end(struct bench_run *run)
{
	free(run->state);
}

const struct bench bench_sandbox = {
	.name = "sandbox",
	.summary = "npm rebuild and import of --spec, a C build: unobserved, observed, strace -f",
	.rounds = 7,
	.begin = sandbox_begin,
	.round = sandbox_round,
	.end = sandbox_end,
};
