// SPDX-License-Identifier: Apache-2.0
/* The records that hold JSON: they become facts as they are, after a look at what the
 * decoder itself needs of them. */
#include "collector/decode_joined.h"
#include "collector/decode_net.h"
#include "collector/decode_state.h"

#include <inttypes.h>
#include <string.h>

#define NONCE_HALF_DIGITS 12

static uint64_t nonce_half(const char *text)
{
	uint64_t value = 0;

	for (int i = 0; i < NONCE_HALF_DIGITS; i++) {
		char c = text[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return 0;
	}
	return value;
}

static int take_areas(struct decoder *d, const json_t *areas)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)areas, key, value) {
		_cleanup_free_ char *raw = json_member_raw(areas, key);

		if (!raw || raw[0] != '/' || !raw[1] || d->areas_cnt == AREAS_MAX)
			continue;
		d->areas[d->areas_cnt] = path_normalise(raw);
		if (!d->areas[d->areas_cnt])
			return -ENOMEM;
		if (!strcmp(key, "home"))
			d->home = d->areas[d->areas_cnt];
		d->areas_cnt++;
	}
	return 0;
}

static int take_preamble(struct decoder *d, const json_t *object)
{
	const char *nonce = json_member_text(object, "nonce");
	const char *mode = json_member_text(object, "mode");

	if (mode && !strcmp(mode, "exec"))
		d->mode = MODE_EXEC;
	else if (mode && !strcmp(mode, "collect"))
		d->mode = MODE_COLLECT;
	d->started_ns = (uint64_t)json_member_int(object, "started_ns", 0);
	if (nonce && strlen(nonce) == 2 * NONCE_HALF_DIGITS) {
		d->nonce[0] = nonce_half(nonce);
		d->nonce[1] = nonce_half(nonce + NONCE_HALF_DIGITS);
	}
	return take_areas(d, json_object_get(object, "areas"));
}

static int take_decoys(struct decoder *d, const json_t *object)
{
	const json_t *files = json_object_get(object, "files");
	size_t i;
	json_t *file;

	json_array_foreach ((json_t *)files, i, file) {
		_cleanup_json_ json_t *holder = json_pack("{s:O}", "file", file);
		char *raw = json_member_raw(holder, "file");

		if (!raw)
			continue;
		if (d->decoys_cnt == DECOYS_MAX) {
			free(raw);
			break;
		}
		d->decoys[d->decoys_cnt++] = raw;
	}
	return 0;
}

/* What the sandbox's own interface has been given. */
static void take_own(struct decoder *d, const json_t *addresses)
{
	json_t *address;
	struct endpoint own;
	size_t i;

	json_array_foreach ((json_t *)addresses, i, address)
		if (d->own_cnt < OWN_ADDRESSES_MAX &&
		    endpoint_of_text(json_string_value(address), 0, &own))
			d->own[d->own_cnt++] = own.addr;
}

static int take_sinkhole(struct decoder *d, json_t *object)
{
	const char *type = json_member_text(object, "type");

	if (type && !strcmp(type, "ready")) {
		d->sinkhole_ready_logged = true;
		take_own(d, json_object_get(object, "addresses"));
		return 0;
	}
	if (type && !strcmp(type, "end"))
		return 0;
	d->sinkhole_records++;
	if (json_is_true(json_object_get(object, "unsearched")))
		snprintf(d->sinkhole_reason, sizeof(d->sinkhole_reason),
			 "something was sent that could not be searched for decoys to its end");
	if (json_array_size(d->facts.sinkhole_log) < SINKHOLE_RECORDS_MAX)
		return json_array_append(d->facts.sinkhole_log, object) < 0 ? -ENOMEM : 0;
	snprintf(d->sinkhole_reason, sizeof(d->sinkhole_reason),
		 "more than %d records: the rest are not listed", SINKHOLE_RECORDS_MAX);
	return 0;
}

static int take_output(struct decoder *d, const json_t *object)
{
	const char *text = json_member_text(object, "text");
	size_t had = d->facts.output ? strlen(d->facts.output) : 0;
	size_t more = text ? strlen(text) : 0;
	char *grown;

	if (!more || had + more > OUTPUT_BYTES_MAX)
		return 0;
	grown = realloc(d->facts.output, had + more + 1);
	if (!grown)
		return -ENOMEM;
	memcpy(grown + had, text, more + 1);
	d->facts.output = grown;
	return 0;
}

/* What is said of a phase now; what it does to processes waits for its turn in time. */
static int take_phase(struct decoder *d, const struct log_record *record, const json_t *object)
{
	int phase = phase_number(json_member_text(object, "phase"));
	const char *edge = json_member_text(object, "edge");
	json_int_t t_ns = json_member_int(object, "t_ns", (json_int_t)d->last_ns);
	struct phase_state *state = &d->phases[phase];
	json_int_t pid = json_member_int(object, "pid", -1);

	if (!phase || !edge)
		return 0;
	if (pid > 0 && state->pid <= 0)
		state->pid = pid;
	if (!strcmp(edge, "begin"))
		state->begun = true;
	if (!strcmp(edge, "end")) {
		state->ended = true;
		state->rc = json_member_int(object, "rc", -1);
	}
	return order_push(d->order, (uint64_t)t_ns, LOG_RECORD_PHASE, record->payload, record->len);
}

/* Keeps the first of a kind of which there is one; a second makes the log doubtful. */
static int keep(struct decoder *d, json_t **fact, json_t *object, uint16_t type)
{
	if (*fact) {
		trace_fail(d, "a second %s record", log_record_name(type));
		return 0;
	}
	*fact = json_incref(object);
	return 0;
}

/* Said in parts as it comes to be known. */
static int merge(json_t **fact, json_t *object)
{
	if (!*fact)
		*fact = json_object();
	return json_object_update(*fact, object) < 0 ? -ENOMEM : 0;
}

static int take_object(struct decoder *d, const struct log_record *record, json_t *object)
{
	struct run_facts *facts = &d->facts;
	int r;

	switch (record->type) {
	case LOG_RECORD_PREAMBLE:
		r = facts->preamble ? 0 : take_preamble(d, object);
		return r < 0 ? r : keep(d, &facts->preamble, object, record->type);
	case LOG_RECORD_SINKHOLE:
		return take_sinkhole(d, object);
	case LOG_RECORD_RESOLVED:
		return resolved_take_json(d, object);
	case LOG_RECORD_DECOY_USE:
		return decoy_use_put(d, object);
	case LOG_RECORD_JOINED:
		return joined_put(d, object);
	case LOG_RECORD_WRITTEN:
		return bytes_take(d, object);
	case LOG_RECORD_PHASE:
		return take_phase(d, record, object);
	case LOG_RECORD_DOWNLOAD:
		return keep(d, &facts->download, object, record->type);
	case LOG_RECORD_SANDBOX:
		return merge(&facts->sandbox, object);
	case LOG_RECORD_SCAN:
		return keep(d, &facts->scan, object, record->type);
	case LOG_RECORD_LOAD:
		return keep(d, &facts->load, object, record->type);
	case LOG_RECORD_OUTPUT:
		return take_output(d, object);
	case LOG_RECORD_END:
		return keep(d, &facts->end, object, record->type);
	case LOG_RECORD_TEARDOWN:
		return keep(d, &facts->teardown, object, record->type);
	case LOG_RECORD_RULES:
		return keep(d, &facts->rules, object, record->type);
	case LOG_RECORD_ERROR:
		if (json_array_size(facts->errors) >= ERRORS_MAX)
			return 0;
		return json_array_append(facts->errors, object) < 0 ? -ENOMEM : 0;
	case LOG_RECORD_SINKHOLE_END:
		return keep(d, &facts->sinkhole_end, object, record->type);
	case LOG_RECORD_DECOYS:
		r = facts->decoys ? 0 : take_decoys(d, object);
		return r < 0 ? r : keep(d, &facts->decoys, object, record->type);
	case LOG_RECORD_TRAILER:
		d->has_trailer = true;
		return keep(d, &facts->trailer, object, record->type);
	default:
		return 0;
	}
}

int decode_record(struct decoder *d, const struct log_record *record)
{
	_cleanup_json_ json_t *object = NULL;
	json_error_t error;

	/* Of a later version: it may hold evidence that nobody here can judge. */
	if (!log_record_name(record->type)) {
		trace_fail(d, "a record of type %u, which this qp does not know", record->type);
		return 0;
	}
	if (record->type == LOG_RECORD_RESOLVED) {
		int r = resolved_take_plain(d, record);

		if (r)
			return r < 0 ? r : 0;
	}
	object = json_loadb((const char *)record->payload, record->len, JSON_REJECT_DUPLICATES,
			    &error);
	if (object && record->type == LOG_RECORD_PACKAGES && json_is_array(object))
		return keep(d, &d->facts.packages, object, record->type);
	if (!json_is_object(object) || record->type == LOG_RECORD_PACKAGES) {
		trace_fail(d, "a malformed %s record", log_record_name(record->type));
		return 0;
	}
	return take_object(d, record, object);
}
