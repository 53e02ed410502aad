/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel event as JSON. */
#ifndef QP_COLLECTOR_LOG_PRINT_EVENT_H
#define QP_COLLECTOR_LOG_PRINT_EVENT_H

#include "collector/decode_event.h"

#include <jansson.h>

/* Adds the event's members to @line. 0 or -ENOMEM. */
int log_print_event(const struct kernel_event *event, json_t *line);

#endif
