/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the session share. */
#ifndef QP_TOOLS_COLLECT_SESSION_INTERNAL_H
#define QP_TOOLS_COLLECT_SESSION_INTERNAL_H

#include "tools/collect/session.h"

/* Whether a group of that path is wanted. */
bool session_wants(const struct session *session, const char *path);

/* Begins a group that has @slot already. A log that cannot be made is said, and makes the
 * session failed, not more. */
void session_begin(struct session *session, uint64_t id, const char *path, uint32_t slot,
		   bool joined_late);

/* Whether a process is in the group or below it; false also when it is gone. */
bool session_is_populated(const struct session *session, const char *path);

/* Whether any process ever ran in it or below it. */
bool session_was_used(const struct session *session, const char *path);

/* Looks through the hierarchy: watches folders, tracks groups. What is tracked is left. */
int session_scan(struct session *session, struct qp_error *err);

void session_on_notice(void *context, const struct qp_notice *notice);
void session_on_first(void *context, uint32_t slot);

#endif
