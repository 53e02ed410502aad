// SPDX-License-Identifier: Apache-2.0
/* The watcher: forked, asked to stop by the end of a pipe, answering through another. */
#include "tools/bench/watcher.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/number.h"
#include "collector/collector.h"
#include "collector/preamble.h"
#include "tools/bench/bench.h"
#include "tools/derive.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define STATUS_BYTES_MAX 65536
/* A report does not begin with it: see watcher_report.failed. */
#define READY 'r'

struct watcher {
	pid_t pid;
	int stop_fd;   /* its end is the sign to stop */
	int report_fd; /* one byte when ready, then the report */
};

/* Memory of this process, by a line of smaps_rollup. */
static uint64_t memory_bytes(const char *name)
{
	_cleanup_free_ char *text = NULL;
	uint64_t kib = 0;
	char *line;
	size_t len;

	if (read_file_at(AT_FDCWD, "/proc/self/smaps_rollup", STATUS_BYTES_MAX, &text, &len))
		return 0;
	line = strstr(text, name);
	if (!line)
		return 0;
	line += strlen(name);
	line += strspn(line, " \t");
	line[strcspn(line, " ")] = '\0';
	return number_parse(line, 0, UINT32_MAX, &kib) ? 0 : kib * 1024;
}

/* Records until the pipe @stop_fd ends. */
static int record(struct collector *collector, struct log_writer *log, int stop_fd)
{
	struct pollfd fds[] = {{.fd = collector_fd(collector), .events = POLLIN},
			       {.fd = stop_fd, .events = POLLIN}};
	int r = 0;

	while (!r && !fds[1].revents) {
		if (poll(fds, 2, -1) < 0)
			return -errno;
		if (fds[0].revents)
			r = collector_drain(collector, log);
	}
	return r ? r : collector_drain(collector, log);
}

static int log_begin(struct collector *collector, const char *path, uint64_t id,
		     struct log_writer **ret_log, struct qp_error *err)
{
	_cleanup_json_ json_t *preamble = preamble_collect(collector_tier(collector));
	int r = log_writer_open(path, ret_log, err);

	if (r)
		return r;
	json_object_set_new(preamble, "joinedLate", json_false());
	json_object_set_new(preamble, "cgroups",
			    json_pack("[{s:I, s:s}]", "id", (json_int_t)id, "path", "bench"));
	return log_writer_append_json(*ret_log, LOG_RECORD_PREAMBLE, preamble);
}

static int log_end(struct collector *collector, struct log_writer *log,
		   struct watcher_report *report)
{
	_cleanup_json_ json_t *trailer = NULL;
	char sha256[SHA256_HEX_SIZE];
	const json_t *events;
	uint64_t bytes;
	int r = collector_stop(collector, log);

	if (!r)
		r = collector_counters(collector, &trailer);
	if (r)
		return r;
	events = json_object_get(json_object_get(trailer, "counters"), "events");
	report->produced = (uint64_t)json_integer_value(json_object_get(events, "produced"));
	report->delivered = (uint64_t)json_integer_value(json_object_get(events, "delivered"));
	report->lost = (uint64_t)json_integer_value(json_object_get(events, "lost"));
	json_object_set_new(trailer, "complete", json_true());
	r = log_writer_append_json(log, LOG_RECORD_TRAILER, trailer);
	report->rss_bytes = memory_bytes("\nRss:");
	report->pss_bytes = memory_bytes("\nPss:");
	if (r) {
		log_writer_abandon(log);
		return r;
	}
	return log_writer_close_take(log, sha256, &bytes);
}

static int watch(int group_fd, const char *log_path, int stop_fd, int report_fd,
		 struct watcher_report *report)
{
	struct collector *collector;
	struct log_writer *log;
	uint64_t begun_ns = bench_now_ns(), id;
	const struct collector_options options = {.without_uring = true}; /* as for a sandbox */
	int r = collector_open(&options, &collector, &report->why);

	report->load_ns = bench_now_ns() - begun_ns;
	if (r)
		return r;
	begun_ns = bench_now_ns();
	r = collector_track(collector, group_fd, &id, &report->why);
	report->track_ns = bench_now_ns() - begun_ns;
	if (!r)
		r = log_begin(collector, log_path, id, &log, &report->why);
	if (!r)
		r = write_all(report_fd, &(char){READY}, 1);
	if (!r)
		r = record(collector, log, stop_fd);
	if (!r)
		r = log_end(collector, log, report);
	begun_ns = bench_now_ns();
	collector_free(collector);
	report->detach_ns = bench_now_ns() - begun_ns;
	return r;
}

static void __attribute__((noreturn))
watcher_child(int group_fd, const char *log_path, int stop_fd, int report_fd)
{
	struct watcher_report report = {.failed = 'f'};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	report.error = watch(group_fd, log_path, stop_fd, report_fd, &report);
	/* The report follows the byte that says "ready", or takes its place. */
	_exit(write_all(report_fd, &report, sizeof(report)) ? 1 : 0);
}

/* Reads the report, of which @had bytes were taken for the answer already. */
static int report_read(struct watcher *watcher, size_t had, struct watcher_report *ret_report,
		       struct qp_error *err)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len;
	int r = read_all(watcher->report_fd, sizeof(*ret_report), &bytes, &len);

	if (r || had + len != sizeof(*ret_report))
		return qp_error_set(err, r ? r : -EIO, "the collector's process broke off");
	memcpy((char *)ret_report + had, bytes, len);
	if (ret_report->error)
		return qp_error_set(err, ret_report->error, "%s",
				    ret_report->why.text[0] ? ret_report->why.text
							    : strerror(-ret_report->error));
	return 0;
}

static void watcher_free(struct watcher *watcher)
{
	if (watcher->stop_fd >= 0)
		close(watcher->stop_fd);
	close(watcher->report_fd);
	waitpid(watcher->pid, NULL, 0);
	free(watcher);
}

int watcher_start(int group_fd, const char *log_path, struct watcher **ret_watcher,
		  struct qp_error *err)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	struct watcher_report report = {0};
	int stop[2], said[2], r;

	if (!watcher)
		return -ENOMEM;
	if (pipe2(stop, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0) {
		free(watcher);
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	}
	watcher->pid = fork();
	if (!watcher->pid) {
		close(stop[1]);
		close(said[0]);
		watcher_child(group_fd, log_path, stop[0], said[1]);
	}
	close(stop[0]);
	close(said[1]);
	watcher->stop_fd = stop[1];
	watcher->report_fd = said[0];
	if (watcher->pid < 0 || read(watcher->report_fd, &report, 1) != 1)
		r = qp_error_set(err, -EIO, "the collector's process broke off");
	else if (*(char *)&report == READY)
		r = 0;
	else
		r = report_read(watcher, 1, &report, err);
	if (r)
		watcher_free(watcher);
	else
		*ret_watcher = watcher;
	return r;
}

int watcher_stop_take(struct watcher *watcher, struct watcher_report *ret_report,
		      struct qp_error *err)
{
	int r;

	close(steal_fd(&watcher->stop_fd));
	r = report_read(watcher, 0, ret_report, err);
	watcher_free(watcher);
	return r;
}
