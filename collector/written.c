// SPDX-License-Identifier: Apache-2.0
#include "collector/written.h"

#include "base/cleanup.h"
#include "base/json.h"

#include "capture.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#define PAIRS_MAX 1024 /* of one record */

/* What a map holds. */
struct sums {
	struct written_key *keys;
	struct written_sum *values;
	uint32_t cnt;
};

static void sums_free(struct sums *sums)
{
	free(sums->keys);
	free(sums->values);
}

/* With room for a whole map, one call does: it ends with -ENOENT. */
static int sums_read(int map_fd, bool delete, struct sums *ret_sums)
{
	uint32_t batch;
	int rc;

	ret_sums->keys = calloc(QP_WRITTEN_MAX, sizeof(struct written_key));
	ret_sums->values = calloc(QP_WRITTEN_MAX, sizeof(struct written_sum));
	ret_sums->cnt = QP_WRITTEN_MAX;
	if (!ret_sums->keys || !ret_sums->values)
		return -ENOMEM;
	rc = delete ? bpf_map_lookup_and_delete_batch(map_fd, NULL, &batch, ret_sums->keys,
						      ret_sums->values, &ret_sums->cnt, NULL)
		    : bpf_map_lookup_batch(map_fd, NULL, &batch, ret_sums->keys, ret_sums->values,
					   &ret_sums->cnt, NULL);
	return rc == -ENOENT ? 0 : rc;
}

static void log_pairs(struct slot *slot, json_t **pairs)
{
	_cleanup_json_ json_t *record = NULL;
	int rc = -ENOMEM;

	if (!json_array_size(*pairs))
		return;
	record = json_pack("{s:o}", "sums", *pairs);
	*pairs = json_array();
	if (record && *pairs)
		rc = log_writer_append_json(slot->log, LOG_RECORD_WRITTEN, record);
	if (rc && !slot->log_error)
		slot->log_error = rc;
}

/* What of @sums is @number's goes into its log, if it has one. */
static void log_sums(struct collector *collector, uint32_t number, const struct sums *sums)
{
	struct slot *slot = collector->slots[number];
	json_t *pairs;

	if (!slot || !slot->log)
		return;
	pairs = json_array();
	for (uint32_t i = 0; i < sums->cnt; i++) {
		if (sums->keys[i].slot != number || !(sums->values[i].bits & QP_WRITTEN_OK))
			continue;
		json_array_append_new(pairs, json_pack("[I, I]", (json_int_t)sums->values[i].number,
						       (json_int_t)sums->values[i].bytes));
		if (json_array_size(pairs) == PAIRS_MAX)
			log_pairs(slot, &pairs);
	}
	log_pairs(slot, &pairs);
	json_decref(pairs);
}

static bool is_among(uint32_t slot, const uint32_t *slots, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (slots[i] == slot)
			return true;
	return false;
}

static int take_from(struct collector *collector, int map_fd, const uint32_t *slots, size_t cnt)
{
	__attribute__((cleanup(sums_free))) struct sums sums = {0};
	int rc = sums_read(map_fd, false, &sums);

	if (rc)
		return rc;
	for (size_t i = 0; i < cnt; i++)
		log_sums(collector, slots[i], &sums);
	for (uint32_t i = 0; i < sums.cnt; i++)
		if (is_among(sums.keys[i].slot, slots, cnt))
			bpf_map_delete_elem(map_fd, &sums.keys[i]);
	return 0;
}

int written_take(struct collector *collector, const uint32_t *slots, size_t cnt)
{
	int rc;

	if (!cnt)
		return 0;
	rc = take_from(collector, bpf_map__fd(collector->skel->maps.written_even), slots, cnt);
	return rc ? rc
		  : take_from(collector, bpf_map__fd(collector->skel->maps.written_odd), slots,
			      cnt);
}

int written_make_room(struct collector *collector)
{
	__attribute__((cleanup(sums_free))) struct sums sums = {0};
	struct capture_bpf *skel = collector->skel;
	struct bpf_map *full;
	int rc;

	if (__atomic_load_n(&skel->bss->written_cnt, __ATOMIC_SEQ_CST) < QP_WRITTEN_MAX / 2)
		return 0;
	full = skel->bss->written_half & 1 ? skel->maps.written_odd : skel->maps.written_even;
	__atomic_store_n(&skel->bss->written_cnt, 0, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&skel->bss->written_half, 1, __ATOMIC_SEQ_CST);
	/* Without it what is in there stays, and what finds no room is counted. */
	if (programs_wait())
		return 0;
	rc = sums_read(bpf_map__fd(full), true, &sums);
	for (uint32_t slot = 1; !rc && slot <= collector->slots_cnt; slot++)
		log_sums(collector, slot, &sums);
	return rc;
}
