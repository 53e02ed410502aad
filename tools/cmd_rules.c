// SPDX-License-Identifier: Apache-2.0
/* qp rules: check a rule file; explain why a receipt's rules fired. */
#include "tools/command.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "rules/ruleset.h"
#include "tools/derive.h"
#include "tools/show/summary.h"

#include <errno.h>
#include <string.h>

static const struct command_help help = {
	.usage = "qp rules check FILE | explain RECEIPT | print",
	.summary = "check: says whether FILE is a rule file, naming line and column of what is "
		   "wrong.\nexplain: for each rule that fired in RECEIPT, its text and every "
		   "observation it fired on.\nprint: the built-in rules.",
	.example = "  qp rules print > my.json && qp rules check my.json && qp run --rules my.json "
		   "fastify@5.12.4",
};

static int rules_check(const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct ruleset *rules = NULL;
	struct qp_error err = {0};
	size_t len;
	int r;

	r = rules_read(path, &text, &len, &err);
	if (!r)
		r = ruleset_parse(text, len, path, &rules, &err);
	if (r)
		return command_failed(&err, r);
	ruleset_free(rules);
	printf("%s is a good rule file\n", path);
	return 0;
}

static int rules_explain(const char *path)
{
	_cleanup_json_ json_t *receipt = NULL;
	struct qp_error err = {0};
	const json_t *rule, *id;
	size_t i, j;
	int r;

	r = receipt_read(path, &receipt, &err);
	if (r)
		return command_failed(&err, r);
	if (!json_array_size(json_object_get(receipt, "rulesFired")))
		puts("no rule fired");
	json_array_foreach (json_object_get(receipt, "rulesFired"), i, rule) {
		fputs("rule ", stdout);
		text_print(stdout, member_text(rule, "id"));
		fputs(" makes it ", stdout);
		text_print(stdout, member_text(rule, "tier"));
		fputs(": ", stdout);
		text_print(stdout, member_text(rule, "text"));
		fputc('\n', stdout);
		json_array_foreach (json_object_get(rule, "observationIds"), j, id) {
			const char *name = json_string_value(id);
			const json_t *observation =
				name ? receipt_observation(receipt, name) : NULL;

			fputs("  ", stdout);
			text_print(stdout, name ? name : "?");
			fputs("  ", stdout);
			if (observation)
				observation_describe(stdout, observation);
			fputc('\n', stdout);
		}
	}
	return 0;
}

int cmd_rules(int argc, char **argv)
{
	const struct option rows[] = {{0}};
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 1, 2, &cnt);
	if (r != COMMAND_GO_ON)
		return r;
	if (cnt == 1 && !strcmp(argv[0], "print")) {
		fputs(ruleset_default_text(), stdout);
		return 0;
	}
	if (cnt == 2 && !strcmp(argv[0], "check"))
		return rules_check(argv[1]);
	if (cnt == 2 && !strcmp(argv[0], "explain"))
		return rules_explain(argv[1]);
	log_error("the usage is %s", help.usage);
	return EXIT_USAGE;
}
