// SPDX-License-Identifier: Apache-2.0
/* The beginning and the end that the subcommands have in common. */
#include "tools/command.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

int command_begin(const struct command_help *help, const struct option *rows, int argc, char **argv,
		  bool stop, int min, int max, int *ret_cnt)
{
	struct qp_error err = {0};
	bool want_help;
	int cnt;

	if (options_parse(rows, argc, argv, stop, &cnt, &want_help, &err)) {
		log_qp_error(&err);
		return EXIT_USAGE;
	}
	if (want_help) {
		options_help(stdout, help, rows);
		return 0;
	}
	if (cnt < min || cnt > max) {
		log_error("wrong number of arguments: the usage is %s", help->usage);
		return EXIT_USAGE;
	}
	*ret_cnt = cnt;
	return COMMAND_GO_ON;
}

int command_failed(const struct qp_error *err, int r)
{
	if (err->text[0])
		log_qp_error(err);
	else
		log_error("%s", strerror(-r));
	return EXIT_OTHER;
}
