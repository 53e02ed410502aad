/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DSSE envelopes (secure-systems-lab/dsse, v1.0.2) with exactly one Ed25519 signature, and
 * refusals: why something that is said to be signed is not believed.
 */
#ifndef QP_RULES_DSSE_H
#define QP_RULES_DSSE_H

#include "base/error.h"
#include "rules/keys.h"

#include <jansson.h>
#include <stddef.h>

#define DSSE_TYPE_STATEMENT "application/vnd.in-toto+json"
#define DSSE_TYPE_RECORD    "application/vnd.qp.run-record+json"

/* What is parsed at most: a receipt of the most observations with room to spare. */
#define DSSE_BYTES_MAX (192U << 20)

struct dsse {
	unsigned char *payload; /* with a NUL after its payload_len bytes */
	size_t payload_len;
	const char *type; /* as it was asked for */
	unsigned char *signature;
	size_t signature_len;
};

/*
 * Sets "refused: CHECK: WHERE AND WHY"; returns -EBADMSG. CHECK is one of envelope,
 * signature, statement, bundle, record, log, claim.
 */
int refuse(struct qp_error *err, const char *check, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The bytes that are signed, "DSSEv1 LEN TYPE LEN BODY". New, the caller's; NULL: no memory. */
unsigned char *dsse_pae(const char *type, const void *payload, size_t len, size_t *ret_len);

/* Signs and spells the envelope in canonical JSON, without a newline. The caller's. */
int dsse_sign(const struct key *key, const char *type, const void *payload, size_t len,
	      char **ret_text, size_t *ret_len, struct qp_error *err);

/* Reads an envelope of that @type strictly; nothing in it is to be believed yet. -EBADMSG with
 * a refusal that names @check, or -ENOMEM. The caller clears *ret_dsse. */
int dsse_parse(const char *text, size_t len, const char *type, const char *check,
	       struct dsse *ret_dsse, struct qp_error *err);

/* Whether the signature is @key's. -EBADMSG with a refusal when it is not. */
int dsse_verify(const struct dsse *dsse, const struct key *key, const char *check,
		struct qp_error *err);

void dsse_clear(struct dsse *dsse);

/* The payload as JSON, an object without duplicate keys; the caller's. */
int dsse_payload_json(const struct dsse *dsse, const char *check, json_t **ret_value,
		      struct qp_error *err);

#endif
