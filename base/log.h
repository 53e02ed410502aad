/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for people, on stderr: "qp: level: text". Untrusted strings are escaped. */
#ifndef QP_BASE_LOG_H
#define QP_BASE_LOG_H

#include "base/error.h"

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/* The most detailed level that is printed; LOG_LEVEL_INFO at start. */
extern enum log_level log_max_level;

/* @program stands before the level; it is not copied and must live on. */
void log_set_program(const char *program);

/* Prints one line. Control characters and bytes that are not UTF-8 come out as \xHH. */
void log_print(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)	 log_print(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_print(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)	 log_print(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_print(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Prints @err with its place as an error line. */
void log_qp_error(const struct qp_error *err);

#endif
