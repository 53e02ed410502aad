// SPDX-License-Identifier: Apache-2.0
/* qp diff: what one receipt tells that another does not. */
#include "tools/command.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "rules/canon.h"
#include "tools/derive.h"
#include "tools/diff/diff.h"
#include "tools/show/summary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXIT_DIFFERENT EXIT_REVIEW

static const struct command_help help = {
	.usage = "qp diff [OPTION...] A B",
	.summary = "Says what the receipt B tells that the receipt A does not, and the other way "
		   "round:\nrules, packages, processes, files, names asked for, destinations, "
		   "environment reads,\nthe verdict and what was not seen.",
	.details = "What every run makes up is folded to a word in braces: pids, times, ports that "
		   "the\nkernel picks, the home and the user, addresses that the sinkhole gave, "
		   "random parts\nof temporary names, the package's own name and version in paths. "
		   "docs/diff.md says\nwhich, and what --json prints.\n\nThe exit code is 0 when "
		   "both do the same, 10 when they differ, 1 when one cannot be\nread.",
	.example = "  qp diff old/receipt.json new/receipt.json",
};

static int json_print(const json_t *diff)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = canon_dump(diff, &text, &len);

	if (r)
		return r;
	return fwrite(text, 1, len, stdout) == len && fputc('\n', stdout) != EOF ? 0 : -EIO;
}

static int receipts_compare(const char *path_a, const char *path_b, bool json,
			    const struct diff_options *options)
{
	_cleanup_json_ json_t *a = NULL, *b = NULL, *diff = NULL;
	struct qp_error err = {0};
	int r;

	r = receipt_read(path_a, &a, &err);
	if (!r)
		r = receipt_read(path_b, &b, &err);
	if (!r)
		r = diff_build(a, b, &diff);
	if (!r && json)
		r = json_print(diff);
	else if (!r)
		diff_print(stdout, diff, options);
	if (r)
		return command_failed(&err, r);
	if (fflush(stdout) || ferror(stdout)) {
		log_error("cannot write: %s", strerror(errno));
		return EXIT_OTHER;
	}
	return diff_is_same(diff) ? 0 : EXIT_DIFFERENT;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options options = {.color = isatty(STDOUT_FILENO)};
	bool json = false;
	const struct option rows[] = {
		{"json", OPTION_FLAG, &json, NULL, "print the difference as canonical JSON", 0, 0,
		 NULL},
		{"all", OPTION_FLAG, &options.all, NULL, "no list cut short", 0, 0, NULL},
		{0},
	};
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 2, 2, &cnt);
	return r == COMMAND_GO_ON ? receipts_compare(argv[0], argv[1], json, &options) : r;
}
