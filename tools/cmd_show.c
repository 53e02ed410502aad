// SPDX-License-Identifier: Apache-2.0
/* qp show: a receipt on the terminal. */
#include "tools/command.h"

#include "tools/derive.h"
#include "tools/show/summary.h"

#include <stdio.h>
#include <unistd.h>

static const struct command_help help = {
	.usage = "qp show [OPTION...] RECEIPT",
	.summary = "Prints the receipt RECEIPT for people: the verdict, the rules that fired with "
		   "who did\nwhat, and what was not seen.",
	.example = "  qp show qp-receipts/d6fbf70332/receipt.json",
};

int cmd_show(int argc, char **argv)
{
	struct summary_options options = {.color = isatty(STDOUT_FILENO)};
	const struct option rows[] = {
		{"all", OPTION_FLAG, &options.all, NULL, "every observation, and no list cut short",
		 0, 0, NULL},
		{0},
	};
	_cleanup_json_ json_t *receipt = NULL;
	struct qp_error err = {0};
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 1, 1, &cnt);
	if (r != COMMAND_GO_ON)
		return r;
	r = receipt_read(argv[0], &receipt, &err);
	if (r)
		return command_failed(&err, r);
	summary_print(stdout, receipt, &options);
	return fflush(stdout) ? EXIT_OTHER : 0;
}
