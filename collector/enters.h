/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry records of calls that have not returned yet. An entry has the places that the
 * call's relative paths start from, which its exit does not repeat.
 */
#ifndef QP_COLLECTOR_ENTERS_H
#define QP_COLLECTOR_ENTERS_H

#include "bpf/event.h"

#include <stdbool.h>

struct enters;

/* NULL when out of memory. */
struct enters *enters_new(void);

/* Keeps a copy, in place of what was there. Without memory it keeps nothing. */
void enters_put(struct enters *enters, const struct qp_event *event);

/* The entry of the call that @event is the exit of, which the caller frees; NULL when there
 * is none. */
struct qp_event *enters_take(struct enters *enters, const struct qp_event *event);

/* Notes that the kernel told the object of the call that @tid began at @entered_ns. */
void enters_note_object(struct enters *enters, uint32_t tid, uint64_t entered_ns);

/* Whether it did. False when another thread took the place since. */
bool enters_has_object(const struct enters *enters, uint32_t tid, uint64_t entered_ns);

void enters_free(struct enters *enters);

#endif
