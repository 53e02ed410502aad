/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes each process wrote to each file: from the kernel's sums into the logs. */
#ifndef QP_COLLECTOR_WRITTEN_H
#define QP_COLLECTOR_WRITTEN_H

#include "collector/capture.h"

/*
 * Puts the sums of those @slots into the logs that the slots have, as `written` records, and
 * forgets them. No program may be running any more that adds to them. 0 or -errno; an error
 * of a log is that slot's.
 */
int written_take(struct collector *collector, const uint32_t *slots, size_t cnt);

/* Has the kernel begin anew, and puts away what it summed up, once that is much. 0 or -errno. */
int written_make_room(struct collector *collector);

#endif
