// SPDX-License-Identifier: Apache-2.0
/* One phase: heartbeats, its process, and what that process writes to its descriptor 3. */
#include "tools/init/init.h"

#include "base/cleanup.h"
#include "bpf/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PHASE_COPY 1
#define PHASE_SCAN 2 /* qp reads from outside what it reports */
#define PHASE_DONE 5
#define COPY_FROM  "/in"
#define COPY_TO	   "/work"

/* Exit statuses of a command that could not be run, as shells have them. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND	127

static const struct {
	const char *name;
	unsigned int number;
} phases[] = {
	{"copy", PHASE_COPY}, {"scan", PHASE_SCAN}, {"rebuild", 3},
	{"harness", 4},	      {"done", PHASE_DONE}, {"run", 6},
};

static unsigned int phase_number(const char *name)
{
	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		if (!strcmp(phases[i].name, name))
			return phases[i].number;
	}
	return 0;
}

static void heartbeat(const struct init *init, unsigned long edge)
{
	/* The call fails; that it was made is what the kernel side looks for. */
	syscall(SYS_prctl, (unsigned long)QP_HEARTBEAT, (unsigned long)init->nonce_high,
		(unsigned long)init->nonce_low, (unsigned long)init->phase.number, edge);
}

/* In the child: becomes the phase's program. */
static void __attribute__((noreturn)) phase_exec(int data_fd, const char *cwd, char *const *argv)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	/* The control channel is open as that descriptor, so that ours has another number and
	 * dup2 clears close-on-exec. */
	if (dup2(data_fd, DATA_FD) < 0 || syscall(SYS_close_range, DATA_FD + 1, ~0U, 0) < 0) {
		dprintf(STDERR_FILENO, "descriptors of %s: %m\n", argv[0]);
		_exit(EXIT_CANNOT_RUN);
	}
	if (chdir(cwd) < 0) {
		dprintf(STDERR_FILENO, "%s: %m\n", cwd);
		_exit(EXIT_CANNOT_RUN);
	}
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %m\n", argv[0]);
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

static int phase_spawn(struct init *init, const char *cwd, char *const *argv)
{
	_cleanup_close_ int theirs = -1;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	theirs = fds[1];
	init->phase.data_fd = fds[0];
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		phase_exec(theirs, cwd, argv);
	init->phase.pid = pid;
	return channel_send_number("pid", init->phase.name, (uint64_t)pid);
}

int phase_begin(struct init *init, const struct message *message)
{
	const char *name = message->words_cnt >= 2 ? message->words[1] : "";
	const char *begin[] = {"begin", name, NULL};
	unsigned int number = phase_number(name);
	bool ours = number == PHASE_COPY || number == PHASE_SCAN || number == PHASE_DONE;
	int r;

	if (!number || !init->has_nonce || init->finishing ||
	    (ours ? message->words_cnt != 2 : message->words_cnt < 4))
		return -EBADMSG;
	init->phase = (struct phase){.number = number, .data_fd = -1};
	snprintf(init->phase.name, sizeof(init->phase.name), "%s", name);
	dprintf(STDOUT_FILENO, "QP-PHASE %s\n", name);
	heartbeat(init, 0);
	r = channel_send(begin, NULL, 0);
	if (r)
		return r;
	if (ours)
		return phase_end(init, number == PHASE_COPY ? copy_tree(COPY_FROM, COPY_TO) : 0);
	r = phase_spawn(init, message->words[2], message->words + 3);
	if (r && r != -EPIPE && !init->phase.pid) {
		dprintf(STDERR_FILENO, "%s: %s\n", message->words[3], strerror(-r));
		return phase_end(init, EXIT_CANNOT_RUN);
	}
	return r;
}

int phase_relay(struct init *init)
{
	static char data[DATA_BYTES_MAX];
	const char *words[] = {"data", init->phase.name, NULL};
	ssize_t n = read(init->phase.data_fd, data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		close(steal_fd(&init->phase.data_fd));
		return 0;
	}
	return channel_send(words, data, (size_t)n);
}

int phase_end(struct init *init, int rc)
{
	int left = 0, r;

	/* Only what is there now: a process left behind may keep writing for ever. */
	if (init->phase.data_fd >= 0 && ioctl(init->phase.data_fd, FIONREAD, &left) < 0)
		left = 0;
	for (; left > 0 && init->phase.data_fd >= 0; left -= DATA_BYTES_MAX) {
		r = phase_relay(init);
		if (r)
			return r;
	}
	if (init->phase.data_fd >= 0)
		close(steal_fd(&init->phase.data_fd));
	init->phase.pid = 0;
	heartbeat(init, 1);
	dprintf(STDOUT_FILENO, "QP-RC %s %d\n", init->phase.name, rc);
	return channel_send_number("end", init->phase.name, (uint64_t)rc);
}
