// SPDX-License-Identifier: Apache-2.0
/* qp show: a receipt on the terminal. */
#include "tools/command.h"

#include "base/log.h"
#include "tools/derive.h"
#include "tools/show/summary.h"

#include <stdio.h>
#include <string.h>
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
	json_error_t error;
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 1, 1, &cnt);
	if (r != COMMAND_GO_ON)
		return r;
	receipt = json_load_file(argv[0], JSON_REJECT_DUPLICATES, &error);
	if (!receipt) {
		log_error("%s:%d:%d: %s", argv[0], error.line, error.column, error.text);
		return EXIT_OTHER;
	}
	if (strcmp(member_text(receipt, "schema"), "qp-receipt/1") != 0) {
		log_error("%s is no receipt: its schema is not qp-receipt/1", argv[0]);
		return EXIT_OTHER;
	}
	summary_print(stdout, receipt, &options);
	return fflush(stdout) ? EXIT_OTHER : 0;
}
