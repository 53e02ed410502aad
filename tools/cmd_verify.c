// SPDX-License-Identifier: Apache-2.0
/* qp verify: is a signed receipt what its evidence gives rise to? */
#include "tools/command.h"

#include "base/log.h"
#include "tools/verify.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct command_help help = {
	.usage = "qp verify DSSE --pub PEM --log LOG --bundle JSONL [--line N] [--offline]",
	.summary = "Checks the signature of DSSE, the bundle's chain, the run record and the log, "
		   "then rebuilds\nthe whole claim from log and record and compares it byte for "
		   "byte.",
	.details = "Prints a line for each check that holds. Exit codes: 0 all hold; 1 one does "
		   "not: the\nmessage names it and where the first difference is; 2 usage.\n"
		   "Nothing but the named files is read, and no network is used, with --offline "
		   "or without.",
	.example = "  qp verify qp-receipts/d6fbf70332/receipt.dsse.json --pub qp.pub \\\n"
		   "      --log qp-receipts/d6fbf70332/run.qplog --bundle "
		   "qp-receipts/bundle.jsonl",
};

int cmd_verify(int argc, char **argv)
{
	struct verify_request request = {0};
	bool offline = false;
	const struct option rows[] = {
		{"pub", OPTION_STRING, &request.public_key, "PEM", "the signer's public key", 0, 0,
		 NULL},
		{"log", OPTION_STRING, &request.log, "LOG", "the evidence log", 0, 0, NULL},
		{"bundle", OPTION_STRING, &request.bundle, "JSONL", "the signed run records", 0, 0,
		 NULL},
		{"line", OPTION_NUMBER, &request.line, "N",
		 "the record has to be line N (the line that the statement names)", 1, UINT32_MAX,
		 NULL},
		{"offline", OPTION_FLAG, &offline, NULL,
		 "use no network, which qp verify never does", 0, 0, NULL},
		{0},
	};
	struct qp_error err = {0};
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 1, 1, &cnt);
	if (r != COMMAND_GO_ON)
		return r;
	if (!request.public_key || !request.log || !request.bundle) {
		log_error("--pub, --log and --bundle are needed: the usage is %s", help.usage);
		return EXIT_USAGE;
	}
	request.envelope = argv[0];
	r = verify_signed(&request, stdout, &err);
	if (fflush(stdout) && !r) {
		log_error("cannot write: %s", strerror(errno));
		return EXIT_OTHER;
	}
	return r ? command_failed(&err, r) : 0;
}
