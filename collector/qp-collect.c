// SPDX-License-Identifier: Apache-2.0
/*
 * qp-collect: records every cgroup whose name matches a pattern, each into an evidence
 * log of its own, without a sandbox and without a verdict.
 */
#include "base/cleanup.h"
#include "base/log.h"
#include "base/options.h"
#include "collector/collect_group.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUPS_MAX 16 /* each has programs of its own, which every call on the host passes */
#define RESCAN_MS  1000

#define EXIT_USAGE   2
#define EXIT_NO_HOST 3

struct session {
	const char *pattern;
	const char *out;
	bool exit_when_empty;
	char *mount_point;
	int mount_fd;
	int inotify_fd;
	int signal_fd;
	struct collector *spare; /* loaded ahead, so that a new group is tracked at once */
	struct collect_group groups[GROUPS_MAX];
	size_t cnt;
	size_t seen; /* groups so far, ended ones too */
	bool failed;
};

static const struct collector_options spare_options = {0};

DEFINE_CLEANUP(glob, glob_t *, globfree);

static const struct command_help help = {
	.usage = "qp-collect --cgroup GLOB [OPTION...]",
	.summary = "Record what the processes of cgroups do, each group into an evidence log.",
	.details = "GLOB is a path below the mount point of cgroup v2, such as \"qp-*\" or\n"
		   "\"system.slice/docker-*.scope\". Groups below a matching group belong to it.\n"
		   "Groups that appear later are recorded too. The logs are DIR/GROUP.qplog;\n"
		   "recording ends with SIGINT or SIGTERM, for one group when it is removed.",
	.example = "mkdir /sys/fs/cgroup/qp-mine\n"
		   "qp-collect --cgroup 'qp-mine' --out /tmp/logs --exit-when-empty",
};

/* Watches the folders in which matching groups can appear. */
static void watch_parents(struct session *session)
{
	_cleanup_free_ char *pattern = NULL;
	glob_t found = {0};
	glob_t *_cleanup_(glob) release = &found;
	char *slash;

	if (asprintf(&pattern, "%s/%s", session->mount_point, session->pattern) < 0)
		return;
	slash = strrchr(pattern, '/');
	*slash = '\0';
	if (glob(pattern, GLOB_NOSORT | GLOB_ONLYDIR, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		inotify_add_watch(session->inotify_fd, found.gl_pathv[i], IN_CREATE | IN_ONLYDIR);
}

static bool is_recorded(const struct session *session, const char *name)
{
	for (size_t i = 0; i < session->cnt; i++)
		if (strcmp(session->groups[i].name, name) == 0)
			return true;
	return false;
}

/* Records the group @name. A group that is gone again already is no error. */
static int begin(struct session *session, const char *name, struct qp_error *err)
{
	struct collect_group *group = &session->groups[session->cnt];
	struct collector *collector = steal_ptr(session->spare);
	int rc;

	if (session->cnt == GROUPS_MAX) {
		session->spare = collector;
		session->failed = true;
		log_error("%s is not recorded: %d groups are recorded already", name, GROUPS_MAX);
		return 0;
	}
	if (!collector) {
		rc = collector_open(NULL, &collector, err);
		if (rc)
			return rc;
	}
	rc = collect_group_begin(group, session->mount_fd, name, collector, session->out, err);
	if (rc) {
		bool gone = faccessat(session->mount_fd, name, F_OK, 0) < 0;

		collect_group_clear(group);
		if (!gone)
			return rc;
		*err = (struct qp_error){0};
	} else {
		log_info("recording %s into %s%s", name, group->log_path,
			 group->was_populated ? " (processes were in it before)" : "");
		session->cnt++;
		session->seen++;
	}
	return session->spare ? 0 : collector_open(&spare_options, &session->spare, err);
}

static int scan(struct session *session, struct qp_error *err)
{
	_cleanup_free_ char *pattern = NULL;
	glob_t found = {0};
	glob_t *_cleanup_(glob) release = &found;
	size_t prefix = strlen(session->mount_point) + 1;

	watch_parents(session);
	if (asprintf(&pattern, "%s/%s", session->mount_point, session->pattern) < 0)
		return -ENOMEM;
	if (glob(pattern, GLOB_ONLYDIR, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name = found.gl_pathv[i] + prefix;
		struct stat st;
		int rc;

		if (stat(found.gl_pathv[i], &st) < 0 || !S_ISDIR(st.st_mode) ||
		    is_recorded(session, name))
			continue;
		rc = begin(session, name, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int end_group(struct session *session, size_t index)
{
	struct collect_group *group = &session->groups[index];
	int rc = collect_group_end(group);

	if (rc) {
		log_error("%s: %s", group->log_path, strerror(-rc));
		session->failed = true;
	} else {
		log_info("%s is complete", group->log_path);
	}
	collect_group_clear(group);
	*group = session->groups[--session->cnt];
	return rc;
}

/* Drains each group; ends those that are removed or, with --exit-when-empty, empty. */
static void step(struct session *session)
{
	for (size_t i = session->cnt; i-- > 0;) {
		struct collect_group *group = &session->groups[i];
		bool removed = faccessat(session->mount_fd, group->name, F_OK, 0) < 0;
		int rc = collect_group_step(group);

		if (rc) {
			log_error("%s: %s", group->log_path, strerror(-rc));
			session->failed = true;
			collect_group_clear(group);
			*group = session->groups[--session->cnt];
		} else if (removed || (session->exit_when_empty && group->ended)) {
			end_group(session, i);
		}
	}
}

/* Waits for events, a new group, a signal. True when it is time to stop. */
static bool wait_for_work(struct session *session, bool *ret_rescan)
{
	struct pollfd fds[GROUPS_MAX + 2] = {
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = session->inotify_fd, .events = POLLIN},
	};
	char buf[4096];
	int n;

	for (size_t i = 0; i < session->cnt; i++)
		fds[2 + i] = (struct pollfd){.fd = collector_fd(session->groups[i].collector),
					     .events = POLLIN};
	n = poll(fds, 2 + session->cnt, RESCAN_MS);
	*ret_rescan = n == 0 || fds[1].revents;
	if (fds[1].revents)
		while (read(session->inotify_fd, buf, sizeof(buf)) > 0)
			;
	return fds[0].revents;
}

static int session_open(struct session *session, struct qp_error *err)
{
	sigset_t stop;
	int rc = cgroup2_mount_point(&session->mount_point, err);

	if (rc)
		return rc;
	rc = collector_open(&spare_options, &session->spare, err);
	if (rc)
		return rc;
	if (mkdir(session->out, 0755) < 0 && errno != EEXIST)
		return qp_error_set(err, -errno, "cannot make the folder %s: %s", session->out,
				    strerror(errno));
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	session->mount_fd = open(session->mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	session->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	session->signal_fd = signalfd(-1, &stop, SFD_CLOEXEC);
	if (session->mount_fd < 0 || session->inotify_fd < 0 || session->signal_fd < 0)
		return qp_error_set(err, -errno, "cannot watch %s: %s", session->mount_point,
				    strerror(errno));
	return scan(session, err);
}

static int session_run(struct session *session, struct qp_error *err)
{
	int rc;

	if (session->exit_when_empty && !session->seen)
		return qp_error_set(err, -ENOENT,
				    "no cgroup matches %s below %s: make it first, or leave out "
				    "--exit-when-empty to wait for it",
				    session->pattern, session->mount_point);
	while (!session->exit_when_empty || session->cnt) {
		bool rescan;

		if (wait_for_work(session, &rescan))
			break;
		if (rescan) {
			rc = scan(session, err);
			if (rc)
				return rc;
		}
		step(session);
	}
	while (session->cnt)
		end_group(session, session->cnt - 1);
	return 0;
}

static void session_close(struct session *session)
{
	while (session->cnt)
		collect_group_clear(&session->groups[--session->cnt]);
	collector_free(session->spare);
	free(session->mount_point);
}

int main(int argc, char **argv)
{
	struct session session = {.out = ".", .mount_fd = -1, .inotify_fd = -1, .signal_fd = -1};
	const struct option rows[] = {
		{.name = "cgroup",
		 .kind = OPTION_STRING,
		 .target = &session.pattern,
		 .argument = "GLOB",
		 .help = "the groups to record, below cgroup v2's mount point"},
		{.name = "out",
		 .kind = OPTION_STRING,
		 .target = &session.out,
		 .argument = "DIR",
		 .help = "where the logs go (the current folder)"},
		{.name = "exit-when-empty",
		 .kind = OPTION_FLAG,
		 .target = &session.exit_when_empty,
		 .help = "end when every matching group was filled and is empty again"},
		{.name = NULL},
	};
	struct qp_error err = {0};
	bool want_help = false;
	int operands = 0;
	int rc = options_parse(rows, argc, argv, false, &operands, &want_help, &err);

	log_set_program("qp-collect");
	if (!rc && want_help) {
		options_help(stdout, &help, rows);
		return 0;
	}
	if (!rc && (operands || !session.pattern))
		rc = qp_error_set(&err, -EINVAL,
				  operands ? "qp-collect takes no operands"
					   : "--cgroup GLOB is missing");
	if (rc) {
		log_qp_error(&err);
		return EXIT_USAGE;
	}
	rc = session_open(&session, &err);
	if (!rc)
		rc = session_run(&session, &err);
	session_close(&session);
	if (rc) {
		qp_error_set(&err, rc, "%s", strerror(-rc));
		log_qp_error(&err);
	}
	if (rc == -EPERM || rc == -ENOTSUP)
		return EXIT_NO_HOST;
	return rc || session.failed ? 1 : 0;
}
