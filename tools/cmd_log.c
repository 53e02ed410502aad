// SPDX-License-Identifier: Apache-2.0
/* qp log: an evidence log as JSON lines. */
#include "tools/command.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "collector/log.h"
#include "collector/log_print.h"

#include <errno.h>
#include <string.h>

DEFINE_CLEANUP(reader, struct log_reader *, log_reader_free);

static const struct command_help help = {
	.usage = "qp log LOG",
	.summary = "Prints the evidence log LOG, one JSON object per record and line.",
	.details = "A log that was cut is printed up to its last whole record; the exit code is "
		   "then 1\nand a warning says so.",
	.example = "  qp log qp-receipts/d6fbf70332/run.qplog | grep '\"call\":\"openat\"'",
};

static int log_file_print(const char *path)
{
	_cleanup_(reader) struct log_reader *reader = NULL;
	struct qp_error err = {0};

	if (log_reader_open(path, &reader, &err) || log_print_json(reader, stdout, &err)) {
		log_qp_error(&err);
		return EXIT_OTHER;
	}
	if (fflush(stdout)) {
		log_error("cannot write: %s", strerror(errno));
		return EXIT_OTHER;
	}
	if (!log_reader_is_whole(reader)) {
		log_warning("%s is cut or damaged: what is printed is what came before", path);
		return EXIT_OTHER;
	}
	return 0;
}

int cmd_log(int argc, char **argv)
{
	const struct option rows[] = {{0}};
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 1, 1, &cnt);
	return r == COMMAND_GO_ON ? log_file_print(argv[0]) : r;
}
