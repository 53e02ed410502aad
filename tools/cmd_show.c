// SPDX-License-Identifier: Apache-2.0
/* qp show: a receipt on the terminal, or as a page. */
#include "tools/command.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/derive.h"
#include "tools/show/html.h"
#include "tools/show/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command_help help = {
	.usage = "qp show [OPTION...] RECEIPT",
	.summary = "Prints the receipt RECEIPT for people: the verdict, the rules that fired with "
		   "who did\nwhat, and what was not seen.",
	.details = "With --html the whole receipt becomes one HTML file without scripts, which "
		   "loads\nnothing; nothing is printed then. A file of that name is replaced.",
	.example = "  qp show qp-receipts/d6fbf70332/receipt.json",
};

/* Rendered whole before the file is touched: half a receipt could be mistaken for one. */
static int html_write(const char *path, const json_t *receipt, struct qp_error *err)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);
	int r;

	if (!memory)
		return -ENOMEM;
	r = html_print(memory, receipt);
	if (ferror(memory))
		r = -ENOMEM;
	if (fclose(memory) || r)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	r = fd < 0 ? -errno : write_all(fd, text, len);
	if (!r && close(steal_fd(&fd)))
		r = -errno;
	return r ? qp_error_set(err, r, "cannot write %s: %s", path, strerror(-r)) : 0;
}

int cmd_show(int argc, char **argv)
{
	struct summary_options options = {.color = isatty(STDOUT_FILENO)};
	const char *html = NULL;
	const struct option rows[] = {
		{"html", OPTION_STRING, &html, "FILE", "write it to FILE as a page for browsers", 0,
		 0, NULL},
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
	if (html) {
		r = html_write(html, receipt, &err);
		return r ? command_failed(&err, r) : 0;
	}
	summary_print(stdout, receipt, &options);
	return fflush(stdout) ? EXIT_OTHER : 0;
}
