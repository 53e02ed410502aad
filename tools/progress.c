// SPDX-License-Identifier: Apache-2.0
/* Progress lines. */
#include "tools/progress.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"

#include <stdarg.h>
#include <string.h>

void progress_init(struct progress *progress, bool quiet)
{
	*progress = (struct progress){.quiet = quiet, .tty = isatty(STDERR_FILENO)};
}

void progress_begin(struct progress *progress, const char *phase)
{
	progress->phase = phase;
	progress->begun_ns = clock_boot_ns();
	if (!progress->quiet && progress->tty)
		fprintf(stderr, "  %-10s ...", phase);
}

void progress_end(struct progress *progress, const char *fmt, ...)
{
	double seconds = (double)(clock_boot_ns() - progress->begun_ns) / 1e9;
	_cleanup_free_ char *escaped = NULL;
	char text[256];
	va_list ap;

	if (progress->quiet || !progress->phase)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	escaped = escape_bytes(text, strlen(text));
	fprintf(stderr, "%s  %-10s %6.2f s  %s\n", progress->tty ? "\r" : "", progress->phase,
		seconds, escaped ? escaped : "");
	progress->phase = NULL;
}
