/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on stderr: one line per phase, on a terminal rewritten while it is under way. */
#ifndef QP_TOOLS_PROGRESS_H
#define QP_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool quiet;
	bool tty;
	uint64_t begun_ns;
	const char *phase;
};

void progress_init(struct progress *progress, bool quiet);

/* @phase is not copied and must live until it ends. */
void progress_begin(struct progress *progress, const char *phase);

/* Ends the phase with a few words of what came of it ("" for none). */
void progress_end(struct progress *progress, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
