/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that were there before the recording began. */
#ifndef QP_COLLECTOR_DECODE_JOINED_H
#define QP_COLLECTOR_DECODE_JOINED_H

#include "collector/decode_state.h"

/* Takes the processes of a `joined` record into the tree. 0 or -ENOMEM. */
int joined_put(struct decoder *d, const json_t *object);

#endif
