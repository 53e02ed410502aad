// SPDX-License-Identifier: Apache-2.0
/* qp run: a package, judged. */
#include "tools/command.h"

#include "base/log.h"
#include "tools/download/download.h"
#include "tools/task/task.h"
#include "tools/task_options.h"

#include <errno.h>

static const struct command_help help = {
	.usage = "qp run [OPTION...] SPEC",
	.summary = "Fetches a package without running any of it, then runs its install scripts and "
		   "imports\nit in a sandbox, watched from the kernel, and judges what it did.\n\n"
		   "SPEC is name@version, fixture:NAME, a folder, or a .tgz file.",
	.details =
		"Exit codes: 0 install, 10 review, 20 do-not-install, 2 usage, 3 host not able "
		"(qp doctor\nsays why), 4 the package could not be fetched, 1 anything else; 128 "
		"+ N when stopped by\nsignal N. 0 only when everything was seen.",
	.example = "  qp run fastify@5.12.4\n  qp run --json --quiet ./my-package > receipt.json",
};

int cmd_run(int argc, char **argv)
{
	struct task_options options;
	struct option rows[TASK_OPTIONS_MAX];
	size_t cnt = task_options_rows(&options, rows);
	struct qp_error err = {0};
	struct spec spec;
	int operands, r;

	rows[cnt++] = (struct option){"download-seconds",
				      OPTION_NUMBER,
				      &options.limits.download_seconds,
				      "N",
				      "time limit of the download (120)",
				      1,
				      86400,
				      NULL};
	rows[cnt++] = (struct option){"download-bytes",
				      OPTION_BYTES,
				      &options.limits.download_max_bytes,
				      "SIZE",
				      "unpacked size at most (50M)",
				      1,
				      UINT64_C(1) << 40,
				      NULL};
	rows[cnt++] = (struct option){"download-packages",
				      OPTION_NUMBER,
				      &options.limits.download_max_packages,
				      "N",
				      "packages in the tree at most (300)",
				      1,
				      100000,
				      NULL};
	rows[cnt] = (struct option){0};
	r = command_begin(&help, rows, argc, argv, false, 1, 1, &operands);
	if (r != COMMAND_GO_ON)
		return r;
	r = spec_parse(argv[0], &spec, &err);
	if (r) {
		log_qp_error(&err);
		return EXIT_USAGE;
	}
	options.spec = &spec;
	return task_run(&options);
}
