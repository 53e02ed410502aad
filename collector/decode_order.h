/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts kernel events, which CPUs deliver interleaved, back into the order of their time,
 * and counts what is missing from each CPU's sequence. Memory is bounded: an event can be
 * late by as much as the window holds; one that is later still is given as it comes, and
 * counted.
 */
#ifndef QP_COLLECTOR_DECODE_ORDER_H
#define QP_COLLECTOR_DECODE_ORDER_H

#include "bpf/event.h"

#include <stddef.h>
#include <stdint.h>

#define ORDER_ITEMS_MAX 65536
#define ORDER_BYTES_MAX (48U << 20)
#define ORDER_CPUS_MAX	1024

struct order_item {
	uint64_t time_ns;
	uint64_t nth; /* of the log: keeps the order of one instant */
	void *bytes;  /* owned */
	size_t len;
	int what; /* the caller's */
};

struct order;

int order_new(struct order **ret_order);
void order_free(struct order *order);

/* Copies @bytes. 0 or -ENOMEM. */
int order_push(struct order *order, uint64_t time_ns, int what, const void *bytes, size_t len);

/*
 * 1 and the earliest item, which the caller frees; 0 when nothing is to be given out yet,
 * or, with @all, nothing is left.
 */
int order_pop(struct order *order, int all, struct order_item *ret_item);

/* Items that came out after a later one. */
uint64_t order_late(const struct order *order);

struct sequences;

int sequences_new(struct sequences **ret_sequences);
void sequences_free(struct sequences *sequences);

/* Notes one event. 0, -ENOMEM, -ERANGE for a CPU beyond ORDER_CPUS_MAX, -EEXIST for a
 * number that was there already, or is so old that this cannot be told. */
int sequences_add(struct sequences *sequences, uint32_t cpu, uint64_t seq);

/* How many numbers, from 1 to each CPU's last, never came. Saturates. */
uint64_t sequences_missing(const struct sequences *sequences);

#endif
