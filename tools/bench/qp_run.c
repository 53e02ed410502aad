// SPDX-License-Identifier: Apache-2.0
/* run: qp run and qp exec as a user has them, split by the phases they report. */
#include "tools/bench/bench.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/self.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define PROGRESS_BYTES_MAX (1 << 20)
#define LAST_VERDICT	   20 /* the highest exit code that a receipt gives */

static void __attribute__((noreturn))
qp_exec(const char *program, const char *const *args, int progress_fd)
{
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(progress_fd, STDERR_FILENO) < 0)
		_exit(127);
	execv(program, (char *const *)args);
	_exit(127);
}

/* Runs qp; *ret_progress is what it wrote to stderr. */
static int qp_time(const char *const *args, char **ret_progress, double *ret_seconds,
		   struct qp_error *err)
{
	_cleanup_free_ char *program = NULL;
	uint64_t begun_ns;
	int fds[2], status = 0, r;
	size_t len;
	pid_t pid;

	r = self_file("qp", &program, err);
	if (r)
		return r;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	begun_ns = bench_now_ns();
	pid = fork();
	if (!pid)
		qp_exec(program, args, fds[1]);
	close(fds[1]);
	r = read_all(fds[0], PROGRESS_BYTES_MAX, ret_progress, &len);
	close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	*ret_seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	if (r)
		return r;
	if (!WIFEXITED(status) || WEXITSTATUS(status) > LAST_VERDICT ||
	    (WEXITSTATUS(status) && WEXITSTATUS(status) < 10))
		return qp_error_set(err, -EIO, "qp %s failed: %.300s", args[1], *ret_progress);
	return 0;
}

/* A series for each line "  phase   1.23 s  ...", and one for what lies between them. */
static int phases_add(struct bench_run *run, const char *command, char *progress, double seconds)
{
	char series[BENCH_NAME_SIZE], phase[16], *state = NULL;
	double rest = seconds;
	int r = 0;

	for (char *line = strtok_r(progress, "\n", &state); line && !r;
	     line = strtok_r(NULL, "\n", &state)) {
		double took;

		if (sscanf(line, " %15s %lf s", phase, &took) != 2)
			continue;
		rest -= took;
		snprintf(series, sizeof(series), "%s: %s", command, phase);
		r = bench_add(run, series, "s", NULL, took);
	}
	snprintf(series, sizeof(series), "%s: before and between", command);
	if (!r)
		r = bench_add(run, series, "s", NULL, rest);
	snprintf(series, sizeof(series), "%s: whole", command);
	return r ? r : bench_add(run, series, "s", NULL, seconds);
}

static int command_round(struct bench_run *run, const char *command, const char *const *args,
			 const char *out, struct qp_error *err)
{
	_cleanup_free_ char *progress = NULL;
	double seconds = 0;
	int r = qp_time(args, &progress, &seconds, err);

	if (!r)
		r = phases_add(run, command, progress, seconds);
	remove_tree_at(AT_FDCWD, out);
	return r;
}

static int run_round(struct bench_run *run, struct qp_error *err)
{
	char out[PATH_MAX];
	const char *const package[] = {"qp", "run", "--out", out, run->options->spec, NULL};
	const char *const command[] = {"qp", "exec", "--out", out, "--", "true", NULL};
	int r;

	snprintf(out, sizeof(out), "%s/out", run->folder);
	r = command_round(run, "run", package, out, err);
	return r ? r : command_round(run, "exec true", command, out, err);
}

const struct bench bench_qp_run = {
	.name = "run",
	.summary = "qp run of --spec and qp exec -- true, split by phase",
	.rounds = 5,
	.round = run_round,
};
