/* SPDX-License-Identifier: Apache-2.0 */
/* From an evidence log to a receipt: the one derivation that run and replay share. */
#ifndef QP_TOOLS_DERIVE_H
#define QP_TOOLS_DERIVE_H

#include "base/error.h"
#include "base/json.h"
#include "rules/base64.h"
#include "rules/derive.h"

#include <jansson.h>
#include <stddef.h>

/* All that one log gives rise to. */
struct derivation {
	struct run_facts facts;
	json_t *receipt;  /* may share values with the facts */
	char *rules_name; /* NULL: the built-in ones */
	char rules_sha256[SHA256_TEXT_SIZE];
};

/* As derive_receipt, and what the receipt was made from. The caller clears it. */
int derive(const char *log_path, const char *rules_path, struct derivation *ret_derivation,
	   struct qp_error *err);

void derivation_clear(struct derivation *derivation);

/*
 * The receipt of the log at @log_path, judged by the rules that the log names, or by the
 * file @rules_path instead when it is not NULL. -EBADMSG when it is no log, -EINVAL for bad
 * rules, and others; a log that was cut gives a receipt that says so.
 */
int derive_receipt(const char *log_path, const char *rules_path, json_t **ret_receipt,
		   struct qp_error *err);

/* The receipt's bytes: canonical JSON and a newline. *ret_text is the caller's. */
int derive_receipt_text(const json_t *receipt, char **ret_text, size_t *ret_len,
			struct qp_error *err);

/* The exit code that the receipt's verdict stands for. */
int derive_exit_code(const json_t *receipt);

/* Reads a rule file, at most 1 MiB. *ret_text is the caller's. */
int rules_read(const char *path, char **ret_text, size_t *ret_len, struct qp_error *err);

#endif
