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

int rules_read(const char *path, char **ret_text, size_t *ret_len, struct qp_error *err)
{
	int r = read_file_at(AT_FDCWD, path, RULES_BYTES_MAX, ret_text, ret_len);

	return r ? qp_error_set(err, r, "cannot read the rule file %s: %s", path, strerror(-r)) : 0;
}

void derivation_clear(struct derivation *derivation)
{
	json_decref(derivation->receipt);
	run_facts_clear(&derivation->facts);
	free(derivation->rules_name);
	*derivation = (struct derivation){0};
}

static int name_set(struct derivation *derivation, const char *name)
{
	derivation->rules_name = name ? strdup(name) : NULL;
	return name && !derivation->rules_name ? -ENOMEM : 0;
}

/* The rules of a file, or of the log, or, where a log names none, the built-in ones. */
static int rules_choose(struct derivation *derivation, const char *rules_path,
			struct ruleset **ret_rules, struct qp_error *err)
{
	const json_t *logged = derivation->facts.rules;
	const char *name = "default.json", *text = ruleset_default_text();
	_cleanup_free_ char *read = NULL;
	size_t len = strlen(text);
	int r = 0;

	if (rules_path) {
		r = rules_read(rules_path, &read, &len, err);
		if (!r)
			r = name_set(derivation, rules_path);
		name = rules_path;
		text = read;
	} else if (logged) {
		if (!json_is_string(json_object_get(logged, "text")))
			return qp_error_set(err, -EBADMSG, "the log's rules record has no text");
		r = name_set(derivation, json_string_value(json_object_get(logged, "name")));
		name = "the log's rules";
		text = json_string_value(json_object_get(logged, "text"));
		len = json_string_length(json_object_get(logged, "text"));
	}
	if (!r)
		r = sha256_text(text, len, derivation->rules_sha256);
	return r ? r : ruleset_parse(text, len, name, ret_rules, err);
}

int derive(const char *log_path, const char *rules_path, struct derivation *ret_derivation,
	   struct qp_error *err)
{
	__attribute__((cleanup(derivation_clear))) struct derivation derivation = {0};
	_cleanup_(log_reader) struct log_reader *reader = NULL;
	_cleanup_(ruleset) struct ruleset *rules = NULL;
	int r;

	r = log_reader_open(log_path, &reader, err);
	if (!r)
		r = decode_log(reader, &derivation.facts, err);
	if (!r)
		r = rules_choose(&derivation, rules_path, &rules, err);
	if (!r)
		r = receipt_build(&derivation.facts, rules, &derivation.receipt, err);
	if (r)
		return r;
	*ret_derivation = derivation;
	derivation = (struct derivation){0};
	return 0;
}

int derive_receipt(const char *log_path, const char *rules_path, json_t **ret_receipt,
		   struct qp_error *err)
{
	__attribute__((cleanup(derivation_clear))) struct derivation derivation = {0};
	int r = derive(log_path, rules_path, &derivation, err);

	if (!r)
		*ret_receipt = steal_ptr(derivation.receipt);
	return r;
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
