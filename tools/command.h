/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of qp. Each parses its own words and returns an exit code. */
#ifndef QP_TOOLS_COMMAND_H
#define QP_TOOLS_COMMAND_H

#include "base/error.h"
#include "base/options.h"

#include <stdbool.h>

/* Exit codes of every subcommand; those of a signal are 128 + its number. */
enum exit_code {
	EXIT_INSTALL = 0, /* also plain success */
	EXIT_OTHER = 1,
	EXIT_USAGE = 2,
	EXIT_HOST = 3,	/* the host is not able */
	EXIT_FETCH = 4, /* the package could not be fetched */
	EXIT_REVIEW = 10,
	EXIT_DO_NOT_INSTALL = 20,
};

#define COMMAND_GO_ON (-1)

/*
 * What every subcommand does first: parses its options, answers --help, and checks that
 * there are @min to @max operands (moved to the front of @argv, *ret_cnt of them). With
 * @stop the first operand ends the options. COMMAND_GO_ON, or the exit code to return;
 * what was wrong is printed already.
 */
int command_begin(const struct command_help *help, const struct option *rows, int argc, char **argv,
		  bool stop, int min, int max, int *ret_cnt);

/* Prints @err; the exit code that stands for the failure @r of something no option or host
 * is to blame for. */
int command_failed(const struct qp_error *err, int r);

int cmd_run(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_keygen(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_rules(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_bench(int argc, char **argv);

#endif
