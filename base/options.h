/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines from one table: the same rows parse the options and print --help.
 * Values land where the row points; a row's parser refuses junk with a reason.
 */
#ifndef QP_BASE_OPTIONS_H
#define QP_BASE_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
	OPTION_FLAG,   /* bool *: set to true */
	OPTION_STRING, /* const char **: borrowed from argv */
	OPTION_LIST,   /* struct option_list *: may be repeated */
	OPTION_NUMBER, /* uint64_t *, within [min, max] */
	OPTION_BYTES,  /* uint64_t *, within [min, max]; K, M and G are understood */
	OPTION_MILLI,  /* uint64_t *, thousandths, within [min, max]; "0.5" is 500 */
	OPTION_CHOICE, /* const char **: one of choices, separated by '|' */
};

#define OPTION_LIST_MAX 64

struct option_list {
	const char *items[OPTION_LIST_MAX]; /* borrowed from argv */
	size_t cnt;
};

struct option {
	const char *name; /* without the dashes */
	enum option_kind kind;
	void *target;
	const char *argument; /* the placeholder in --help, NULL for a flag */
	const char *help;     /* one line */
	uint64_t min, max;
	const char *choices;
};

struct command_help {
	const char *usage;   /* "qp run [OPTION...] SPEC" */
	const char *summary; /* one sentence */
	const char *details; /* paragraphs after the options, or NULL */
	const char *example; /* at least one whole command line */
};

/*
 * Parses argv[1..argc). Options may stand before and between operands, --name VALUE or
 * --name=VALUE; "--" ends them. With @stop_at_operand the first operand ends them too
 * (for a command that runs another). @rows ends with a row whose name is NULL.
 *
 * Operands are moved to the front of @argv; *ret_cnt says how many. *ret_help is set when
 * --help or -h was given. 0, or -EINVAL with @err naming the option and what it takes.
 */
int options_parse(const struct option *rows, int argc, char **argv, bool stop_at_operand,
		  int *ret_cnt, bool *ret_help, struct qp_error *err);

/* Prints the help of a command: usage, summary, options, details, example. */
void options_help(FILE *out, const struct command_help *help, const struct option *rows);

#endif
