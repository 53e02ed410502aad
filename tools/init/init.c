// SPDX-License-Identifier: Apache-2.0
/* The loop of PID 1: control messages, ended children, a phase's data, the deadline. */
#include "tools/init/init.h"

#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NONCE_DIGITS 24
#define EXIT_BROKEN  70 /* the protocol was broken or the channel ended early */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int nonce_set(struct init *init, const struct message *message)
{
	static const char *const ready[] = {"ready", NULL};
	char half[NONCE_DIGITS / 2 + 1];

	if (init->has_nonce || message->words_cnt != 2 || strlen(message->words[1]) != NONCE_DIGITS)
		return -EBADMSG;
	for (const char *p = message->words[1]; *p; p++) {
		if (!isdigit((unsigned char)*p) && (*p < 'a' || *p > 'f'))
			return -EBADMSG;
	}
	memcpy(half, message->words[1], NONCE_DIGITS / 2);
	half[NONCE_DIGITS / 2] = '\0';
	init->nonce_high = strtoull(half, NULL, 16);
	init->nonce_low = strtoull(message->words[1] + NONCE_DIGITS / 2, NULL, 16);
	init->has_nonce = true;
	return channel_send(ready, NULL, 0);
}

static int message_handle(struct init *init)
{
	const struct message *message = &init->message;
	const char *keyword = message->words[0];
	uint64_t seconds;

	if (!strcmp(keyword, "nonce"))
		return nonce_set(init, message);
	if (!strcmp(keyword, "phase"))
		return phase_begin(init, message);
	if (!strcmp(keyword, "finish") && message->words_cnt == 2 &&
	    !number_parse(message->words[1], 0, FINISH_SECONDS_MAX, &seconds)) {
		init->finishing = true;
		init->finish_ms = now_ms() + (int64_t)seconds * 1000;
		return 0;
	}
	return -EBADMSG;
}

/* One more message, if the channel has one. 0, or -errno: -EPIPE once qp is gone. */
static int control_handle(struct init *init)
{
	int r = channel_receive(&init->message);

	if (r <= 0)
		return r ? r : -EPIPE;
	return message_handle(init);
}

static int signals_handle(struct init *init)
{
	struct signalfd_siginfo info[8];
	int status = 0;

	while (read(init->signal_fd, info, sizeof(info)) > 0)
		;
	if (!children_reap(init->phase.pid, &status) || !init->phase.pid)
		return 0;
	return phase_end(init, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/*
 * While a phase runs, or once finish was said, messages stay in the socket: only its end is
 * looked for, which POLLHUP tells without being asked.
 */
static int events_wait(struct init *init)
{
	bool listening = !init->phase.pid && !init->finishing;
	struct pollfd fds[] = {
		{.fd = CONTROL_FD, .events = listening ? POLLIN : 0},
		{.fd = init->signal_fd, .events = POLLIN},
		{.fd = init->phase.pid ? init->phase.data_fd : -1, .events = POLLIN},
	};
	int64_t left_ms = init->finishing ? init->finish_ms - now_ms() : -1;
	int r = 0;

	if (init->finishing && left_ms < 0)
		left_ms = 0;
	if (poll(fds, sizeof(fds) / sizeof(*fds), (int)left_ms) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[2].revents)
		r = phase_relay(init);
	if (!r && fds[1].revents)
		r = signals_handle(init);
	if (!r && (fds[0].revents & POLLIN))
		r = control_handle(init);
	else if (!r && (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)))
		r = -EPIPE;
	return r;
}

static int init_setup(struct init *init)
{
	sigset_t child;

	/* As any other process, killing all others would be killing the host's. */
	if (getpid() != 1)
		return -EPERM;
	/* The package has the same uid: no ptrace, no /proc/1/fd, no pidfd_getfd. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	/* Blocked signals would reach PID 1 from inside the namespace, others cannot, so that
	 * only the one that is needed is. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &child, NULL) < 0)
		return -errno;
	init->signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return init->signal_fd < 0 ? -errno : 0;
}

int main(void)
{
	static struct init init = {.phase.data_fd = -1};
	int r = init_setup(&init);

	while (!r && !(init.finishing && (!children_left() || now_ms() >= init.finish_ms)))
		r = events_wait(&init);
	if (r) {
		if (getpid() != 1)
			return EXIT_BROKEN;
		if (r != -EPIPE)
			dprintf(STDERR_FILENO, "init: %s\n", strerror(-r));
		stragglers_kill();
		return EXIT_BROKEN;
	}
	r = channel_send_number("stragglers", NULL, stragglers_kill());
	return r ? EXIT_BROKEN : 0;
}
