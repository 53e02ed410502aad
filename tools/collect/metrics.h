/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of qp-collect as a Prometheus text file. */
#ifndef QP_TOOLS_COLLECT_METRICS_H
#define QP_TOOLS_COLLECT_METRICS_H

#include "tools/collect/session.h"

/* Writes session->metrics anew, by a rename: a reader never sees half of it. Does nothing
 * when it is not asked for. 0 or -errno. */
int metrics_write(const struct session *session);

#endif
