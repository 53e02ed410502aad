// SPDX-License-Identifier: Apache-2.0
/* qp log: an evidence log as JSON lines, or as text. */
#include "tools/command.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "collector/log.h"
#include "collector/log_print.h"
#include "collector/log_text.h"

#include <errno.h>
#include <string.h>

DEFINE_CLEANUP(reader, struct log_reader *, log_reader_free);

static const struct command_help help = {
	.usage = "qp log [OPTION...] LOG",
	.summary = "Prints the evidence log LOG, one JSON object per record and line.",
	.details = "With --text a kernel event is \"PID SECONDS call(arguments) = result\", as "
		   "strace(1) has\nit: PID as the sandbox counts, SECONDS since the start of the "
		   "run, in <> what the kernel\nsays of a file or socket. An address stands for "
		   "text that was not kept; fork() and\nclone(CLONE_THREAD) for whichever call "
		   "made a process or a thread; flags have the names\nof this machine's "
		   "architecture. Other records are lines that begin with #.\n\nA log that was cut "
		   "is printed up to its last whole record; the exit code is then 1\nand a warning "
		   "says so.",
	.example = "  qp log --text qp-receipts/d6fbf70332/run.qplog | grep execve\n"
		   "  qp log qp-receipts/d6fbf70332/run.qplog | grep '\"call\":\"openat\"'",
};

static int log_file_print(const char *path, bool text)
{
	_cleanup_(reader) struct log_reader *reader = NULL;
	struct qp_error err = {0};
	int r = log_reader_open(path, &reader, &err);

	if (!r)
		r = text ? log_print_text(reader, stdout, &err)
			 : log_print_json(reader, stdout, &err);
	if (r) {
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
	bool text = false;
	const struct option rows[] = {
		{"text", OPTION_FLAG, &text, NULL, "lines like those of strace, not JSON", 0, 0,
		 NULL},
		{0},
	};
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 1, 1, &cnt);
	return r == COMMAND_GO_ON ? log_file_print(argv[0], text) : r;
}
