/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bundle, bundle.jsonl: a line per run, each a DSSE envelope around a run record that
 * names the digest of the line before. One writer at a time; what a crash left of a line is
 * cut off before the next one is written. docs/signed-receipts.md
 */
#ifndef QP_RULES_BUNDLE_H
#define QP_RULES_BUNDLE_H

#include "base/error.h"
#include "rules/keys.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUNDLE_FIRST_PREVIOUS "0000000000000000000000000000000000000000000000000000000000000000"
#define BUNDLE_LINE_BYTES_MAX (1U << 20)
#define BUNDLE_BYTES_MAX      (UINT64_C(1) << 30)

struct bundle;

/*
 * Opens the bundle at @path to append to it, makes it (mode 0644) when it is not there, and
 * keeps every other writer out until bundle_close. Its last line has to be @key's: a bundle
 * of two keys could not be verified with one. -EACCES when it is another's, -ETIMEDOUT when
 * somebody else holds it for a minute, -EBADMSG when its last line is no record, or the
 * file's error.
 */
int bundle_open(const char *path, const struct key *key, struct bundle **ret_bundle,
		struct qp_error *err);

/* What bundle_open would say, without making or changing anything. */
int bundle_check(const char *path, const struct key *key, struct qp_error *err);

/* The digest that the next record has to name. Lives until the next append. */
const char *bundle_previous(const struct bundle *bundle);

/* Appends the envelope (no newline in it) in one write, synced. An error leaves the file as
 * it was. *ret_line is its number, from 1; it may be NULL. */
int bundle_append(struct bundle *bundle, const char *line, size_t len, uint64_t *ret_line,
		  struct qp_error *err);

/* Lets the next writer in. NULL is fine. */
void bundle_close(struct bundle *bundle);

/* Waits for the lock of a bundle's file, a minute at most: one writer, or readers. 0,
 * -ETIMEDOUT, or flock's error. */
int bundle_lock(int fd, bool to_write);

/* What verifying a whole bundle found. */
struct bundle_found {
	uint64_t lines;
	uint64_t line;	/* of the record that was asked for; 0: none */
	json_t *record; /* its payload, owned; NULL when none */
	char record_sha256[SHA256_TEXT_SIZE];
};

/*
 * Verifies every line's signature and link. Asked for is the record with the digest
 * @record_sha256, or, when @line is not 0, that line's. -EBADMSG with a refusal, or the
 * file's error. The caller drops ret_found->record.
 */
int bundle_verify(const char *path, const struct key *key, const char *record_sha256, uint64_t line,
		  struct bundle_found *ret_found, struct qp_error *err);

#endif
