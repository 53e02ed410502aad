// SPDX-License-Identifier: Apache-2.0
/* The process that makes receipts; it ends when its socket is closed. */
#include "tools/collect/receipts.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "tools/collect/name.h"
#include "tools/derive.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define WAITING_MAX	   4096
#define LOG_ENDING	   ".qplog"
#define RECEIPT_ENDING	   ".receipt.json"
#define READER_PATIENCE_MS 5000 /* with a reader of stdout that takes nothing */

struct maker {
	int fd;
	bool json;
	bool failed;
};

/* At most PIPE_BUF at once: poll() promises that so many do not block. */
static int print_bytes(const char *bytes, size_t len)
{
	while (len) {
		struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
		size_t piece = len < PIPE_BUF ? len : PIPE_BUF;
		int n = poll(&ready, 1, READER_PATIENCE_MS);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ETIMEDOUT;
		n = write_all(STDOUT_FILENO, bytes, piece);
		if (n)
			return n;
		bytes += piece;
		len -= piece;
	}
	return 0;
}

static int print_line(json_t *object)
{
	_cleanup_json_ json_t *owned = object;
	_cleanup_free_ char *text = owned ? json_dumps(owned, JSON_COMPACT) : NULL;
	_cleanup_free_ char *line = NULL;
	int len = text ? asprintf(&line, "%s\n", text) : -1;

	return len < 0 ? -ENOMEM : print_bytes(line, (size_t)len);
}

/* One line for each observation, and one for the verdict. */
static int print_receipt(const struct derivation *derivation, const char *log_path)
{
	json_t *cgroups = json_object_get(derivation->facts.preamble, "cgroups");
	json_t *group = json_object_get(json_array_get(cgroups, 0), "path");
	json_t *receipt = derivation->receipt, *observation;
	const char *name = strrchr(log_path, '/');
	size_t i;

	name = name ? name + 1 : log_path;
	json_array_foreach (json_object_get(receipt, "observations"), i, observation) {
		int r = print_line(json_pack("{s:O?, s:s, s:O}", "group", group, "log", name,
					     "observation", observation));
		if (r)
			return r;
	}
	return print_line(json_pack("{s:O?, s:s, s:O?, s:O?}", "group", group, "log", name,
				    "verdict", json_object_get(receipt, "verdict"), "completeness",
				    json_object_get(receipt, "completeness")));
}

static int make_receipt(struct maker *maker, const char *log_path, struct qp_error *err)
{
	__attribute__((cleanup(derivation_clear))) struct derivation derivation = {0};
	_cleanup_free_ char *text = NULL, *path = NULL;
	size_t len, stem = strlen(log_path) - strlen(LOG_ENDING);
	int r = derive(log_path, NULL, &derivation, err);

	if (!r)
		r = derive_receipt_text(derivation.receipt, &text, &len, err);
	if (r)
		return r;
	if (asprintf(&path, "%.*s" RECEIPT_ENDING, (int)stem, log_path) < 0)
		return -ENOMEM;
	r = write_new_file_at(AT_FDCWD, path, 0600, text, len);
	if (r)
		return qp_error_set(err, r, "cannot write %s: %s", path, strerror(-r));
	if (!maker->json)
		return 0;
	r = print_receipt(&derivation, log_path);
	if (!r)
		return 0;
	maker->json = false;
	return qp_error_set(err, r,
			    "the reader of stdout is gone or takes nothing (%s): no more "
			    "observations are printed, receipts go on",
			    strerror(-r));
}

static int maker_run(struct maker *maker)
{
	char path[PATH_MAX];
	ssize_t len;

	while ((len = recv(maker->fd, path, sizeof(path) - 1, 0)) != 0) {
		struct qp_error err = {0};
		int r;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return 1;
		path[len] = '\0';
		r = make_receipt(maker, path, &err);
		if (r) {
			qp_error_set(&err, r, "%s: no receipt: %s", path, strerror(-r));
			log_qp_error(&err);
			maker->failed = true;
		}
		malloc_trim(0);
	}
	return maker->failed;
}

int receipts_start(struct receipts *receipts, bool json, struct qp_error *err)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return qp_error_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	receipts->pid = fork();
	if (receipts->pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return qp_error_set(err, -errno, "cannot start a process: %s", strerror(errno));
	}
	if (receipts->pid == 0) {
		struct maker maker = {.fd = fds[0], .json = json};

		close(fds[1]);
		_exit(maker_run(&maker));
	}
	close(fds[0]);
	receipts->fd = fds[1];
	return 0;
}

/* 0 when the process took it. */
static int hand_over(struct receipts *receipts, const char *path, int flags)
{
	ssize_t n;

	do
		n = send(receipts->fd, path, strlen(path), flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int push(struct receipts *receipts, int flags)
{
	size_t done = 0;
	int r = 0;

	while (done < receipts->waiting_cnt) {
		r = hand_over(receipts, receipts->waiting[done], flags);
		if (r)
			break;
		free(receipts->waiting[done++]);
	}
	receipts->waiting_cnt -= done;
	if (done)
		memmove(receipts->waiting, receipts->waiting + done,
			receipts->waiting_cnt * sizeof(char *));
	return r;
}

void receipts_push(struct receipts *receipts)
{
	push(receipts, MSG_DONTWAIT);
}

void receipts_ask(struct receipts *receipts, const char *path)
{
	char *copy = NULL;

	if (!receipts->waiting)
		receipts->waiting = calloc(WAITING_MAX, sizeof(char *));
	if (receipts->waiting && receipts->waiting_cnt < WAITING_MAX)
		copy = strdup(path);
	if (!copy) {
		receipts->refused++;
		log_error("%s: no receipt is made, for too many wait already: qp replay makes it",
			  path);
		return;
	}
	receipts->waiting[receipts->waiting_cnt++] = copy;
	receipts_push(receipts);
}

int receipts_finish(struct receipts *receipts)
{
	int status = 0, r;

	if (receipts->fd < 0)
		return 0;
	r = push(receipts, 0);
	close(steal_fd(&receipts->fd));
	while (receipts->waiting_cnt)
		free(receipts->waiting[--receipts->waiting_cnt]);
	free(steal_ptr(receipts->waiting));
	while (waitpid(receipts->pid, &status, 0) < 0 && errno == EINTR)
		;
	return r || status || receipts->refused ? -EIO : 0;
}
