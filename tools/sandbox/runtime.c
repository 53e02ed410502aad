// SPDX-License-Identifier: Apache-2.0
/* Choosing an OCI runtime by trying it, and calling it. */
#include "tools/sandbox/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/sandbox/random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define RUNTIME_SECONDS	 30
#define RUNTIME_ARGS_MAX 16
#define OUTPUT_BYTES_MAX (1 << 20)
#define PROBE_BUNDLE                                                                      \
	"{\"ociVersion\":\"1.0.2\",\"process\":{\"user\":{\"uid\":%d,\"gid\":%d},"        \
	"\"args\":[\"/init\"],\"cwd\":\"/\",\"noNewPrivileges\":true},"                   \
	"\"root\":{\"path\":\"rootfs\",\"readonly\":true},"                               \
	"\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"}]," \
	"\"linux\":{\"cgroupsPath\":\"/%s\",\"namespaces\":[{\"type\":\"pid\"},"          \
	"{\"type\":\"mount\"}],\"resources\":{\"devices\":[{\"allow\":false,"             \
	"\"access\":\"rwm\"}]}}}"
#define PROBE_UID 65534

int child_wait(pid_t pid, unsigned int seconds, int *ret_status)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	int ready = 1;

	if (pidfd >= 0) {
		do {
			ready = poll(&ended, 1, (int)seconds * 1000);
		} while (ready < 0 && errno == EINTR);
	}
	if (ready != 1)
		kill(pid, SIGKILL);
	while (waitpid(pid, ret_status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return ready == 1 ? 0 : -ETIMEDOUT;
}

/* The last line of @text that says something, without its newline. */
static const char *last_line(char *text)
{
	char *line = text;

	for (size_t len = strlen(text); len && text[len - 1] == '\n'; len--)
		text[len - 1] = '\0';
	for (char *p = text; (p = strchr(p, '\n')); p++)
		line = p + 1;
	return line;
}

static void __attribute__((noreturn))
runtime_exec(const char *runtime, const char *const *args, int out_fd, int err_fd)
{
	const char *argv[RUNTIME_ARGS_MAX + 2] = {runtime};
	int null = open("/dev/null", O_RDONLY);
	size_t cnt = 1;

	for (; *args && cnt <= RUNTIME_ARGS_MAX; args++)
		argv[cnt++] = *args;
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out_fd, STDOUT_FILENO) < 0 ||
	    dup2(err_fd, STDERR_FILENO) < 0)
		_exit(127);
	execv(runtime, (char *const *)argv);
	dprintf(STDERR_FILENO, "%s: %m\n", runtime);
	_exit(127);
}

/* A file without a name: unlike a pipe it never blocks the writer. */
static int scratch_open(void)
{
	return (int)syscall(SYS_memfd_create, "output", 1U /* MFD_CLOEXEC */);
}

static int scratch_read(int fd, char **ret_text)
{
	size_t len;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return read_all(fd, OUTPUT_BYTES_MAX, ret_text, &len);
}

int runtime_call(const char *runtime, const char *const *args, char **ret_output,
		 struct qp_error *err)
{
	_cleanup_close_ int out_fd = scratch_open(), err_fd = scratch_open();
	_cleanup_free_ char *complaint = NULL;
	int status, r;
	pid_t pid;

	if (out_fd < 0 || err_fd < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return qp_error_set(err, -errno, "fork: %s", strerror(errno));
	if (!pid)
		runtime_exec(runtime, args, out_fd, err_fd);
	r = child_wait(pid, RUNTIME_SECONDS, &status);
	if (r)
		return qp_error_set(err, r, "%s: %s", runtime, strerror(-r));
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		r = scratch_read(err_fd, &complaint);
		return qp_error_set(err, -EIO, "%s failed: %s", runtime,
				    r ? strerror(-r) : last_line(complaint));
	}
	return ret_output ? scratch_read(out_fd, ret_output) : 0;
}

static bool is_executable(const char *path)
{
	return access(path, X_OK) == 0;
}

/* @name as it is when it has a slash, or else looked for where programs for root are. */
static int runtime_locate(const char *name, char **ret_path)
{
	static const char *const folders[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					      "/usr/bin",	 "/sbin",	   "/bin"};
	char path[PATH_MAX];

	if (strchr(name, '/')) {
		*ret_path = is_executable(name) ? realpath(name, NULL) : NULL;
		return *ret_path ? 0 : -ENOENT;
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		if (is_executable(path)) {
			*ret_path = strdup(path);
			return *ret_path ? 0 : -ENOMEM;
		}
	}
	return -ENOENT;
}

static int probe_bundle(const char *folder, const char *group)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[sizeof(PROBE_BUNDLE) + CONTAINER_SIZE + 16];
	int r;

	if (fd < 0 || mkdirat(fd, "rootfs", 0755) < 0 || fchmod(fd, 0711) < 0)
		return -errno;
	/* crun makes devices in a container that has none of its own. */
	if (mkdirat(fd, "rootfs/dev", 0755) < 0)
		return -errno;
	snprintf(text, sizeof(text), PROBE_BUNDLE, PROBE_UID, PROBE_UID, group);
	r = write_new_file_at(fd, "config.json", 0600, text, strlen(text));
	/* It is looked for, but never run. */
	return r ? r : write_new_file_at(fd, "rootfs/init", 0755, "", 0);
}

/* Creates a container that is never started, and removes it. */
static int trial_run(const char *path, struct qp_error *err)
{
	char task_id[TASK_ID_SIZE], group[CONTAINER_SIZE], folder[64], state[96];
	const char *const args[] = {"--root", state, "create", "--bundle", folder, group, NULL};
	struct cgroups cgroups;
	int r = random_text(ALPHABET_HEX, TASK_ID_SIZE - 1, task_id);

	if (!r)
		r = cgroups_find(&cgroups);
	if (r)
		return qp_error_set(err, r, "no cgroup v2 hierarchy is mounted: %s", strerror(-r));
	snprintf(group, sizeof(group), CONTAINER_PREFIX "probe-%s", task_id);
	snprintf(folder, sizeof(folder), TEMP_PARENT "/" CONTAINER_PREFIX "%s-XXXXXX", task_id);
	if (!mkdtemp(folder))
		return qp_error_set(err, -errno, "%s: %s", folder, strerror(errno));
	snprintf(state, sizeof(state), "%s/" RUNTIME_FOLDER, folder);
	r = probe_bundle(folder, group);
	if (r)
		qp_error_set(err, r, "%s: %s", folder, strerror(-r));
	else
		r = runtime_call(path, args, NULL, err);
	container_remove(&cgroups, group, folder, NULL);
	return r;
}

/* Whether @path can create a container here. In a child of another session, which cleans up
 * whatever becomes of this process: nobody else knows the trial's name. */
static int runtime_try(const char *path, struct qp_error *err)
{
	_cleanup_close_ int result_fd = scratch_open();
	struct qp_error why = {0};
	int status, r;
	pid_t pid;

	if (result_fd < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return qp_error_set(err, -errno, "fork: %s", strerror(errno));
	if (!pid) {
		setsid();
		/* The code travels as the line, which is of no use here. */
		why.line = trial_run(path, &why);
		_exit(write_all(result_fd, &why, sizeof(why)) ? 1 : 0);
	}
	r = child_wait(pid, 2 * RUNTIME_SECONDS, &status);
	if (r)
		return qp_error_set(err, r, "the trial of %s: %s", path, strerror(-r));
	if (pread(result_fd, &why, sizeof(why), 0) != sizeof(why))
		return qp_error_set(err, -EIO, "the trial of %s broke off", path);
	return why.line ? qp_error_set(err, why.line, "%s", why.text) : 0;
}

static int candidate_find(const char *name, char **ret_path, struct qp_error *err)
{
	_cleanup_free_ char *path = NULL;
	int r = runtime_locate(name, &path);

	if (r)
		return qp_error_set(err, r, "%s is not installed", name);
	r = runtime_try(path, err);
	if (!r)
		*ret_path = steal_ptr(path);
	return r;
}

int runtime_find(const char *wanted, char **ret_path, struct qp_error *err)
{
	static const char *const names[] = {"runc", "crun"};
	/* What works does not change while this process runs; trying costs a tenth of a second. */
	static char found[PATH_MAX];
	struct qp_error why[2] = {0};
	int r;

	if (wanted) {
		r = candidate_find(wanted, ret_path, &why[0]);
		return r ? qp_error_set(err, r, "the runtime %s cannot be used: %s", wanted,
					why[0].text)
			 : 0;
	}
	for (size_t i = 0; !found[0] && i < 2; i++) {
		_cleanup_free_ char *path = NULL;

		if (!candidate_find(names[i], &path, &why[i]))
			snprintf(found, sizeof(found), "%s", path);
	}
	if (!found[0])
		return qp_error_set(
			err, -ENOENT,
			"no OCI runtime works here (%.400s; %.400s): apt-get install runc",
			why[0].text, why[1].text);
	*ret_path = strdup(found);
	return *ret_path ? 0 : -ENOMEM;
}
