/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container with PID 1 for tests: made, run through its phases, gone again. What must look
 * at it from inside is this very test program, bound into the container and called with
 * INSIDE_WORD as its first argument.
 */
#ifndef QP_TESTS_TOOLS_SANDBOX_RUN_H
#define QP_TESTS_TOOLS_SANDBOX_RUN_H

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/sandbox/control.h"
#include "tools/sandbox/sandbox.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RUN_OUTPUT_MAX (4 << 20)
#define RUN_SECONDS    60
#define RUN_BINDS_MAX  4
#define RUN_NONCE      "0123456789abcdef01234567"
#define INSIDE_PATH    "/opt/check"
#define INSIDE_WORD    "--inside"

struct run {
	char task_id[TASK_ID_SIZE];
	struct limits limits;
	struct persona persona;
	struct sandbox_config config;
	struct sandbox_bind binds[RUN_BINDS_MAX];
	char init[PATH_MAX], self[PATH_MAX], home[80];
	const char *envp[8];
	struct sandbox *sandbox;
	int control, netns;
	char *output;
	size_t output_len;
	char *data; /* what phases wrote to descriptor 3 */
	size_t data_len;
	unsigned int stragglers;
	uint32_t rc[8]; /* of the phases, in their order */
	size_t rc_cnt;
	bool finished; /* PID 1 closed the channel */
	json_t *status;
	struct qp_error err;
};

/* Leaves the test unless this machine can run containers. */
#define RUN_NEEDS_ROOT()                                           \
	do {                                                       \
		if (geteuid() != 0) {                              \
			const char *must_ = getenv("QP_MUST_RUN"); \
			if (must_ && !strcmp(must_, "1"))          \
				cr_assert_fail("needs root");      \
			cr_skip("needs root");                     \
		}                                                  \
	} while (0)

/* build/qp-init from build/tests/tools/test_x, or from build/san/tests/tools/test_x. */
static inline void run_find_init(char path[static PATH_MAX])
{
	static const char *const places[] = {"../..", "../../.."};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	cr_assert_gt(n, 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < 2; i++) {
		char wanted[PATH_MAX + 32];

		snprintf(wanted, sizeof(wanted), "%s/%s/qp-init", self, places[i]);
		if (realpath(wanted, path))
			return;
	}
	cr_assert_fail("qp-init is not built");
}

/* The defaults of a run; the test may change config before run_create. */
static inline void run_prepare(struct run *run)
{
	static const char *const argv[] = {"/init", NULL};
	static unsigned int cnt;
	struct timespec now;
	ssize_t n;

	*run = (struct run){.control = -1, .netns = -1};
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(run->task_id, sizeof(run->task_id), "%05x%04x%x", (unsigned int)getpid() & 0xfffff,
		 (unsigned int)(now.tv_nsec >> 12) & 0xffff, cnt++ & 0xf);
	limits_default(&run->limits);
	cr_assert_eq(persona_make(&run->persona), 0);
	run_find_init(run->init);
	n = readlink("/proc/self/exe", run->self, sizeof(run->self) - 1);
	cr_assert_gt(n, 0);
	snprintf(run->home, sizeof(run->home), "HOME=%s", run->persona.home);
	run->envp[0] = "PATH=/usr/local/bin:/usr/bin:/bin";
	run->envp[1] = run->home;
	run->binds[0] = (struct sandbox_bind){run->init, "/init", false};
	run->binds[1] = (struct sandbox_bind){run->self, INSIDE_PATH, false};
	run->config = (struct sandbox_config){
		.task_id = run->task_id,
		.role = "sandbox",
		.limits = &run->limits,
		.persona = &run->persona,
		.home_bytes = run->limits.tmpfs_home_bytes,
		.tmp_bytes = run->limits.tmpfs_tmp_bytes,
		.work_bytes = run->limits.tmpfs_work_bytes,
		.decoys = true,
		.binds = run->binds,
		.binds_cnt = 2,
		.argv = argv,
		.envp = run->envp,
		.without_node = true, /* the tests need none */
	};
}

static inline int run_create(struct run *run)
{
	int theirs, r;

	cr_assert_eq(netns_create(&run->netns, &run->err), 0, "%s", run->err.text);
	cr_assert_eq(control_pair(&run->control, &theirs), 0);
	run->config.netns_fd = run->netns;
	run->config.control_fd = theirs;
	r = sandbox_create(&run->config, &run->sandbox, &run->err);
	close(theirs);
	return r;
}

static inline void run_append(char **bytes, size_t *len, const char *more, size_t more_len)
{
	cr_assert_leq(*len + more_len, RUN_OUTPUT_MAX);
	*bytes = realloc(*bytes, *len + more_len + 1);
	cr_assert_not_null(*bytes);
	memcpy(*bytes + *len, more, more_len);
	*len += more_len;
	(*bytes)[*len] = '\0';
}

static inline void run_on_output(struct run *run)
{
	char bytes[16384];
	ssize_t n;

	while ((n = read(sandbox_output_fd(run->sandbox), bytes, sizeof(bytes))) > 0)
		run_append(&run->output, &run->output_len, bytes, (size_t)n);
}

static inline void run_on_message(struct run *run, const struct control_message *message)
{
	if (message->kind == CONTROL_DATA)
		run_append(&run->data, &run->data_len, message->data, message->data_len);
	else if (message->kind == CONTROL_STRAGGLERS)
		run->stragglers = message->number;
	else if (message->kind == CONTROL_END && run->rc_cnt < 8)
		run->rc[run->rc_cnt++] = message->number;
}

/* Serves the container until a message of @kind comes, or PID 1 ends. */
static inline void run_until(struct run *run, enum control_kind kind)
{
	struct control_message *message = malloc(sizeof(*message));
	bool over = false;

	cr_assert_not_null(message);
	while (!over) {
		struct pollfd fds[] = {
			{.fd = run->finished ? -1 : run->control, .events = POLLIN},
			{.fd = sandbox_output_fd(run->sandbox), .events = POLLIN},
			{.fd = sandbox_init_pidfd(run->sandbox), .events = POLLIN},
		};
		int r;

		cr_assert_gt(poll(fds, 3, RUN_SECONDS * 1000), 0, "the container says nothing");
		run_on_output(run);
		over = fds[2].revents;
		while (!run->finished && (r = control_receive(run->control, message)) != -EAGAIN) {
			cr_assert_geq(r, 0, "%s", strerror(-r));
			run->finished = !r;
			if (r)
				run_on_message(run, message);
			if (r && message->kind == kind) {
				over = true;
				break;
			}
		}
	}
	run_on_output(run);
	free(message);
}

static inline void run_start(struct run *run)
{
	cr_assert_eq(sandbox_start(run->sandbox, &run->err), 0, "%s", run->err.text);
	cr_assert_eq(control_send_nonce(run->control, RUN_NONCE), 0);
	run_until(run, CONTROL_READY);
}

/* Runs the command as the phase `run`; returns its status. */
static inline int run_command(struct run *run, const char *const *argv)
{
	cr_assert_eq(control_send_phase(run->control, "run", "/work", argv), 0);
	run_until(run, CONTROL_END);
	cr_assert_gt(run->rc_cnt, 0, "PID 1 ended: %s", run->output ? run->output : "");
	return (int)run->rc[run->rc_cnt - 1];
}

static inline int run_shell(struct run *run, const char *script)
{
	const char *argv[] = {"sh", "-c", script, NULL};

	return run_command(run, argv);
}

/* Calls this program's inside part @what. */
static inline int run_inside(struct run *run, const char *what)
{
	const char *argv[] = {INSIDE_PATH, INSIDE_WORD, what, NULL};

	return run_command(run, argv);
}

/* Lets PID 1 end, and takes its status. */
static inline void run_finish(struct run *run, unsigned int seconds)
{
	cr_assert_eq(control_send_finish(run->control, seconds), 0);
	do
		run_until(run, CONTROL_STRAGGLERS);
	while (sandbox_exit_status(run->sandbox, &run->status) == -EAGAIN);
}

static inline void run_end(struct run *run)
{
	sandbox_destroy(run->sandbox, NULL);
	json_decref(run->status);
	free(run->output);
	free(run->data);
	if (run->control >= 0)
		close(run->control);
	if (run->netns >= 0)
		close(run->netns);
}

/* Whether member @key of @object is the JSON text @wanted. */
static inline void expect_text(const json_t *object, const char *key, const char *wanted)
{
	json_auto_t *expected = json_loads(wanted, JSON_DECODE_ANY, NULL);
	_cleanup_free_ char *text = json_dumps(json_object_get(object, key), JSON_ENCODE_ANY);

	cr_assert_not_null(expected);
	cr_expect(json_equal(json_object_get(object, key), expected), "%s is %s, not %s", key,
		  text ? text : "missing", wanted);
}

/* A started container with the defaults. */
static inline void run_open(struct run *run)
{
	run_prepare(run);
	cr_assert_eq(run_create(run), 0, "%s", run->err.text);
	run_start(run);
}

#endif
