/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error that a fallible function hands its caller: what was wrong, where, and what
 * to do. Modules fill it and return a negative errno; only main functions print it.
 */
#ifndef QP_BASE_ERROR_H
#define QP_BASE_ERROR_H

#define QP_ERROR_TEXT_SIZE 1024

struct qp_error {
	char file[256]; /* the input that was wrong, or "" */
	int line;	/* from 1; 0: none */
	int column;	/* from 1; 0: none */
	char text[QP_ERROR_TEXT_SIZE];
};

/*
 * Sets the text unless one is set already: the first error wins, since later ones are
 * its consequences. @err may be NULL. Returns @code, so that a caller can write
 * `return qp_error_set(err, -EINVAL, "...")`.
 */
int qp_error_set(struct qp_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with the place in an input file. @line and @column from 1, 0 for none. */
int qp_error_at(struct qp_error *err, int code, const char *file, int line, int column,
		const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Prints "file:line:column: text" to @buf of @size bytes; returns @buf. */
const char *qp_error_format(const struct qp_error *err, char *buf, unsigned long size);

#endif
