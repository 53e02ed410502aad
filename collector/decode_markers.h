/* SPDX-License-Identifier: Apache-2.0 */
/* The completeness markers: what the evidence must have for its silence to mean something. */
#ifndef QP_COLLECTOR_DECODE_MARKERS_H
#define QP_COLLECTOR_DECODE_MARKERS_H

#include "collector/decode_state.h"

/* Fills facts.markers. The observations are sorted, so that they can be named; @whole: the
 * log was read to its proper end. 0 or -ENOMEM. */
int markers_fill(struct decoder *d, bool whole);

#endif
