// SPDX-License-Identifier: Apache-2.0
/* Decode, judge, build: a receipt from one evidence log and nothing else. */
#include "tools/derive.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "collector/decode.h"
#include "collector/log.h"
#include "rules/canon.h"
#include "rules/derive.h"
#include "rules/receipt.h"
#include "rules/ruleset.h"
#include "rules/verdict.h"
#include "tools/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define RULES_BYTES_MAX (1U << 20)

DEFINE_CLEANUP(ruleset, struct ruleset *, ruleset_free);
DEFINE_CLEANUP(log_reader, struct log_reader *, log_reader_free);

static void cleanup_facts(struct run_facts *facts)
{
	run_facts_clear(facts);
}

int rules_read(const char *path, char **ret_text, size_t *ret_len, struct qp_error *err)
{
	int r = read_file_at(AT_FDCWD, path, RULES_BYTES_MAX, ret_text, ret_len);

	return r ? qp_error_set(err, r, "cannot read the rule file %s: %s", path, strerror(-r)) : 0;
}

/* The rules of a file, or of the log, or, where a log names none, the built-in ones. */
static int rules_choose(const struct run_facts *facts, const char *rules_path,
			struct ruleset **ret_rules, struct qp_error *err)
{
	const char *name = "default.json", *text = ruleset_default_text();
	_cleanup_free_ char *read = NULL;
	size_t len = strlen(text);
	int r;

	if (rules_path) {
		r = rules_read(rules_path, &read, &len, err);
		if (r)
			return r;
		name = rules_path;
		text = read;
	} else if (facts->rules) {
		const json_t *logged = json_object_get(facts->rules, "text");

		if (!json_is_string(logged))
			return qp_error_set(err, -EBADMSG, "the log's rules record has no text");
		name = "the log's rules";
		text = json_string_value(logged);
		len = json_string_length(logged);
	}
	return ruleset_parse(text, len, name, ret_rules, err);
}

int derive_receipt(const char *log_path, const char *rules_path, json_t **ret_receipt,
		   struct qp_error *err)
{
	__attribute__((cleanup(cleanup_facts))) struct run_facts facts = {0};
	_cleanup_(log_reader) struct log_reader *reader = NULL;
	_cleanup_(ruleset) struct ruleset *rules = NULL;
	int r;

	r = log_reader_open(log_path, &reader, err);
	if (r)
		return r;
	r = decode_log(reader, &facts, err);
	if (r)
		return r;
	r = rules_choose(&facts, rules_path, &rules, err);
	if (r)
		return r;
	return receipt_build(&facts, rules, ret_receipt, err);
}

int derive_receipt_text(const json_t *receipt, char **ret_text, size_t *ret_len,
			struct qp_error *err)
{
	_cleanup_free_ char *text = NULL;
	char *line;
	size_t len;
	int r;

	r = canon_dump(receipt, &text, &len);
	if (r)
		return qp_error_set(err, r, "cannot write the receipt as canonical JSON: %s",
				    strerror(-r));
	line = realloc(text, len + 2);
	if (!line)
		return -ENOMEM;
	text = NULL;
	line[len++] = '\n';
	line[len] = '\0';
	*ret_text = line;
	*ret_len = len;
	return 0;
}

int derive_exit_code(const json_t *receipt)
{
	const char *verdict = json_string_value(json_object_get(receipt, "verdict"));

	if (verdict && !strcmp(verdict, "install"))
		return EXIT_INSTALL;
	if (verdict && !strcmp(verdict, "review"))
		return EXIT_REVIEW;
	if (verdict && !strcmp(verdict, "do-not-install"))
		return EXIT_DO_NOT_INSTALL;
	return EXIT_OTHER;
}
