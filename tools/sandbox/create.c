// SPDX-License-Identifier: Apache-2.0
/*
 * Making a container. A child takes a mount namespace of its own, builds the root there and
 * becomes the runtime; when that has created the container, whose mounts are its own by
 * then, it ends and its mounts with it. So no mount is ever made where the caller is.
 */
#include "tools/sandbox/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CREATE_SECONDS 60
#define CONTROL_FD     3
#define PID_BYTES_MAX  32
#define LOG_BYTES_MAX  (1 << 20)
#define COMPLAINT_SIZE 600

/* What the child needs of the parent's descriptors. */
struct create_fds {
	int output;  /* write end of the container's output */
	int failure; /* takes a struct qp_error if the root cannot be built */
	int control;
};

/* The last message of the runtime's JSON log, or what it printed. */
void runtime_complaint(const char *folder, const char *printed, struct qp_error *err, int code,
		       const char *what)
{
	_cleanup_free_ char *log = NULL;
	const char *message = printed && *printed ? printed : "it did not say why";
	char path[PATH_MAX], text[COMPLAINT_SIZE];
	char *state = NULL;
	size_t len;

	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(text, sizeof(text), "%s", message);
	if (read_file_at(AT_FDCWD, path, LOG_BYTES_MAX, &log, &len))
		log = NULL;
	for (char *line = log ? strtok_r(log, "\n", &state) : NULL; line;
	     line = strtok_r(NULL, "\n", &state)) {
		json_auto_t *entry = json_loads(line, 0, NULL);
		const char *said = json_string_value(json_object_get(entry, "msg"));

		if (said)
			snprintf(text, sizeof(text), "%s", said);
	}
	text[strcspn(text, "\n")] = '\0';
	qp_error_set(err, code, "%s: %s", what, text);
}

static int descriptors_set(const struct create_fds *fds)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* Moved up first, so that no target below overwrites a source. */
	int output = fcntl(fds->output, F_DUPFD_CLOEXEC, 10);
	int failure = fcntl(fds->failure, F_DUPFD_CLOEXEC, 10);
	int control = fds->control < 0 ? -1 : fcntl(fds->control, F_DUPFD_CLOEXEC, 10);

	if (null < 0 || output < 0 || failure < 0 || (fds->control >= 0 && control < 0))
		return -errno;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(output, STDERR_FILENO) < 0 || (control >= 0 && dup2(control, CONTROL_FD) < 0))
		return -errno;
	return failure;
}

/* Whatever else the caller has open must not get into the runtime: it passes some on. */
static int descriptors_hide(int first)
{
	return syscall(SYS_close_range, first, ~0U, 1U << 2 /* CLOSE_RANGE_CLOEXEC */) < 0 ? -errno
											   : 0;
}

static void __attribute__((noreturn)) create_exec(const struct sandbox *sandbox, bool has_control)
{
	const char *base = strrchr(sandbox->runtime, '/');
	bool is_crun = strstr(base ? base : sandbox->runtime, "crun");
	char state[PATH_MAX], log[PATH_MAX], pid_file[PATH_MAX];
	const char *argv[] = {
		sandbox->runtime,
		"--root",
		state,
		"--log",
		log,
		"--log-format",
		"json",
		"create",
		"--bundle",
		sandbox->folder,
		"--pid-file",
		pid_file,
		"--preserve-fds",
		has_control ? "1" : "0",
		sandbox->container,
		NULL,
	};

	snprintf(state, sizeof(state), "%s/" RUNTIME_FOLDER, sandbox->folder);
	snprintf(log, sizeof(log), "%s%s/log", is_crun ? "file:" : "", sandbox->folder);
	snprintf(pid_file, sizeof(pid_file), "%s/pid", sandbox->folder);
	execv(sandbox->runtime, (char *const *)argv);
	dprintf(STDERR_FILENO, "%s: %m\n", sandbox->runtime);
	_exit(127);
}

static void __attribute__((noreturn))
create_child(const struct sandbox *sandbox, const struct sandbox_config *config,
	     const json_t *decoys, const struct create_fds *fds, pid_t parent)
{
	bool has_control = config->control_fd >= 0;
	struct qp_error err = {0};
	sigset_t none;
	int failure, r;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Without its parent nobody would clean up after it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	failure = getppid() == parent ? descriptors_set(fds) : -ESRCH;
	if (failure < 0)
		_exit(126);
	r = descriptors_hide(has_control ? CONTROL_FD + 1 : CONTROL_FD);
	if (r)
		qp_error_set(&err, r, "close_range: %s", strerror(-r));
	if (!r &&
	    (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
		r = qp_error_set(&err, -errno, "cannot make a mount namespace: %s",
				 strerror(errno));
	if (!r)
		r = rootfs_build(sandbox, config, decoys, &err);
	if (!r)
		create_exec(sandbox, has_control);
	/* The code travels as the line, which is of no use here. */
	err.line = r;
	write_all(failure, &err, sizeof(err));
	_exit(125);
}

/* What the child wrote before it ended without becoming the runtime. 0 if nothing. */
static int failure_take(int fd, struct qp_error *err)
{
	_cleanup_free_ char *bytes = NULL;
	struct qp_error why;
	size_t len;
	int r = read_all(fd, sizeof(why), &bytes, &len);

	if (r || len != sizeof(why))
		return r;
	memcpy(&why, bytes, sizeof(why));
	why.text[sizeof(why.text) - 1] = '\0';
	return qp_error_set(err, why.line < 0 ? why.line : -EIO, "%s", why.text);
}

static int child_finish(const struct sandbox *sandbox, pid_t pid, int failure_fd,
			struct qp_error *err)
{
	char printed[COMPLAINT_SIZE] = "";
	int status, failed, r;
	ssize_t n;

	r = child_wait(pid, CREATE_SECONDS, &status);
	failed = failure_take(failure_fd, err);
	if (failed)
		return failed;
	if (r)
		return qp_error_set(err, r, "%s create: %s", sandbox->runtime, strerror(-r));
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	n = read(sandbox->output_fd, printed, sizeof(printed) - 1);
	printed[n > 0 ? n : 0] = '\0';
	runtime_complaint(sandbox->folder, printed, err, -EIO, "the runtime made no container");
	return -EIO;
}

static int create_run(struct sandbox *sandbox, const struct sandbox_config *config,
		      const json_t *decoys, struct qp_error *err)
{
	_cleanup_close_ int output = -1, failure_ours = -1, failure_theirs = -1;
	struct create_fds fds = {.control = config->control_fd};
	pid_t parent = getpid(), pid;
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	sandbox->output_fd = pipe_fds[0];
	fds.output = output = pipe_fds[1];
	if (fcntl(sandbox->output_fd, F_SETFL, O_NONBLOCK) < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0)
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	failure_ours = pipe_fds[0];
	fds.failure = failure_theirs = pipe_fds[1];
	pid = fork();
	if (pid < 0)
		return qp_error_set(err, -errno, "fork: %s", strerror(errno));
	if (!pid)
		create_child(sandbox, config, decoys, &fds, parent);
	close(steal_fd(&output));
	close(steal_fd(&failure_theirs));
	return child_finish(sandbox, pid, failure_ours, err);
}

static int bundle_write(const struct sandbox *sandbox, const struct sandbox_config *config)
{
	_cleanup_close_ int fd = open(sandbox->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_auto_t *spec = spec_make(sandbox, config);
	_cleanup_free_ char *text = spec ? json_dumps(spec, JSON_COMPACT) : NULL;

	if (!text)
		return -ENOMEM;
	if (fd < 0 || mkdirat(fd, "rootfs", 0755) < 0)
		return -errno;
	return write_new_file_at(fd, "config.json", 0600, text, strlen(text));
}

/* Opens what tells about the container for as long as the sandbox lives. */
static int container_open(struct sandbox *sandbox)
{
	_cleanup_close_ int folder = open(sandbox->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	char path[64];
	uint64_t tgid;
	size_t len;
	int r = folder < 0 ? -errno : read_file_at(folder, "pid", PID_BYTES_MAX, &text, &len);

	if (r)
		return r;
	text[strcspn(text, "\n")] = '\0';
	r = number_parse(text, 2, INT32_MAX, &tgid);
	if (r)
		return r;
	sandbox->init_tgid = (pid_t)tgid;
	sandbox->init_pidfd = (int)syscall(SYS_pidfd_open, sandbox->init_tgid, 0);
	if (sandbox->init_pidfd < 0)
		return -errno;
	/* Runtimes join the version 2 group of a hybrid host, some versions do not. */
	r = cgroup_join_unified(&sandbox->cgroups, sandbox->container, sandbox->init_tgid);
	if (r)
		return r;
	sandbox->cgroup_fd = cgroup_open(cgroups_unified(&sandbox->cgroups), sandbox->container);
	if (sandbox->cgroup_fd < 0)
		return sandbox->cgroup_fd;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)sandbox->init_tgid);
	sandbox->root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (sandbox->root_fd < 0)
		return -errno;
	for (size_t i = 0; i < TMPFS_CNT; i++) {
		struct tmpfs_mount *tmpfs = &sandbox->tmpfs[i];

		if (!tmpfs->bytes)
			continue;
		tmpfs->fd = openat(sandbox->root_fd, tmpfs->path + 1, O_PATH | O_CLOEXEC);
		if (tmpfs->fd < 0)
			return -errno;
	}
	return 0;
}

int sandbox_make(struct sandbox *sandbox, const struct sandbox_config *config, const json_t *decoys,
		 struct qp_error *err)
{
	int r = bundle_write(sandbox, config);

	if (r)
		return qp_error_set(err, r, "cannot write the bundle in %s: %s", sandbox->folder,
				    strerror(-r));
	r = create_run(sandbox, config, decoys, err);
	if (r)
		return r;
	r = container_open(sandbox);
	if (r)
		return qp_error_set(err, r, "cannot look at the new container: %s", strerror(-r));
	return 0;
}
