// SPDX-License-Identifier: Apache-2.0
/* qp replay: the receipt again, from the log alone. */
#include "tools/command.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "tools/derive.h"

#include <string.h>

static const struct command_help help = {
	.usage = "qp replay [OPTION...] LOG",
	.summary = "Prints the receipt that the evidence log LOG gives rise to: the same bytes as "
		   "the\nreceipt.json of its run.",
	.details = "The exit code is the verdict's: 0 install, 10 review, 20 do-not-install.",
	.example = "  qp replay qp-receipts/d6fbf70332/run.qplog | cmp - "
		   "qp-receipts/d6fbf70332/receipt.json",
};

int cmd_replay(int argc, char **argv)
{
	const char *rules = NULL;
	const struct option rows[] = {
		{"rules", OPTION_STRING, &rules, "FILE", "judge by these rules, not by the log's",
		 0, 0, NULL},
		{0},
	};
	_cleanup_json_ json_t *receipt = NULL;
	_cleanup_free_ char *text = NULL;
	struct qp_error err = {0};
	size_t len;
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 1, 1, &cnt);
	if (r != COMMAND_GO_ON)
		return r;
	r = derive_receipt(argv[0], rules, &receipt, &err);
	if (!r)
		r = derive_receipt_text(receipt, &text, &len, &err);
	if (r)
		return command_failed(&err, r);
	r = write_all(STDOUT_FILENO, text, len);
	if (r) {
		log_error("cannot write the receipt: %s", strerror(-r));
		return EXIT_OTHER;
	}
	return derive_exit_code(receipt);
}
