// SPDX-License-Identifier: Apache-2.0
/* Drives the decoding of a log: reads every record once, hands kernel events on in the
 * order of their time, and asks for the conclusions at the end. */
#include "collector/decode.h"

#include "collector/decode_state.h"

#include "rules/secretscan.h"

#include <string.h>

static void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	run_facts_clear(&d->facts);
	free(d->notes);
	for (size_t i = 0; i < d->areas_cnt; i++)
		free(d->areas[i]);
	for (size_t i = 0; i < d->decoys_cnt; i++)
		free(d->decoys[i]);
	free(d->main_package);
	order_free(d->order);
	sequences_free(d->sequences);
	proctree_clear(&d->tree);
	entered_clear_all(d);
	decoy_uses_clear(d);
	for (size_t i = 0; i < d->resolved.size; i++)
		if (d->resolved.entries[i].key)
			free((void *)(uintptr_t)d->resolved.entries[i].value);
	map_clear(&d->resolved);
	symlinks_clear(d);
	map_clear(&d->seen);
	map_clear(&d->doubted);
	map_clear(&d->written);
	map_clear(&d->files);
	map_clear(&d->sum_places);
	map_clear(&d->sums);
	map_clear(&d->env_read);
	flows_clear(d);
	map_clear(&d->flow_index);
	map_clear(&d->listens);
	map_clear(&d->answers);
	free(d);
}

DEFINE_CLEANUP(decoder, struct decoder *, decoder_free);

/* The maps' key is the run's nonce: secret while the package runs, the same at each replay. */
static void maps_init(struct decoder *d)
{
	map_init(&d->entered, d->seed, ENTERS_MAX);
	map_init(&d->decoy_uses, d->seed, RESOLVED_WAITING_MAX);
	map_init(&d->resolved, d->seed, RESOLVED_WAITING_MAX);
	map_init(&d->symlinks, d->seed, SYMLINKS_MAX);
	map_init(&d->seen, d->seed, SEEN_MAX);
	map_init(&d->doubted, d->seed, OBSERVATIONS_MAX);
	map_init(&d->written, d->seed, BROUGHT_MAX);
	map_init(&d->files, d->seed, SEEN_MAX);
	map_init(&d->sum_places, d->seed, SEEN_MAX);
	map_init(&d->sums, d->seed, SEEN_MAX);
	map_init(&d->env_read, d->seed, ENV_NAMES_MAX);
	map_init(&d->flow_index, d->seed, 2 * FLOWS_MAX);
	map_init(&d->listens, d->seed, OBSERVATIONS_MAX);
	map_init(&d->answers, d->seed, SINKHOLE_RECORDS_MAX);
	proctree_init(&d->tree, d->seed);
}

static int decoder_new(struct decoder **ret_decoder)
{
	_cleanup_(decoder) struct decoder *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	for (int i = 0; i < PHASES_MAX; i++)
		d->phases[i].pid = -1;
	d->scan_budget = SCAN_BUDGET;
	r = order_new(&d->order);
	if (r == 0)
		r = sequences_new(&d->sequences);
	d->facts.sinkhole_log = json_array();
	d->facts.errors = json_array();
	d->facts.log_hits = json_array();
	if (r < 0 || !d->facts.sinkhole_log || !d->facts.errors || !d->facts.log_hits)
		return -ENOMEM;
	maps_init(d);
	*ret_decoder = steal_ptr(d);
	return 0;
}

/* Gives out what is due. Each item is of a kernel event or of a phase record. */
static int pump(struct decoder *d, int all)
{
	struct order_item item;
	int r = 0;

	while (r == 0 && order_pop(d->order, all, &item) == 1) {
		_cleanup_free_ void *bytes = item.bytes;

		if (item.what == LOG_RECORD_EVENT) {
			r = decode_kernel_event(d, bytes, item.len);
		} else {
			_cleanup_json_ json_t *object = json_loadb(bytes, item.len, 0, NULL);

			r = phase_record(d, object);
		}
	}
	return r;
}

static int take_event(struct decoder *d, const struct log_record *record)
{
	struct kernel_event event;
	const char *why;
	int r;

	d->events++;
	if (event_parse(record->payload, record->len, &event, &why) < 0) {
		d->malformed++;
		trace_fail(d, "a malformed kernel record: %s", why);
		return 0;
	}
	r = sequences_add(d->sequences, event.head.cpu, event.head.seq);
	if (r == -ENOMEM)
		return r;
	if (r == -EEXIST)
		trace_fail(d, "two events with one sequence number");
	else if (r < 0)
		trace_fail(d, "an event of a CPU beyond %d", ORDER_CPUS_MAX);
	if (event.head.time_ns > d->last_ns)
		d->last_ns = event.head.time_ns;
	return order_push(d->order, event.head.time_ns, LOG_RECORD_EVENT, record->payload,
			  record->len);
}

/* Whether the log itself holds what looks like a credential: where and what kind, not which. */
static int scan_record(struct decoder *d, const struct log_record *record)
{
	const char *pattern = secretscan_text((const char *)record->payload, record->len);
	const char *type = log_record_name((enum log_record_type)record->type);

	d->records++;
	if (!pattern)
		return 0;
	d->facts.log_has_secret = true;
	if (json_array_size(d->facts.log_hits) >= SECRETSCAN_HITS_MAX)
		return 0;
	return json_array_append_new(d->facts.log_hits,
				     json_pack("{s:I, s:s?, s:s}", "record", (json_int_t)d->records,
					       "type", type, "pattern", pattern))
		       ? -ENOMEM
		       : 0;
}

static int take_record(struct decoder *d, const struct log_record *record)
{
	int r = scan_record(d, record);

	if (r < 0)
		return r;
	if (d->has_trailer)
		d->after_trailer = true;
	if (record->type == LOG_RECORD_EVENT)
		r = take_event(d, record);
	else
		r = decode_record(d, record);
	return r < 0 ? r : pump(d, 0);
}

/* After the first record, a preamble, when nothing is in the maps yet. */
static void seed_maps(struct decoder *d)
{
	d->seed[0] = d->nonce[0];
	d->seed[1] = d->nonce[1];
	maps_init(d);
}

static int decode_all(struct decoder *d, struct log_reader *reader)
{
	struct log_record record;
	bool first = true;
	int r;

	while (log_reader_next(reader, &record)) {
		if (first && record.type != LOG_RECORD_PREAMBLE)
			trace_fail(d, "the log does not begin with a preamble");
		r = take_record(d, &record);
		if (r < 0)
			return r;
		if (first && record.type == LOG_RECORD_PREAMBLE)
			seed_maps(d);
		first = false;
	}
	r = pump(d, 1);
	if (r < 0)
		return r;
	log_reader_digest(reader, d->facts.log_sha256, &d->facts.log_bytes, &d->facts.log_records);
	return decode_finish(d, log_reader_is_whole(reader));
}

int decode_log(struct log_reader *reader, struct run_facts *ret_facts, struct qp_error *err)
{
	_cleanup_(decoder) struct decoder *d = NULL;
	int r = decoder_new(&d);

	if (r == 0)
		r = decode_all(d, reader);
	if (r < 0)
		return qp_error_set(err, r, "cannot decode the log: %s", strerror(-r));
	*ret_facts = d->facts;
	d->facts = (struct run_facts){0};
	return 0;
}
