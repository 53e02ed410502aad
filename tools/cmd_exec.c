// SPDX-License-Identifier: Apache-2.0
/* qp exec: any command, in the same sandbox and with the same receipt. */
#include "tools/command.h"

#include "base/log.h"
#include "tools/task/task.h"
#include "tools/task_options.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const struct command_help help = {
	.usage = "qp exec [OPTION...] [--in DIR] -- CMD [ARG...]",
	.summary = "Runs CMD in /work of the sandbox that packages are run in, watched the same "
		   "way, and\njudges what it did.",
	.details = "The exit code is the verdict's, not the command's: 0 install, 10 review, 20 "
		   "do-not-install;\nthe receipt holds the command's own. Otherwise as qp run.",
	.example = "  qp exec --in ./my-project -- make test",
};

static int in_check(const char *path)
{
	struct stat st;

	if (!path)
		return 0;
	if (stat(path, &st)) {
		log_error("--in %s: %s", path, strerror(errno));
		return EXIT_USAGE;
	}
	if (!S_ISDIR(st.st_mode)) {
		log_error("--in %s is not a folder", path);
		return EXIT_USAGE;
	}
	return 0;
}

int cmd_exec(int argc, char **argv)
{
	struct task_options options;
	struct option rows[TASK_OPTIONS_MAX];
	size_t cnt = task_options_rows(&options, rows);
	int operands, r;

	rows[cnt++] = (struct option){
		"in", OPTION_STRING, &options.in, "DIR", "copy DIR to /work first", 0, 0, NULL};
	rows[cnt] = (struct option){0};
	r = command_begin(&help, rows, argc, argv, true, 1, argc, &operands);
	if (r != COMMAND_GO_ON)
		return r;
	r = in_check(options.in);
	if (r)
		return r;
	/* The operands were moved to the front; main's argv has room for the end mark. */
	argv[operands] = NULL;
	options.command = argv;
	return task_run(&options);
}
