// SPDX-License-Identifier: Apache-2.0
/* Record first, then the statement that names it. */
#include "tools/sign.h"

#include "base/cleanup.h"
#include "rules/bundle.h"
#include "rules/canon.h"
#include "rules/dsse.h"
#include "rules/statement.h"

#include <errno.h>
#include <string.h>

DEFINE_CLEANUP(bundle, struct bundle *, bundle_close);

struct claim_source derivation_source(const struct derivation *derivation)
{
	return (struct claim_source){&derivation->facts, derivation->receipt,
				     derivation->rules_name, derivation->rules_sha256};
}

/* Spells @value canonically and signs that. *ret_sha256 is of the payload. */
static int value_sign(const json_t *value, const struct key *key, const char *type,
		      char **ret_envelope, size_t *ret_len,
		      char ret_sha256[static SHA256_TEXT_SIZE], struct qp_error *err)
{
	_cleanup_free_ char *payload = NULL;
	size_t len;
	int r = value ? canon_dump(value, &payload, &len) : -ENOMEM;

	if (!r)
		r = sha256_text(payload, len, ret_sha256);
	if (r)
		return qp_error_set(err, r, "cannot spell what is to be signed: %s", strerror(-r));
	return dsse_sign(key, type, payload, len, ret_envelope, ret_len, err);
}

static int record_append(const struct claim_source *source, const struct key *key,
			 const char *bundle_path, char ret_sha256[static SHA256_TEXT_SIZE],
			 uint64_t *ret_line, struct qp_error *err)
{
	_cleanup_(bundle) struct bundle *bundle = NULL;
	_cleanup_json_ json_t *record = NULL;
	_cleanup_free_ char *line = NULL;
	size_t len;
	int r = bundle_open(bundle_path, key, &bundle, err);

	if (r)
		return r;
	record = runrecord_build(source, bundle_previous(bundle));
	r = value_sign(record, key, DSSE_TYPE_RECORD, &line, &len, ret_sha256, err);
	return r ? r : bundle_append(bundle, line, len, ret_line, err);
}

int sign_derivation(const struct derivation *derivation, const struct key *key,
		    const char *bundle_path, char **ret_envelope, size_t *ret_len,
		    uint64_t *ret_line, struct qp_error *err)
{
	struct claim_source source = derivation_source(derivation);
	char record_sha256[SHA256_TEXT_SIZE], statement_sha256[SHA256_TEXT_SIZE];
	_cleanup_json_ json_t *statement = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;
	char *line;
	int r;

	r = record_append(&source, key, bundle_path, record_sha256, ret_line, err);
	if (r)
		return r;
	statement = statement_build(&source, record_sha256);
	r = value_sign(statement, key, DSSE_TYPE_STATEMENT, &text, &len, statement_sha256, err);
	if (r)
		return r;
	line = realloc(text, len + 2);
	if (!line)
		return -ENOMEM;
	text = NULL;
	line[len++] = '\n';
	line[len] = '\0';
	*ret_envelope = line;
	*ret_len = len;
	return 0;
}
