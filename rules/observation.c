// SPDX-License-Identifier: Apache-2.0
/* The observation model: its names, its memory and its order. */
#include "rules/observation.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[OBSERVATION_KIND_CNT] = {
	[OBSERVATION_SPAWN] = "spawn",
	[OBSERVATION_FILE_WRITE] = "file-write",
	[OBSERVATION_FILE_CREATE] = "file-create",
	[OBSERVATION_FILE_DELETE] = "file-delete",
	[OBSERVATION_FILE_RENAME] = "file-rename",
	[OBSERVATION_FILE_LINK] = "file-link",
	[OBSERVATION_FILE_META] = "file-meta",
	[OBSERVATION_FILE_READ] = "file-read",
	[OBSERVATION_NET_DNS] = "net-dns",
	[OBSERVATION_NET_TCP] = "net-tcp",
	[OBSERVATION_NET_UDP] = "net-udp",
	[OBSERVATION_NET_OTHER] = "net-other",
	[OBSERVATION_NET_UNIX] = "net-unix",
	[OBSERVATION_NET_LISTEN] = "net-listen",
	[OBSERVATION_ENV_READ] = "env-read",
	[OBSERVATION_EXEC_BROUGHT] = "exec-brought",
	[OBSERVATION_ENV_PROBE] = "env-probe",
	[OBSERVATION_TAMPER] = "tamper",
	[OBSERVATION_LIMIT] = "limit",
	[OBSERVATION_LOAD] = "load",
	[OBSERVATION_COMPLETENESS] = "completeness",
};

static const char *const actor_names[ACTOR_CNT] = {
	[ACTOR_PACKAGE] = "package",
	[ACTOR_NPM] = "npm",
	[ACTOR_HARNESS] = "harness",
	[ACTOR_STAGE] = "stage",
};

static const char *const outcome_names[OUTCOME_CNT] = {
	[OUTCOME_EFFECTED] = "effected",
	[OUTCOME_ATTEMPTED] = "attempted",
	[OUTCOME_UNDETERMINED] = "undetermined",
};

const char *observation_kind_name(enum observation_kind kind)
{
	return kind_names[kind];
}

const char *observation_actor_name(enum observation_actor actor)
{
	return actor_names[actor];
}

const char *observation_outcome_name(enum observation_outcome outcome)
{
	return outcome_names[outcome];
}

static int name_find(const char *const *names, int cnt, const char *name)
{
	for (int i = 0; i < cnt; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -1;
}

int observation_kind_parse(const char *name)
{
	return name_find(kind_names, OBSERVATION_KIND_CNT, name);
}

int observation_actor_parse(const char *name)
{
	return name_find(actor_names, ACTOR_CNT, name);
}

int observation_outcome_parse(const char *name)
{
	return name_find(outcome_names, OUTCOME_CNT, name);
}

void observation_init(struct observation *observation)
{
	*observation = (struct observation){.pid = -1, .port = -1};
}

void observation_clear(struct observation *observation)
{
	free(observation->exe);
	free(observation->asked);
	free(observation->package);
	free(observation->path);
	free(observation->path2);
	free(observation->dest);
	free(observation->orig_dest);
	free(observation->sni);
	free(observation->proto);
	json_decref(observation->extra);
	observation_init(observation);
}

int observations_add_take(struct observations *list, struct observation *observation)
{
	if (list->cnt == list->allocated) {
		size_t allocated = list->allocated ? list->allocated * 2 : 64;
		struct observation *items =
			reallocarray(list->items, allocated, sizeof(*list->items));

		if (!items) {
			observation_clear(observation);
			return -ENOMEM;
		}
		list->items = items;
		list->allocated = allocated;
	}
	list->items[list->cnt++] = *observation;
	observation_init(observation);
	return 0;
}

void observations_clear(struct observations *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		observation_clear(&list->items[i]);
	free(list->items);
	*list = (struct observations){0};
}

static bool comes_before(const struct observation *a, const struct observation *b)
{
	bool a_last = a->kind == OBSERVATION_COMPLETENESS;
	bool b_last = b->kind == OBSERVATION_COMPLETENESS;

	if (a_last != b_last)
		return b_last;
	return a->t_ns < b->t_ns;
}

static void reverse(struct observation *items, size_t cnt)
{
	for (size_t i = 0, j = cnt; i + 1 < j; i++) {
		struct observation held = items[i];

		items[i] = items[--j];
		items[j] = held;
	}
}

/* Swaps the neighbours items[0, left) and items[left, cnt), each in its own order. */
static void rotate(struct observation *items, size_t left, size_t cnt)
{
	reverse(items, left);
	reverse(items + left, cnt - left);
	reverse(items, cnt);
}

/* The first of the sorted items[0, cnt) that does not come before @key or, with @after,
 * that comes after it. */
static size_t bound(const struct observation *items, size_t cnt, const struct observation *key,
		    bool after)
{
	size_t lo = 0, hi = cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		bool skip =
			after ? !comes_before(key, &items[mid]) : comes_before(&items[mid], key);

		if (skip)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Merges two sorted neighbours without memory of its own, since sorting cannot report a
 * failure: the larger half's middle splits the other, the inner parts change places.
 */
static void merge(struct observation *items, size_t left, size_t cnt)
{
	size_t right = cnt - left, cut_left, cut_right, mid;

	if (!left || !right || !comes_before(&items[left], &items[left - 1]))
		return;
	if (cnt == 2) {
		rotate(items, 1, 2);
		return;
	}
	if (left > right) {
		cut_left = left / 2;
		cut_right = bound(items + left, right, &items[cut_left], false);
	} else {
		cut_right = right / 2;
		cut_left = bound(items, left, &items[left + cut_right], true);
	}
	rotate(items + cut_left, left - cut_left, left - cut_left + cut_right);
	mid = cut_left + cut_right;
	merge(items, cut_left, mid);
	merge(items + mid, left - cut_left, cnt - mid);
}

static void sort(struct observation *items, size_t cnt)
{
	if (cnt < 2)
		return;
	sort(items, cnt / 2);
	sort(items + cnt / 2, cnt - cnt / 2);
	merge(items, cnt / 2, cnt);
}

void observations_sort(struct observations *list)
{
	sort(list->items, list->cnt);
}
