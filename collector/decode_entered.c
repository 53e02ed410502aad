// SPDX-License-Identifier: Apache-2.0
/* Calls that have not returned yet: their entry and, in the kernel-object tier, what the
 * kernel said in between of the objects that it acts on. */
#include "collector/decode_state.h"

#include <string.h>

struct entered_bytes {
	size_t enter_len;
	size_t object_len;     /* 0: there is none */
	unsigned char bytes[]; /* of both, one behind the other */
};

struct entered_key entered_key(const struct kernel_event *event)
{
	return (struct entered_key){.tid = event->call.request ? 0 : event->head.tid,
				    .request = event->call.request};
}

bool entered_request_of(const struct decoder *d, uint32_t tgid, struct entered_key *ret_key)
{
	for (size_t i = 0; i < d->entered.size; i++) {
		const struct map_entry *entry = &d->entered.entries[i];
		struct qp_event head;

		if (!entry->key)
			continue;
		memcpy(ret_key, entry->key, sizeof(*ret_key));
		memcpy(&head, ((struct entered_bytes *)(uintptr_t)entry->value)->bytes,
		       sizeof(head));
		if (ret_key->request && head.tgid == tgid)
			return true;
	}
	return false;
}

void entered_clear(struct entered *entered)
{
	free(entered->bytes);
	entered->bytes = NULL;
}

int entered_put(struct decoder *d, const struct kernel_event *event, const void *bytes, size_t len)
{
	struct entered_key key = entered_key(event);
	_cleanup_free_ struct entered_bytes *held = malloc(sizeof(*held) + len);
	int r;

	if (!held)
		return -ENOMEM;
	*held = (struct entered_bytes){.enter_len = len};
	memcpy(held->bytes, bytes, len);
	r = map_put(&d->entered, &key, sizeof(key), (uintptr_t)held);
	if (r == 0)
		steal_ptr(held);
	else if (r == -E2BIG)
		trace_fail(d, "more than %d calls under way at one time", ENTERS_MAX);
	return bounded(r);
}

int entered_add_object(struct decoder *d, const struct kernel_event *event, const void *bytes,
		       size_t len)
{
	struct entered_key key = {.tid = event->head.tid};
	uint64_t *value = map_get(&d->entered, &key, sizeof(key));
	struct entered_bytes *held = value ? (struct entered_bytes *)(uintptr_t)*value : NULL;
	struct entered_bytes *grown;

	if (!held) /* the entry was lost, which is counted */
		return 0;
	grown = realloc(held, sizeof(*held) + held->enter_len + len);
	if (!grown)
		return -ENOMEM;
	*value = (uintptr_t)grown;
	grown->object_len = len;
	memcpy(grown->bytes + grown->enter_len, bytes, len);
	return 0;
}

int entered_take(struct decoder *d, struct entered_key key, struct entered *ret_entered)
{
	const struct entered_bytes *held;
	uint64_t value;
	const char *why;

	ret_entered->bytes = NULL;
	ret_entered->has_object = false;
	if (!map_remove(&d->entered, &key, sizeof(key), &value))
		return 0;
	held = ret_entered->bytes = (void *)(uintptr_t)value;
	if (event_parse(held->bytes, held->enter_len, &ret_entered->enter, &why) < 0)
		return 0;
	ret_entered->has_object =
		held->object_len && event_parse(held->bytes + held->enter_len, held->object_len,
						&ret_entered->object, &why) == 0;
	return 1;
}

bool entered_look(const struct decoder *d, size_t at, struct kernel_event *ret_enter)
{
	const struct map_entry *entry = &d->entered.entries[at];
	const struct entered_bytes *held = (struct entered_bytes *)(uintptr_t)entry->value;
	const char *why;

	return entry->key && event_parse(held->bytes, held->enter_len, ret_enter, &why) == 0;
}

const struct kernel_event *entered_object(const struct entered *entered)
{
	const struct qp_object *object = &entered->object.object;
	const struct qp_call *call = &entered->enter.call;

	return entered->has_object && object->call == call->call &&
			       object->entered_ns == call->entered_ns
		       ? &entered->object
		       : NULL;
}

void entered_clear_all(struct decoder *d)
{
	for (size_t i = 0; i < d->entered.size; i++)
		if (d->entered.entries[i].key)
			free((void *)(uintptr_t)d->entered.entries[i].value);
	map_clear(&d->entered);
}
