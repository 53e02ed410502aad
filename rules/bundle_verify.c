// SPDX-License-Identifier: Apache-2.0
/* Verifying a whole bundle, line by line: each signed by the key, each linked to the one
 * before, none torn. */
#include "rules/bundle.h"

#include "base/cleanup.h"
#include "rules/dsse.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct check {
	const struct key *key;
	const char *wanted_sha256; /* of a record */
	uint64_t wanted_line;	   /* 0: by digest */
	char previous[SHA256_TEXT_SIZE];
	struct bundle_found found;
};

/* The first error, with the line it is on. */
static int refuse_line(struct qp_error *err, uint64_t line, const struct qp_error *why)
{
	static const char prefix[] = "refused: bundle: ";
	const char *text = why->text;

	if (!strncmp(text, prefix, strlen(prefix)))
		text += strlen(prefix);
	return refuse(err, "bundle", "line %llu: %s", (unsigned long long)line, text);
}

static int link_check(const struct check *check, const json_t *record, uint64_t line,
		      struct qp_error *err)
{
	const char *previous = json_string_value(json_object_get(record, "previous"));
	const char *schema = json_string_value(json_object_get(record, "schema"));

	if (!schema || strcmp(schema, "qp-run-record/1") != 0)
		return refuse(err, "bundle", "line %llu: /schema: this is no qp-run-record/1",
			      (unsigned long long)line);
	if (!previous || strcmp(previous, check->previous) != 0)
		return refuse(err, "bundle",
			      "line %llu: /previous: it names %.64s, the line before is %s",
			      (unsigned long long)line, previous ? previous : "nothing",
			      check->previous);
	return 0;
}

/* Keeps the record when it is the one that was asked for. */
static int record_keep(struct check *check, const struct dsse *dsse, json_t *record)
{
	char sha256[SHA256_TEXT_SIZE];
	int r = sha256_text(dsse->payload, dsse->payload_len, sha256);

	if (r)
		return r;
	if (check->wanted_line ? check->found.lines != check->wanted_line
			       : strcmp(sha256, check->wanted_sha256) != 0)
		return 0;
	json_decref(check->found.record);
	check->found.record = json_incref(record);
	check->found.line = check->found.lines;
	strcpy(check->found.record_sha256, sha256);
	return 0;
}

static int line_verify(struct check *check, const char *line, size_t len, struct qp_error *err)
{
	__attribute__((cleanup(dsse_clear))) struct dsse dsse = {0};
	uint64_t number = ++check->found.lines;
	json_auto_t *record = NULL;
	struct qp_error why = {0};
	int r = dsse_parse(line, len, DSSE_TYPE_RECORD, "bundle", &dsse, &why);

	if (!r)
		r = dsse_verify(&dsse, check->key, "bundle", &why);
	if (!r)
		r = dsse_payload_json(&dsse, "bundle", &record, &why);
	if (r)
		return r == -EBADMSG ? refuse_line(err, number, &why) : r;
	r = link_check(check, record, number, err);
	if (!r)
		r = record_keep(check, &dsse, record);
	return r ? r : sha256_text(line, len, check->previous);
}

static int file_open(const char *path, FILE **ret_file, struct qp_error *err)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	struct stat st;
	int r;

	if (!file || fstat(fileno(file), &st))
		return qp_error_set(err, -errno, "cannot open the bundle %s: %s", path,
				    strerror(errno));
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > BUNDLE_BYTES_MAX)
		return qp_error_set(err, -EFBIG,
				    "the bundle %s is no plain file, or bigger than %llu bytes",
				    path, (unsigned long long)BUNDLE_BYTES_MAX);
	/* A line that is being written is not to be taken for a torn one. */
	r = bundle_lock(fileno(file), false);
	if (r)
		return qp_error_set(err, r, "cannot lock the bundle %s: %s", path, strerror(-r));
	*ret_file = steal_ptr(file);
	return 0;
}

/* One line into @line of BUNDLE_LINE_BYTES_MAX bytes. 1; 0 at the end. */
static int line_read(FILE *file, char *line, size_t *ret_len, uint64_t number, struct qp_error *err)
{
	size_t len = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		if (len == BUNDLE_LINE_BYTES_MAX)
			return refuse(err, "bundle", "line %llu: it is longer than %u bytes",
				      (unsigned long long)number, BUNDLE_LINE_BYTES_MAX);
		line[len++] = (char)c;
	}
	if (ferror(file))
		return qp_error_set(err, -EIO, "cannot read the bundle: %s", strerror(errno));
	if (c == EOF && len)
		return refuse(err, "bundle", "line %llu: it is torn: no newline ends it",
			      (unsigned long long)number);
	*ret_len = len;
	return c != EOF;
}

int bundle_verify(const char *path, const struct key *key, const char *record_sha256, uint64_t line,
		  struct bundle_found *ret_found, struct qp_error *err)
{
	struct check check = {.key = key,
			      .wanted_sha256 = record_sha256,
			      .wanted_line = line,
			      .previous = BUNDLE_FIRST_PREVIOUS};
	_cleanup_free_ char *text = malloc(BUNDLE_LINE_BYTES_MAX);
	_cleanup_file_ FILE *file = NULL;
	size_t len = 0;
	int r;

	if (!text)
		return -ENOMEM;
	r = file_open(path, &file, err);
	if (r)
		return r; /* cppcheck-suppress memleak ; the attribute frees it */
	while ((r = line_read(file, text, &len, check.found.lines + 1, err)) == 1) {
		r = line_verify(&check, text, len, err);
		if (r)
			break;
	}
	if (r) {
		json_decref(check.found.record);
		return r;
	}
	*ret_found = check.found;
	return 0;
}
