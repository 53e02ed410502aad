// SPDX-License-Identifier: Apache-2.0
/* Two children: one that loads, in a namespace of its own, and qp-sinkhole for that one. */
#include "tools/bench/sinkhole_box.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/number.h"
#include "tools/self.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define STATUS_MAX    65536
#define START_TRIES   3000
#define START_WAIT_US 10000

/* The load's side of what it says. */
struct answer {
	struct load load;
	int r;
	struct qp_error err;
};

struct box {
	pid_t loader, sinkhole;
	int go_fd;     /* a byte lets the loader begin */
	int answer_fd; /* a byte when its namespace is there, then its answer */
	char records[PATH_MAX];
};

static void child_end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

static void cleanup_box(struct box *box)
{
	child_end(&box->loader);
	child_end(&box->sinkhole);
	cleanup_close(&box->go_fd);
	cleanup_close(&box->answer_fd);
	if (box->records[0])
		unlink(box->records);
}

static void __attribute__((noreturn)) loader_run(int (*generate)(struct load *, struct qp_error *),
						 uint64_t cnt, int go_fd, int answer_fd)
{
	static struct answer answer;
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNET) < 0)
		_exit(1);
	if (write_all(answer_fd, &byte, 1) || read(go_fd, &byte, 1) != 1)
		_exit(1);
	answer.load.cnt = cnt;
	answer.r = generate(&answer.load, &answer.err);
	_exit(write_all(answer_fd, &answer, sizeof(answer)) ? 1 : 0);
}

static int loader_start(struct box *box, int (*generate)(struct load *, struct qp_error *),
			uint64_t cnt, struct qp_error *err)
{
	int go[2], answers[2];
	char byte;

	if (pipe2(go, O_CLOEXEC) < 0)
		return qp_error_set(err, -errno, "a pipe: %s", strerror(errno));
	box->go_fd = go[1];
	if (pipe2(answers, O_CLOEXEC) < 0) {
		close(go[0]);
		return qp_error_set(err, -errno, "a pipe: %s", strerror(errno));
	}
	box->answer_fd = answers[0];
	box->loader = fork();
	if (!box->loader)
		loader_run(generate, cnt, go[0], answers[1]);
	close(go[0]);
	close(answers[1]);
	if (box->loader < 0 || read(box->answer_fd, &byte, 1) != 1)
		return qp_error_set(err, -EIO, "cannot make a network namespace; run as root");
	return 0;
}

/* Whether the file has its first line. */
static bool is_ready(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;

	return fd >= 0 && read(fd, &byte, 1) == 1;
}

static int sinkhole_start(struct box *box, struct qp_error *err)
{
	_cleanup_free_ char *program = NULL;
	char pid[16];
	int r = self_file("qp-sinkhole", &program, err);

	if (r)
		return r;
	snprintf(pid, sizeof(pid), "%d", (int)box->loader);
	box->sinkhole = fork();
	if (!box->sinkhole) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, program, "--pid", pid, "--out", box->records, NULL);
		_exit(127);
	}
	for (int i = 0; i < START_TRIES && box->sinkhole > 0; i++) {
		if (is_ready(box->records))
			return 0;
		if (waitpid(box->sinkhole, NULL, WNOHANG) == box->sinkhole) {
			box->sinkhole = 0;
			break;
		}
		usleep(START_WAIT_US);
	}
	return qp_error_set(err, -EIO, "qp-sinkhole did not start");
}

static int load_do(struct box *box, struct load *ret_load, struct qp_error *err)
{
	struct answer answer;
	size_t at = 0;

	if (write_all(box->go_fd, "g", 1))
		return qp_error_set(err, -EPIPE, "the load did not begin");
	while (at < sizeof(answer)) {
		ssize_t n = read(box->answer_fd, (char *)&answer + at, sizeof(answer) - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return qp_error_set(err, -EIO, "the load broke off");
		at += (size_t)n;
	}
	*ret_load = answer.load;
	*err = answer.err;
	return answer.r;
}

/* VmHWM of /proc/PID/status. */
static uint64_t peak_of(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	char path[32], *line;
	uint64_t kib = 0;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (read_file_at(AT_FDCWD, path, STATUS_MAX, &text, &len))
		return 0;
	line = strstr(text, "VmHWM:");
	if (!line)
		return 0;
	line += strcspn(line, "0123456789");
	line[strspn(line, "0123456789")] = '\0';
	return number_parse(line, 0, UINT32_MAX, &kib) ? 0 : kib * 1024;
}

static int sinkhole_end(struct box *box, struct box_report *report, struct qp_error *err)
{
	uint64_t begun_ns = bench_now_ns();
	int status;
	uint64_t later;

	report->peak_bytes = peak_of(box->sinkhole);
	kill(box->sinkhole, SIGTERM);
	/* What it takes in at the end counts too, as far as that can be seen: 0 once it ended. */
	later = peak_of(box->sinkhole);
	report->peak_bytes = later > report->peak_bytes ? later : report->peak_bytes;
	if (waitpid(box->sinkhole, &status, 0) < 0)
		return qp_error_set(err, -errno, "wait: %s", strerror(errno));
	box->sinkhole = 0;
	report->drain_seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return status ? qp_error_set(err, -EIO, "qp-sinkhole ended with status %d", status) : 0;
}

static uint64_t number_of(const json_t *record, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(record, key));
}

static void record_count(const json_t *record, struct box_report *report)
{
	const char *type = json_string_value(json_object_get(record, "type"));
	bool tcp = type && !strcmp(type, "tcp");

	if (type && !strcmp(type, "end")) {
		report->flushed = json_is_true(json_object_get(record, "flushed"));
		report->lost = number_of(record, "lost") + number_of(record, "dropped");
	}
	if (!tcp && type && strcmp(type, "dns") && strcmp(type, "udp"))
		return;
	report->records[!tcp]++;
	report->early += json_is_true(json_object_get(record, "early"));
	report->bytes += number_of(record, tcp ? "bytesReceived" : "bytes");
}

static int records_count(const char *path, struct box_report *report, struct qp_error *err)
{
	_cleanup_file_ FILE *in = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0, number = 0;
	ssize_t len;

	if (!in)
		return qp_error_set(err, -errno, "%s: %s", path, strerror(errno));
	while ((len = getline(&line, &size, in)) > 0) {
		_cleanup_json_ json_t *record =
			json_loadb(line, (size_t)len, JSON_REJECT_DUPLICATES, NULL);

		number++;
		if (!json_is_object(record) || line[len - 1] != '\n')
			return qp_error_set(err, -EBADMSG, "record %zu is torn", number);
		record_count(record, report);
	}
	return 0;
}

int box_run(const char *folder, int (*generate)(struct load *, struct qp_error *), uint64_t cnt,
	    struct box_report *ret_report, struct qp_error *err)
{
	__attribute__((cleanup(cleanup_box))) struct box box = {.go_fd = -1, .answer_fd = -1};
	int r = loader_start(&box, generate, cnt, err);

	memset(ret_report, 0, sizeof(*ret_report));
	snprintf(box.records, sizeof(box.records), "%s/records.jsonl", folder);
	if (!r)
		r = sinkhole_start(&box, err);
	if (!r)
		r = load_do(&box, &ret_report->load, err);
	/* The interface goes with the loader; what is on its way must have arrived by then. */
	if (!r)
		r = sinkhole_end(&box, ret_report, err);
	return r ? r : records_count(box.records, ret_report, err);
}
