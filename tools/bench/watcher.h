/* SPDX-License-Identifier: Apache-2.0 */
/* A collector in a process of its own, as qp-collect is, that says what it cost. */
#ifndef QP_TOOLS_BENCH_WATCHER_H
#define QP_TOOLS_BENCH_WATCHER_H

#include "base/error.h"

#include <stdint.h>

struct watcher;

struct watcher_report {
	char failed;	    /* always 'f': tells a report from the word that all is ready */
	uint64_t load_ns;   /* load and attach */
	uint64_t track_ns;  /* of one group */
	uint64_t detach_ns; /* detach and unload */
	uint64_t produced, delivered, lost;
	/* Memory with the log open, after the last drain: resident, which counts the ring, mapped
	 * twice, two times; and proportional, which counts it once. */
	uint64_t rss_bytes, pss_bytes;
	int error; /* 0 or -errno; then @why says more */
	struct qp_error why;
};

/* Returns once the group @group_fd is being recorded into a new log at @log_path. */
int watcher_start(int group_fd, const char *log_path, struct watcher **ret_watcher,
		  struct qp_error *err);

/* Drains, ends the log and detaches. Frees the watcher whatever is returned. */
int watcher_stop_take(struct watcher *watcher, struct watcher_report *ret_report,
		      struct qp_error *err);

#endif
