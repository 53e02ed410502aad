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
/* What a new pipe holds (pipe(7)): written whole before anyone reads. */
#define PIPE_BYTES_MAX 65536

/* Descriptors of the child, from HANDED_FD_FIRST on, and their numbers as arguments. */
enum handed { HANDED_NETNS, HANDED_DECOYS, HANDED_CA, HANDED_CNT };
#define HANDED_FD_FIRST	 3
#define HANDED_FD_NETNS	 "3"
#define HANDED_FD_DECOYS "4"
#define HANDED_FD_CA	 "5"
#define ARGUMENTS_FIXED	 11
#define ARGUMENTS_MAX	 20

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

/* What the child gets as the descriptors of enum handed; -1: none of that kind. */
struct handed_fds {
	int fd[HANDED_CNT];
};

static void handed_close(struct handed_fds *handed)
{
	for (int i = 0; i < HANDED_CNT; i++)
		cleanup_close(&handed->fd[i]);
}

/* Only what is safe between fork and exec. */
static void child_exec(const char *program, char *const *argv, int out_fd,
		       const struct handed_fds *handed)
{
	int moved[HANDED_CNT];
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A group of its own: the terminal's ^C is qp's to act on. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* Out of the way of the numbers that they are to have. */
	for (int i = 0; i < HANDED_CNT; i++)
		moved[i] = handed->fd[i] < 0 ? -1
					     : fcntl(handed->fd[i], F_DUPFD_CLOEXEC,
						     HANDED_FD_FIRST + HANDED_CNT);
	if (dup2(out_fd, STDOUT_FILENO) < 0)
		_exit(126);
	for (int i = 0; i < HANDED_CNT; i++)
		if (handed->fd[i] >= 0 && dup2(moved[i], HANDED_FD_FIRST + i) < 0)
			_exit(126);
	execv(program, argv);
	_exit(127);
}

/* The read end of a pipe that holds @text, which is wiped and freed; -1 for no text. */
static int secret_pipe_take(char *text, const char *what, int *ret_fd, struct qp_error *err)
{
	_cleanup_free_ char *held = text;
	_cleanup_close_ int read_fd = -1, write_fd = -1;
	int fds[2], r;

	if (strlen(held) > PIPE_BYTES_MAX)
		return qp_error_set(err, -EMSGSIZE, "%s: too many", what);
	if (pipe2(fds, O_CLOEXEC))
		return qp_error_set(err, -errno, "pipe: %s", strerror(errno));
	read_fd = fds[0];
	write_fd = fds[1];
	r = write_all(write_fd, held, strlen(held));
	explicit_bzero(held, strlen(held));
	if (r)
		return qp_error_set(err, r, "pipe: %s", strerror(-r));
	*ret_fd = steal_fd(&read_fd);
	return 0;
}

static int handed_open(const struct sinkhole_config *config, struct handed_fds *handed,
		       struct qp_error *err)
{
	char *decoys = config->decoys ? json_dumps(config->decoys, JSON_COMPACT) : NULL;
	char *key = config->authority ? authority_key_pem(config->authority) : NULL;
	int r = 0;

	if ((config->decoys && !decoys) || (config->authority && !key))
		r = qp_error_set(err, -ENOMEM, "out of memory");
	handed->fd[HANDED_NETNS] = fcntl(config->netns_fd, F_DUPFD_CLOEXEC, 0);
	if (!r && handed->fd[HANDED_NETNS] < 0)
		r = qp_error_set(err, -errno, "network namespace: %s", strerror(errno));
	if (!r && decoys)
		r = secret_pipe_take(steal_ptr(decoys), "decoys", &handed->fd[HANDED_DECOYS], err);
	if (!r && key)
		r = secret_pipe_take(steal_ptr(key), "authority", &handed->fd[HANDED_CA], err);
	free(decoys);
	free(key);
	return r;
}

static int spawn(struct sinkhole *sinkhole, const char *program,
		 const struct sinkhole_config *config, struct qp_error *err)
{
	__attribute__((cleanup(handed_close))) struct handed_fds handed = {{-1, -1, -1}};
	const struct persona *persona = config->persona;
	char address4[32], address6[64];
	const char *argv[ARGUMENTS_MAX] = {program,  "--netns-fd", HANDED_FD_NETNS,   "--address",
					   address4, "--gateway",  persona->gateway4, "--address6",
					   address6, "--gateway6", persona->gateway6};
	_cleanup_close_ int write_fd = -1;
	int fds[2], r = handed_open(config, &handed, err);
	size_t cnt = ARGUMENTS_FIXED;

	if (r)
		return r;
	snprintf(address4, sizeof(address4), "%s/24", persona->address4);
	snprintf(address6, sizeof(address6), "%s/64", persona->address6);
	if (config->decoys) {
		argv[cnt++] = "--decoys-fd";
		argv[cnt++] = HANDED_FD_DECOYS;
	}
	if (config->authority) {
		argv[cnt++] = "--tls=intercept";
		argv[cnt++] = "--ca-fd";
		argv[cnt++] = HANDED_FD_CA;
	}
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
		child_exec(program, (char *const *)argv, write_fd, &handed);
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

int sinkhole_start(const struct sinkhole_config *config, struct sinkhole **ret_sinkhole,
		   struct qp_error *err)
{
	const char *program = config->program;
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
	r = sinkhole->line ? spawn(sinkhole, program, config, err) : -ENOMEM;
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
