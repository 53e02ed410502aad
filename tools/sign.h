/* SPDX-License-Identifier: Apache-2.0 */
/* Signing what a log gives rise to: the run record into the bundle, the statement into an
 * envelope. */
#ifndef QP_TOOLS_SIGN_H
#define QP_TOOLS_SIGN_H

#include "base/error.h"
#include "rules/keys.h"
#include "rules/runrecord.h"
#include "tools/derive.h"

#include <stddef.h>
#include <stdint.h>

#define _cleanup_key_ __attribute__((cleanup(cleanup_key)))
static inline void cleanup_key(struct key **key)
{
	key_free(*key);
}

/* Borrows from @derivation. */
struct claim_source derivation_source(const struct derivation *derivation);

/*
 * Signs the run record, appends it to the bundle at @bundle_path, then signs the statement
 * that names it. *ret_envelope ends with a newline and is the caller's; *ret_line is the
 * record's line. When an error comes after the record was appended, the bundle keeps it:
 * there was such a run.
 */
int sign_derivation(const struct derivation *derivation, const struct key *key,
		    const char *bundle_path, char **ret_envelope, size_t *ret_len,
		    uint64_t *ret_line, struct qp_error *err);

#endif
