// SPDX-License-Identifier: Apache-2.0
/* A bounded heap by time, and one sliding window of sequence numbers for each CPU. */
#include "collector/decode_order.h"

#include "base/cleanup.h"

#include <string.h>

struct order {
	struct order_item items[ORDER_ITEMS_MAX];
	size_t cnt, bytes;
	uint64_t nth, late, last_ns;
};

int order_new(struct order **ret_order)
{
	*ret_order = calloc(1, sizeof(**ret_order));
	return *ret_order ? 0 : -ENOMEM;
}

void order_free(struct order *order)
{
	if (!order)
		return;
	for (size_t i = 0; i < order->cnt; i++)
		free(order->items[i].bytes);
	free(order);
}

static int is_before(const struct order_item *a, const struct order_item *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->nth < b->nth;
}

int order_push(struct order *order, uint64_t time_ns, int what, const void *bytes, size_t len)
{
	struct order_item item = {time_ns, order->nth++, malloc(len ? len : 1), len, what};
	size_t at = order->cnt;

	if (!item.bytes)
		return -ENOMEM;
	if (at == ORDER_ITEMS_MAX) { /* the caller pops after each push */
		free(item.bytes);
		return -ENOMEM;
	}
	memcpy(item.bytes, bytes, len);
	order->cnt++;
	order->bytes += len;
	for (; at && is_before(&item, &order->items[(at - 1) / 2]); at = (at - 1) / 2)
		order->items[at] = order->items[(at - 1) / 2];
	order->items[at] = item;
	return 0;
}

int order_pop(struct order *order, int all, struct order_item *ret_item)
{
	struct order_item last;
	size_t at = 0, child;

	if (!order->cnt || (!all && order->cnt < ORDER_ITEMS_MAX && order->bytes < ORDER_BYTES_MAX))
		return 0;
	*ret_item = order->items[0];
	last = order->items[--order->cnt];
	order->bytes -= ret_item->len;
	while ((child = 2 * at + 1) < order->cnt) {
		if (child + 1 < order->cnt &&
		    is_before(&order->items[child + 1], &order->items[child]))
			child++;
		if (!is_before(&order->items[child], &last))
			break;
		order->items[at] = order->items[child];
		at = child;
	}
	order->items[at] = last;
	if (ret_item->time_ns < order->last_ns)
		order->late++;
	else
		order->last_ns = ret_item->time_ns;
	return 1;
}

uint64_t order_late(const struct order *order)
{
	return order->late;
}

#define SEQUENCE_WINDOW 65536 /* numbers; a preempted CPU's record may be this late */
#define SEQUENCE_WORDS	(SEQUENCE_WINDOW / 64)

struct sequence {
	uint64_t next;	  /* the lowest number that is not accounted for */
	uint64_t last;	  /* the highest that came */
	uint64_t waiting; /* came out of turn: bits set in the window */
	uint64_t missing; /* given up */
	uint64_t *window; /* by number modulo SEQUENCE_WINDOW; allocated when first needed */
};

struct sequences {
	struct sequence cpus[ORDER_CPUS_MAX];
};

int sequences_new(struct sequences **ret_sequences)
{
	*ret_sequences = calloc(1, sizeof(**ret_sequences));
	if (!*ret_sequences)
		return -ENOMEM;
	for (size_t i = 0; i < ORDER_CPUS_MAX; i++)
		(*ret_sequences)->cpus[i].next = 1;
	return 0;
}

void sequences_free(struct sequences *sequences)
{
	if (!sequences)
		return;
	for (size_t i = 0; i < ORDER_CPUS_MAX; i++)
		free(sequences->cpus[i].window);
	free(sequences);
}

static uint64_t *window_word(struct sequence *s, uint64_t seq)
{
	return &s->window[seq % SEQUENCE_WINDOW / 64];
}

static void sequence_advance(struct sequence *s)
{
	while (s->waiting && *window_word(s, s->next) >> s->next % 64 & 1) {
		*window_word(s, s->next) &= ~(1ULL << s->next % 64);
		s->waiting--;
		s->next++;
	}
}

/* Gives up every number below @seq - 1 that has not come: it would be too late now. */
static void sequence_skip(struct sequence *s, uint64_t seq)
{
	uint64_t open = seq - s->next;

	s->missing += open - s->waiting;
	if (s->waiting)
		memset(s->window, 0, SEQUENCE_WORDS * sizeof(*s->window));
	s->waiting = 0;
	s->next = seq;
}

int sequences_add(struct sequences *sequences, uint32_t cpu, uint64_t seq)
{
	struct sequence *s;

	if (cpu >= ORDER_CPUS_MAX)
		return -ERANGE;
	s = &sequences->cpus[cpu];
	if (seq < s->next || seq == UINT64_MAX)
		return -EEXIST;
	if (seq > s->last)
		s->last = seq;
	if (seq - s->next >= SEQUENCE_WINDOW)
		sequence_skip(s, seq);
	if (seq == s->next) {
		s->next++;
		sequence_advance(s);
		return 0;
	}
	if (!s->window) {
		s->window = calloc(SEQUENCE_WORDS, sizeof(*s->window));
		if (!s->window)
			return -ENOMEM;
	}
	if (*window_word(s, seq) >> seq % 64 & 1)
		return -EEXIST;
	*window_word(s, seq) |= 1ULL << seq % 64;
	s->waiting++;
	return 0;
}

uint64_t sequences_missing(const struct sequences *sequences)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ORDER_CPUS_MAX; i++) {
		const struct sequence *s = &sequences->cpus[i];
		uint64_t missing = s->missing;

		if (s->last >= s->next)
			missing += s->last - s->next + 1 - s->waiting;
		sum = sum + missing < sum ? UINT64_MAX : sum + missing;
	}
	return sum;
}
