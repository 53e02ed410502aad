// SPDX-License-Identifier: Apache-2.0
/* qp: the table of subcommands and their dispatch. */
#include "tools/command.h"

#include "base/log.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

struct command {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
	{"run", "run a package in the sandbox and judge it", cmd_run},
	{"exec", "run any command in the same sandbox, with the same receipt", cmd_exec},
	{"replay", "make the receipt again from a recorded evidence log", cmd_replay},
	{"show", "print a receipt for people", cmd_show},
	{"diff", "say what one receipt tells that another does not", cmd_diff},
	{"log", "print an evidence log as JSON lines, or like strace", cmd_log},
	{"verify", "check a signed receipt against its evidence", cmd_verify},
	{"keygen", "make a pair of keys to sign receipts with", cmd_keygen},
	{"rules", "check a rule file, or explain a receipt's verdict", cmd_rules},
	{"doctor", "say what this host can do, and how to mend what lacks", cmd_doctor},
	{"bench", "measure what observing costs on this host", cmd_bench},
};

#define COMMANDS_CNT (sizeof(commands) / sizeof(commands[0]))

static void help_print(FILE *out)
{
	fputs("Usage: qp COMMAND [ARGUMENT...]\n\n"
	      "Runs a package, or any command, where it can do no harm; watches it from the "
	      "kernel;\nand hands back a receipt with a verdict: install, review or "
	      "do-not-install.\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < COMMANDS_CNT; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fputs("\n`qp COMMAND --help` says more. `qp --version` prints the version.\n\n"
	      "Exit codes: 0 install, 10 review, 20 do-not-install, 2 usage, 3 host not able,\n"
	      "4 the package could not be fetched, 1 anything else.\n\n"
	      "Example:\n  qp run fastify@5.12.4\n",
	      out);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	/* A closed pipe is an error of the write, not the end of a run that must be cleaned up. */
	signal(SIGPIPE, SIG_IGN);
	if (!name) {
		help_print(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		help_print(stdout);
		return 0;
	}
	if (!strcmp(name, "--version")) {
		puts("qp " QP_VERSION);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS_CNT; i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	log_error("unknown command '%s': see qp --help", name);
	return EXIT_USAGE;
}
