// SPDX-License-Identifier: Apache-2.0
/* One loop over the container's end, its output, the caller's wish to stop, and a clock. */
#include "tools/download/watch.h"

#include "base/clock.h"
#include "tools/download/download.h"
#include "tools/download/tree.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_SECOND	 1000000000ULL
#define NS_PER_MS	 1000000ULL
#define MEASURE_EVERY_NS (200 * NS_PER_MS)
/* Looking at the disk takes at most this part of the time, however many files there are. */
#define MEASURE_SHARE 20

enum { WAIT_END, WAIT_OUTPUT, WAIT_CANCEL, WAIT_CNT };

/* Reads what there is; false at the end of it. */
static bool output_take(struct fetch_watch *watch)
{
	char piece[16384];
	int fd = sandbox_output_fd(watch->sandbox);

	for (;;) {
		ssize_t n = read(fd, piece, sizeof(piece));
		size_t room = FETCH_OUTPUT_MAX - watch->output_len, keep;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		keep = (size_t)n < room ? (size_t)n : room;
		memcpy(watch->output + watch->output_len, piece, keep);
		watch->output_len += keep;
	}
}

uint64_t download_bytes(const struct limits *limits)
{
	return 2 * limits->download_max_bytes + FETCH_METADATA_MAX;
}

/* npm writes what it fetched twice: packed into its cache, unpacked into the project. */
static int disk_check(const struct fetch_watch *watch, struct qp_error *err)
{
	uint64_t all_bytes, private_bytes, max = watch->limits->download_max_bytes;
	int r = tree_measure(watch->out_fd, ".", 0, &all_bytes);

	if (!r)
		r = tree_measure(watch->out_fd, watch->private, 0, &private_bytes);
	if (r == -E2BIG)
		return qp_error_set(err, -EFBIG, "the download has too many or too deep files");
	if (r)
		return qp_error_set(err, r, "cannot measure the download: %s", strerror(-r));
	if (private_bytes > max + FETCH_METADATA_MAX || all_bytes > private_bytes + max)
		return qp_error_set(err, -EFBIG,
				    "the download is bigger than %llu bytes: raise "
				    "--download-bytes to judge it",
				    (unsigned long long)max);
	return 0;
}

static int wait_step(struct fetch_watch *watch, uint64_t now_ns, uint64_t until_ns,
		     bool *output_open, bool *ret_ended, struct qp_error *err)
{
	struct pollfd fds[WAIT_CNT] = {
		[WAIT_END] = {.fd = sandbox_init_pidfd(watch->sandbox), .events = POLLIN},
		[WAIT_OUTPUT] = {.fd = *output_open ? sandbox_output_fd(watch->sandbox) : -1,
				 .events = POLLIN},
		[WAIT_CANCEL] = {.fd = watch->cancel_fd, .events = POLLIN},
	};
	int wait_ms = until_ns > now_ns ? (int)((until_ns - now_ns) / NS_PER_MS) + 1 : 0;

	if (poll(fds, WAIT_CNT, wait_ms) < 0 && errno != EINTR)
		return qp_error_set(err, -errno, "poll: %s", strerror(errno));
	if (fds[WAIT_OUTPUT].revents)
		*output_open = output_take(watch);
	*ret_ended = fds[WAIT_END].revents != 0;
	if (fds[WAIT_CANCEL].revents)
		return qp_error_set(err, -ECANCELED, "the download was stopped");
	return 0;
}

static int wait_end(struct fetch_watch *watch, uint64_t begun_ns, struct qp_error *err)
{
	uint64_t end_ns = begun_ns + watch->limits->download_seconds * NS_PER_SECOND;
	uint64_t measure_ns = begun_ns + MEASURE_EVERY_NS, now_ns = begun_ns, after_ns;
	bool output_open = true, ended = false;
	int r = 0;

	while (!r && !ended) {
		r = wait_step(watch, now_ns, measure_ns < end_ns ? measure_ns : end_ns,
			      &output_open, &ended, err);
		now_ns = clock_boot_ns();
		if (r || ended)
			break;
		if (now_ns >= end_ns)
			return qp_error_set(err, -ETIMEDOUT,
					    "the download took longer than %llu s: raise "
					    "--download-seconds, or try again",
					    (unsigned long long)watch->limits->download_seconds);
		if (now_ns < measure_ns)
			continue;
		r = disk_check(watch, err);
		after_ns = clock_boot_ns();
		measure_ns = after_ns + MEASURE_EVERY_NS + (after_ns - now_ns) * MEASURE_SHARE;
	}
	if (!r && output_open)
		output_take(watch);
	return r ? r : disk_check(watch, err);
}

int fetch_watch_run(struct fetch_watch *watch, struct qp_error *err)
{
	uint64_t begun_ns = clock_boot_ns();
	int r = sandbox_start(watch->sandbox, err);

	if (!r)
		r = wait_end(watch, begun_ns, err);
	if (r)
		sandbox_kill(watch->sandbox);
	watch->elapsed_ns = clock_boot_ns() - begun_ns;
	watch->output[watch->output_len] = '\0';
	return r;
}
