// SPDX-License-Identifier: Apache-2.0
/* Starting, reading and ending qp-sinkhole. */
#include "tools/task/sinkhole_process.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/derive.h"
#include "tools/self.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LINE_BYTES_MAX (1U << 20)
#define START_MS       60000 /* a busy host is slow, not broken */
#define STOP_MS	       5000
/* Descriptors of the namespace and of the decoys in the child. */
#define NETNS_FD  3
#define DECOYS_FD 4
/* What a new pipe holds (pipe(7)): written whole before anyone reads. */
#define DECOYS_BYTES_MAX 65536

struct sinkhole {
	pid_t pid;
	int pidfd;
	int fd;
	char *line;
	size_t len;
	bool ready, flushed, ended;
	uint64_t records;	/* lines read, `ready` included, `end` not */
	int64_t records_stated; /* by `end` */
};

int sinkhole_fd(const struct sinkhole *sinkhole)
{
	return sinkhole->fd;
}

pid_t sinkhole_pid(const struct sinkhole *sinkhole)
{
	return sinkhole->pid;
}

/* Only what is safe between fork and exec. */
static void child_exec(const char *program, int netns_fd, int out_fd, int decoys_fd,
		       const struct persona *persona)
{
	char address4[32], address6[64];
	sigset_t none;
	char *const argv[] = {(char *)program,
			      "--netns-fd",
			      "3",
			      "--address",
			      address4,
			      "--gateway",
			      (char *)persona->gateway4,
			      "--address6",
			      address6,
			      "--gateway6",
			      (char *)persona->gateway6,
			      decoys_fd < 0 ? NULL : "--decoys-fd",
			      "4",
			      NULL};
	int moved;

	snprintf(address4, sizeof(address4), "%s/24", persona->address4);
	snprintf(address6, sizeof(address6), "%s/64", persona->address6);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A group of its own: the terminal's ^C is qp's to act on. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* Out of the way of the numbers that they are to have. */
	netns_fd = fcntl(netns_fd, F_DUPFD_CLOEXEC, DECOYS_FD + 1);
	moved = decoys_fd < 0 ? -1 : fcntl(decoys_fd, F_DUPFD_CLOEXEC, DECOYS_FD + 1);
	if (dup2(out_fd, STDOUT_FILENO) < 0 || dup2(netns_fd, NETNS_FD) < 0 ||
	    (decoys_fd >= 0 && dup2(moved, DECOYS_FD) < 0))
		_exit(126);
	execv(program, argv);
	_exit(127);
}

/* The read end of a pipe that holds the decoys; -1 when there are none. */
static int decoys_pipe(const json_t *decoys, int *ret_fd, struct qp_error *err)
{
	_cleanup_free_ char *text = decoys ? json_dumps(decoys, JSON_COMPACT) : NULL;
	_cleanup_close_ int read_fd = -1, write_fd = -1;
	int fds[2], r;

	*ret_fd = -1;
	if (!decoys)
		return 0;
	if (!text || strlen(text) > DECOYS_BYTES_MAX)
		return qp_error_set(err, text ? -EMSGSIZE : -ENOMEM, "decoys: %s",
				    text ? "too many" : "out of memory");
	if (pipe2(fds, O_CLOEXEC))
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	read_fd = fds[0];
	write_fd = fds[1];
	r = write_all(write_fd, text, strlen(text));
	explicit_bzero(text, strlen(text));
	if (r)
		return qp_error_set(err, r, "pipe: %s", strerror(-r));
	*ret_fd = steal_fd(&read_fd);
	return 0;
}

static int spawn(struct sinkhole *sinkhole, const char *program, int netns_fd,
		 const struct persona *persona, const json_t *decoys, struct qp_error *err)
{
	_cleanup_close_ int write_fd = -1, decoys_fd = -1;
	int fds[2], r = decoys_pipe(decoys, &decoys_fd, err);

	if (r)
		return r;
	if (pipe2(fds, O_CLOEXEC))
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	sinkhole->fd = fds[0];
	write_fd = fds[1];
	/* Larger than the default, so that a busy qp does not slow the answers down. */
	fcntl(write_fd, F_SETPIPE_SZ, 1 << 20);
	sinkhole->pid = fork();
	if (sinkhole->pid < 0)
		return qp_error_set(err, -errno, "fork: %s", strerror(errno));
	if (!sinkhole->pid)
		child_exec(program, netns_fd, write_fd, decoys_fd, persona);
	sinkhole->pidfd = (int)syscall(SYS_pidfd_open, sinkhole->pid, 0);
	fcntl(sinkhole->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static int record_take(struct sinkhole *sinkhole, const char *text, size_t len,
		       struct log_writer *log)
{
	_cleanup_json_ json_t *record = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(record, "type"));

	if (!type)
		return -EBADMSG;
	if (!strcmp(type, "end")) {
		sinkhole->ended = true;
		sinkhole->flushed = json_is_true(json_object_get(record, "flushed"));
		sinkhole->records_stated = json_integer_value(json_object_get(record, "records"));
		return 0;
	}
	sinkhole->records++;
	if (!strcmp(type, "ready")) {
		sinkhole->ready = true;
		return 0;
	}
	return log ? log_writer_append_json(log, LOG_RECORD_SINKHOLE, record) : -EBADMSG;
}

/* Takes the whole lines of the buffer. */
static int lines_take(struct sinkhole *sinkhole, struct log_writer *log)
{
	char *start = sinkhole->line, *newline;
	size_t left = sinkhole->len;
	int r = 0;

	while (!r && (newline = memchr(start, '\n', left))) {
		size_t len = (size_t)(newline - start);

		r = record_take(sinkhole, start, len, log);
		start = newline + 1;
		left -= len + 1;
	}
	memmove(sinkhole->line, start, left);
	sinkhole->len = left;
	return r;
}

int sinkhole_drain(struct sinkhole *sinkhole, struct log_writer *log)
{
	for (;;) {
		ssize_t n;
		int r;

		if (sinkhole->len == LINE_BYTES_MAX)
			return -EBADMSG;
		n = read(sinkhole->fd, sinkhole->line + sinkhole->len,
			 LINE_BYTES_MAX - sinkhole->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (!n)
			return sinkhole->len ? -EBADMSG : 1;
		sinkhole->len += (size_t)n;
		r = lines_take(sinkhole, log);
		if (r)
			return r;
	}
}

/* Drains until @done says so, the stream ends or the time is over. */
static int drain_until(struct sinkhole *sinkhole, struct log_writer *log, const bool *done,
		       int timeout_ms)
{
	struct pollfd poll_fd = {.fd = sinkhole->fd, .events = POLLIN};

	while (!*done) {
		int r = poll(&poll_fd, 1, timeout_ms);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -ETIMEDOUT;
		r = sinkhole_drain(sinkhole, log);
		if (r)
			return r;
	}
	return 0;
}

static int start_failure(struct sinkhole *sinkhole, int r, struct qp_error *err)
{
	int status = 0;

	if (r == 1 && waitpid(sinkhole->pid, &status, 0) == sinkhole->pid)
		sinkhole->pid = -1;
	if (r == 1 && WIFEXITED(status))
		return qp_error_set(err, -EIO,
				    "qp-sinkhole ended with status %d before it was ready: its own "
				    "message says why",
				    WEXITSTATUS(status));
	return qp_error_set(err, r < 0 ? r : -EIO, "qp-sinkhole was not ready: %s",
			    r < 0 ? strerror(-r) : "it ended");
}

int sinkhole_start(const char *program, int netns_fd, const struct persona *persona,
		   const json_t *decoys, struct sinkhole **ret_sinkhole, struct qp_error *err)
{
	_cleanup_free_ char *found = NULL;
	struct sinkhole *sinkhole;
	int r;

	if (!program) {
		r = self_file("qp-sinkhole", &found, err);
		if (r)
			return r;
		program = found;
	}
	sinkhole = calloc(1, sizeof(*sinkhole));
	if (!sinkhole)
		return -ENOMEM;
	sinkhole->pid = -1;
	sinkhole->pidfd = sinkhole->fd = -1;
	sinkhole->line = malloc(LINE_BYTES_MAX);
	r = sinkhole->line ? spawn(sinkhole, program, netns_fd, persona, decoys, err) : -ENOMEM;
	if (!r) {
		r = drain_until(sinkhole, NULL, &sinkhole->ready, START_MS);
		if (r)
			r = start_failure(sinkhole, r, err);
	}
	if (r) {
		sinkhole_free(sinkhole);
		return r;
	}
	*ret_sinkhole = sinkhole;
	return 0;
}

int sinkhole_stop(struct sinkhole *sinkhole, struct log_writer *log)
{
	bool never = false;
	int r;

	if (sinkhole->pid > 0)
		kill(sinkhole->pid, SIGTERM);
	r = drain_until(sinkhole, log, &never, STOP_MS);
	return r == 1 ? 0 : r;
}

json_t *sinkhole_end(const struct sinkhole *sinkhole)
{
	bool whole = sinkhole->ended && sinkhole->flushed &&
		     sinkhole->records_stated == (int64_t)sinkhole->records;

	/* `ready` is a line of the stream but no record of an attempt. */
	return json_pack("{s:b, s:b, s:I}", "ready", sinkhole->ready, "flushed", whole, "records",
			 (json_int_t)(sinkhole->records - sinkhole->ready));
}

void sinkhole_free(struct sinkhole *sinkhole)
{
	if (!sinkhole)
		return;
	if (sinkhole->pid > 0) {
		kill(sinkhole->pid, SIGKILL);
		waitpid(sinkhole->pid, NULL, 0);
	}
	if (sinkhole->pidfd >= 0)
		close(sinkhole->pidfd);
	if (sinkhole->fd >= 0)
		close(sinkhole->fd);
	free(sinkhole->line);
	free(sinkhole);
}
