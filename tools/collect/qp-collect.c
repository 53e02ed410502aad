// SPDX-License-Identifier: Apache-2.0
/*
 * qp-collect: records every cgroup whose name matches a pattern, each into an evidence log
 * and a receipt of its own, without a sandbox. Its options, its signals and its loop.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "tools/collect/metrics.h"
#include "tools/collect/session.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#define RING_BYTES_DEFAULT (8U << 20) /* mapped twice: it counts double once it was full */
#define RING_BYTES_MIN	   (64U << 10)
#define RING_BYTES_MAX	   (1U << 30)
#define RATE_MAX	   100000000
#define FLUSH_NS	   1000000000ULL
#define METRICS_NS	   5000000000ULL
#define WAIT_MS		   1000

#define EXIT_USAGE   2
#define EXIT_NO_HOST 3

static const struct command_help help = {
	.usage = "qp-collect --cgroup GLOB [OPTION...]",
	.summary = "Record what the processes of cgroups do, each group into an evidence log.",
	.details = "GLOB is a path below the mount point of cgroup v2, such as \"qp-*\" or\n"
		   "\"system.slice/docker-*.scope\", or an absolute path to it. Groups below a\n"
		   "matching group belong to it. Groups that appear later are recorded from their\n"
		   "first call. Each group has DIR/GROUP-TIME.qplog and, from its end on, when it\n"
		   "has been empty for a second or was removed, DIR/GROUP-TIME.receipt.json.\n"
		   "SIGHUP finishes all logs and begins new ones, SIGINT and SIGTERM end it.",
	.example = "qp-collect --cgroup '/sys/fs/cgroup/qp-*' --out /var/lib/qp-collect",
};

static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Each group holds a log and a root folder open. */
static void raise_files_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The signals that came: *ret_stop, *ret_rotate. */
static void take_signals(int fd, bool *ret_stop, bool *ret_rotate)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			*ret_rotate = true;
		else
			*ret_stop = true;
	}
}

static void keep_files(struct session *session, uint64_t *flushed_ns, uint64_t *metered_ns)
{
	uint64_t now_ns = clock_boot_ns();
	int rc;

	if (now_ns - *flushed_ns >= FLUSH_NS) {
		*flushed_ns = now_ns;
		session_flush(session);
	}
	if (now_ns - *metered_ns >= METRICS_NS) {
		*metered_ns = now_ns;
		rc = metrics_write(session);
		if (rc)
			log_warning("cannot write %s: %s", session->metrics, strerror(-rc));
	}
}

static int run(struct session *session, int signal_fd, struct qp_error *err)
{
	uint64_t flushed_ns = 0, metered_ns = 0;
	bool stop = false;

	if (session->exit_when_empty && !session->counts.groups)
		return qp_error_set(err, -ENOENT,
				    "no cgroup matches below %s: make it first, or leave out "
				    "--exit-when-empty to wait for it",
				    session->mount_point);
	while (!stop && (!session->exit_when_empty || session->groups_cnt)) {
		struct pollfd fds[] = {
			{.fd = signal_fd, .events = POLLIN},
			{.fd = collector_fd(session->collector), .events = POLLIN},
		};
		bool rotate = false;
		int rc;

		if (poll(fds, 2, WAIT_MS) < 0 && errno != EINTR)
			return qp_error_set(err, -errno, "cannot wait: %s", strerror(errno));
		take_signals(signal_fd, &stop, &rotate);
		rc = session_step(session, err);
		if (!rc && rotate && !stop)
			rc = session_rotate(session, false, err);
		if (rc)
			return rc;
		keep_files(session, &flushed_ns, &metered_ns);
	}
	return 0;
}

/* Whatever ended the loop, the logs get their trailers. */
static int end(struct session *session, struct qp_error *err)
{
	int rc = session_rotate(session, true, err);

	if (metrics_write(session))
		session->failed = true;
	return rc;
}

static int parse(struct session *session, int argc, char **argv, bool *ret_help,
		 struct qp_error *err)
{
	const struct option rows[] = {
		{.name = "cgroup",
		 .kind = OPTION_LIST,
		 .target = &session->globs,
		 .argument = "GLOB",
		 .help = "the groups to record; may be repeated"},
		{.name = "out",
		 .kind = OPTION_STRING,
		 .target = &session->out,
		 .argument = "DIR",
		 .help = "where logs and receipts go (the current folder)"},
		{.name = "json",
		 .kind = OPTION_FLAG,
		 .target = &session->json,
		 .help = "print the observations of each finished log as lines of JSON"},
		{.name = "exit-when-empty",
		 .kind = OPTION_FLAG,
		 .target = &session->exit_when_empty,
		 .help = "end when every matching group was filled and is empty again"},
		{.name = "ring-size",
		 .kind = OPTION_BYTES,
		 .target = &session->ring_bytes,
		 .argument = "SIZE",
		 .help = "of the buffer of events, a power of two (8M)",
		 .min = RING_BYTES_MIN,
		 .max = RING_BYTES_MAX},
		{.name = "tier",
		 .kind = OPTION_CHOICE,
		 .target = &session->tier,
		 .argument = "TIER",
		 .help = "auto, base or kernel-object: how paths are told (auto)",
		 .choices = COLLECTOR_TIERS},
		{.name = "rate",
		 .kind = OPTION_NUMBER,
		 .target = &session->rate_max,
		 .argument = "N",
		 .help = "events of a group in a second; more are lost, and counted",
		 .min = 1,
		 .max = RATE_MAX},
		{.name = "metrics",
		 .kind = OPTION_STRING,
		 .target = &session->metrics,
		 .argument = "FILE",
		 .help = "keep the counters there, as Prometheus reads them"},
		{.name = NULL},
	};
	int operands = 0;
	int rc = options_parse(rows, argc, argv, false, &operands, ret_help, err);

	if (!rc && *ret_help)
		options_help(stdout, &help, rows);
	else if (!rc && (operands || !session->globs.cnt))
		rc = qp_error_set(err, -EINVAL,
				  operands ? "qp-collect takes no operands"
					   : "--cgroup GLOB is missing");
	return rc;
}

int main(int argc, char **argv)
{
	static struct session session = {.out = ".",
					 .ring_bytes = RING_BYTES_DEFAULT,
					 .mount_fd = -1,
					 .receipts = RECEIPTS_NONE};
	_cleanup_close_ int signal_fd = -1;
	struct qp_error err = {0};
	bool want_help = false;
	int rc, ended;

	log_set_program("qp-collect");
	rc = parse(&session, argc, argv, &want_help, &err);
	if (rc) {
		log_qp_error(&err);
		return EXIT_USAGE;
	}
	if (want_help)
		return 0;
	signal_fd = signals_open();
	raise_files_limit();
	rc = session_open(&session, &err);
	if (!rc) {
		rc = run(&session, signal_fd, &err);
		ended = end(&session, &err);
		rc = rc ? rc : ended;
	}
	session_close(&session);
	if (rc) {
		qp_error_set(&err, rc, "%s", strerror(-rc));
		log_qp_error(&err);
	}
	if (rc == -EPERM || rc == -ENOTSUP)
		return EXIT_NO_HOST;
	if (rc == -EINVAL)
		return EXIT_USAGE;
	return rc || session.failed ? 1 : 0;
}
