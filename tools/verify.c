// SPDX-License-Identifier: Apache-2.0
/* The checks of `qp verify`: envelope, signature, statement, bundle, record, log, claim. */
#include "tools/verify.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "rules/bundle.h"
#include "rules/canon.h"
#include "rules/difference.h"
#include "rules/dsse.h"
#include "rules/statement.h"
#include "tools/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <string.h>

DEFINE_CLEANUP(md_ctx, EVP_MD_CTX *, EVP_MD_CTX_free);

struct verify {
	const struct verify_request *request;
	struct key *key;
	struct dsse dsse;
	json_t *statement;
	const char *log_sha256, *record_sha256; /* as the statement names them */
	struct bundle_found found;
	struct derivation derivation;
};

static void verify_clear(struct verify *verify)
{
	key_free(verify->key);
	dsse_clear(&verify->dsse);
	json_decref(verify->statement);
	json_decref(verify->found.record);
	derivation_clear(&verify->derivation);
}

static int envelope_check(struct verify *verify, struct qp_error *err)
{
	const char *path = verify->request->envelope;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = read_file_at(AT_FDCWD, path, DSSE_BYTES_MAX, &text, &len);

	if (r == -EFBIG)
		return refuse(err, "envelope", "it is bigger than %u bytes", DSSE_BYTES_MAX);
	if (r)
		return qp_error_set(err, r, "cannot read %s: %s", path, strerror(-r));
	return dsse_parse(text, len, DSSE_TYPE_STATEMENT, "envelope", &verify->dsse, err);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* The digest of the one subject of that name. */
static const char *subject_sha256(const json_t *subjects, const char *name)
{
	const json_t *subject;
	size_t i;

	json_array_foreach (subjects, i, subject) {
		if (!strcmp(text_of(subject, "name"), name))
			return text_of(json_object_get(subject, "digest"), "sha256");
	}
	return "";
}

static int statement_check(struct verify *verify, struct qp_error *err)
{
	const json_t *subjects;
	int r = dsse_payload_json(&verify->dsse, "statement", &verify->statement, err);

	if (r)
		return r;
	if (strcmp(text_of(verify->statement, "_type"), STATEMENT_TYPE) != 0)
		return refuse(err, "statement", "/_type: this is no %s", STATEMENT_TYPE);
	if (strcmp(text_of(verify->statement, "predicateType"), STATEMENT_PREDICATE_TYPE) != 0)
		return refuse(err, "statement", "/predicateType: this is no %s",
			      STATEMENT_PREDICATE_TYPE);
	subjects = json_object_get(verify->statement, "subject");
	verify->log_sha256 = subject_sha256(subjects, STATEMENT_LOG_NAME);
	verify->record_sha256 = subject_sha256(subjects, STATEMENT_RECORD_NAME);
	if (strlen(verify->log_sha256) != SHA256_TEXT_SIZE - 1)
		return refuse(err, "statement", "/subject: it names no log");
	if (strlen(verify->record_sha256) != SHA256_TEXT_SIZE - 1)
		return refuse(err, "statement", "/subject: it names no run record");
	return 0;
}

/* Whether the bundle holds the record that the statement names, and where it was said to. */
static int bundle_check_record(struct verify *verify, struct qp_error *err)
{
	const struct verify_request *request = verify->request;
	struct bundle_found *found = &verify->found;
	int r = bundle_verify(request->bundle, verify->key, verify->record_sha256, request->line,
			      found, err);

	if (r)
		return r;
	if (!found->record && request->line)
		return refuse(err, "record", "the bundle has %" PRIu64 " lines, not line %" PRIu64,
			      found->lines, request->line);
	if (!found->record)
		return refuse(err, "record", "no line of the bundle is the record %s",
			      verify->record_sha256);
	if (strcmp(found->record_sha256, verify->record_sha256) != 0)
		return refuse(err, "record",
			      "the statement is about record %s, line %" PRIu64 " is %s",
			      verify->record_sha256, found->line, found->record_sha256);
	return 0;
}

static int file_sha256(const char *path, char ret_text[static SHA256_TEXT_SIZE],
		       struct qp_error *err)
{
	_cleanup_(md_ctx) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char piece[65536], digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	ssize_t got;

	if (fd < 0)
		return qp_error_set(err, -errno, "cannot open the log %s: %s", path,
				    strerror(errno));
	if (!ctx || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1)
		return -ENOMEM;
	while ((got = read(fd, piece, sizeof(piece))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0 && EVP_DigestUpdate(ctx, piece, (size_t)got) != 1)
			return -ENOMEM;
	if (got < 0)
		return qp_error_set(err, -errno, "cannot read the log %s: %s", path,
				    strerror(errno));
	if (EVP_DigestFinal_ex(ctx, digest, &len) != 1)
		return -ENOMEM;
	hex_encode(digest, len, ret_text);
	return 0;
}

static int log_check(struct verify *verify, struct qp_error *err)
{
	const char *path = verify->request->log;
	char sha256[SHA256_TEXT_SIZE];
	int r = file_sha256(path, sha256, err);

	if (!r && strcmp(sha256, verify->log_sha256) != 0)
		return refuse(err, "log", "the statement is about log %s, the log given is %s",
			      verify->log_sha256, sha256);
	if (!r)
		r = derive(path, NULL, &verify->derivation, err);
	/* It may have been changed between the two readings. */
	if (!r && strcmp(verify->derivation.facts.log_sha256, verify->log_sha256) != 0)
		return refuse(err, "log", "the log changed while it was read");
	return r;
}

/* The bytes that were signed against those that the evidence gives. */
static int rebuilt_compare(const char *check, const char *who, const json_t *claimed,
			   const void *signed_bytes, size_t signed_len, const json_t *rebuilt,
			   struct qp_error *err)
{
	_cleanup_free_ char *text = NULL;
	struct difference difference;
	size_t len, at = 0;
	int r = rebuilt ? canon_dump(rebuilt, &text, &len) : -ENOMEM;

	if (r)
		return r;
	if (len == signed_len && !memcmp(text, signed_bytes, len))
		return 0;
	r = difference_find(claimed, rebuilt, &difference);
	if (r < 0)
		return r == -ELOOP ? refuse(err, check, "it is nested too deep") : r;
	if (r)
		return refuse(err, check, "%s: the %s says %s, the evidence %s", difference.pointer,
			      who, difference.claimed, difference.rebuilt);
	while (at < len && at < signed_len && text[at] == ((const char *)signed_bytes)[at])
		at++;
	return refuse(err, check, "byte %zu: the %s is not in its canonical spelling", at, who);
}

static int record_check(struct verify *verify, const struct claim_source *source,
			struct qp_error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *rebuilt =
		runrecord_build(source, text_of(verify->found.record, "previous"));
	char sha256[SHA256_TEXT_SIZE];
	size_t len;
	int r = rebuilt ? canon_dump(rebuilt, &text, &len) : -ENOMEM;

	if (!r)
		r = sha256_text(text, len, sha256);
	if (r || !strcmp(sha256, verify->found.record_sha256))
		return r;
	/* The line's own bytes are gone, but their digest says that they are not these. */
	return rebuilt_compare("record", "record", verify->found.record, "", 0, rebuilt, err);
}

static int claim_check(struct verify *verify, const struct claim_source *source,
		       struct qp_error *err)
{
	_cleanup_json_ json_t *rebuilt = statement_build(source, verify->found.record_sha256);
	const char *version = text_of(json_object_get(verify->found.record, "versions"), "qp");
	int r = rebuilt_compare("claim", "statement", verify->statement, verify->dsse.payload,
				verify->dsse.payload_len, rebuilt, err);

	/* What qp says of a log may change from one version to the next. */
	if (r == -EBADMSG && strcmp(version, QP_VERSION) != 0)
		log_warning("the run was made with qp %.32s, this is qp %s: verify with that one",
			    version, QP_VERSION);
	return r;
}

static int signature_check(struct verify *verify, struct qp_error *err)
{
	return dsse_verify(&verify->dsse, verify->key, "signature", err);
}

static int signed_side_check(struct verify *verify, FILE *out, struct qp_error *err)
{
	int r = envelope_check(verify, err);

	if (r)
		return r;
	fprintf(out, "envelope   one signature over %s\n", DSSE_TYPE_STATEMENT);
	r = signature_check(verify, err);
	if (r)
		return r;
	fprintf(out, "signature  of key %s\n", key_id(verify->key));
	r = statement_check(verify, err);
	if (r)
		return r;
	fprintf(out, "statement  %s\n", STATEMENT_PREDICATE_TYPE);
	r = bundle_check_record(verify, err);
	if (r)
		return r;
	fprintf(out, "bundle     %" PRIu64 " line%s, each signed and linked to the one before\n",
		verify->found.lines, verify->found.lines == 1 ? "" : "s");
	return 0;
}

int verify_signed(const struct verify_request *request, FILE *out, struct qp_error *err)
{
	__attribute__((cleanup(verify_clear))) struct verify verify = {.request = request};
	struct claim_source source;
	int r = key_public_read(request->public_key, &verify.key, err);

	if (!r)
		r = signed_side_check(&verify, out, err);
	if (!r)
		r = log_check(&verify, err);
	if (r)
		return r;
	fprintf(out, "log        %s, %" PRIu64 " records\n", verify.log_sha256,
		verify.derivation.facts.log_records);
	source = derivation_source(&verify.derivation);
	r = record_check(&verify, &source, err);
	if (r)
		return r;
	fprintf(out, "record     line %" PRIu64 " of the bundle is this run's\n",
		verify.found.line);
	r = claim_check(&verify, &source, err);
	if (r)
		return r;
	fprintf(out, "claim      rebuilt from log and record, the same %zu bytes\n",
		verify.dsse.payload_len);
	return 0;
}
