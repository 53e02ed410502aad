// SPDX-License-Identifier: Apache-2.0
/* The error object. Owns nothing but text; printing is the caller's. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static void __attribute__((format(printf, 5, 0)))
fill(struct qp_error *err, const char *file, int line, int column, const char *fmt, va_list ap)
{
	if (!err || err->text[0])
		return;
	snprintf(err->file, sizeof(err->file), "%s", file);
	err->line = line;
	err->column = column;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int qp_error_set(struct qp_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, "", 0, 0, fmt, ap);
	va_end(ap);
	return code;
}

int qp_error_at(struct qp_error *err, int code, const char *file, int line, int column,
		const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, file, line, column, fmt, ap);
	va_end(ap);
	return code;
}

const char *qp_error_format(const struct qp_error *err, char *buf, unsigned long size)
{
	const char *text = err->text[0] ? err->text : "unknown error";

	if (!err->file[0])
		snprintf(buf, size, "%s", text);
	else if (!err->line)
		snprintf(buf, size, "%s: %s", err->file, text);
	else if (!err->column)
		snprintf(buf, size, "%s:%d: %s", err->file, err->line, text);
	else
		snprintf(buf, size, "%s:%d:%d: %s", err->file, err->line, err->column, text);
	return buf;
}
