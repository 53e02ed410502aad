// SPDX-License-Identifier: Apache-2.0
/* Messages on stderr. The level and the program's name are the only globals. */
#include "base/log.h"

#include "base/cleanup.h"
#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum log_level log_max_level = LOG_LEVEL_INFO;

static const char *program_name = "qp";

void log_set_program(const char *program)
{
	program_name = program;
}

void log_print(enum log_level level, const char *fmt, ...)
{
	static const char *const names[] = {"error", "warning", "info", "debug"};
	char text[4096];
	_cleanup_free_ char *escaped = NULL;
	va_list ap;

	if (level > log_max_level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	escaped = escape_bytes(text, strlen(text));
	fprintf(stderr, "%s: %s: %s\n", program_name, names[level], escaped ? escaped : fmt);
}

void log_qp_error(const struct qp_error *err)
{
	char text[QP_ERROR_TEXT_SIZE + 512];

	log_error("%s", qp_error_format(err, text, sizeof(text)));
}
