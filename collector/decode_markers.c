// SPDX-License-Identifier: Apache-2.0
/* Each marker is true only by evidence; whatever is missing, odd or unknown makes it false. */
#include "collector/decode_markers.h"

#include <inttypes.h>
#include <string.h>

#define MISSING_MAX 64 /* of those named in a marker; all have their ids there */
#define SINKHOLE_RULE                                                                            \
	"every traced package TCP connect / DNS query that reached the redirect has a sinkhole " \
	"record (AF-4)"

/* "tcp 203.0.113.7:443 by pid 12, /usr/bin/node": what has no record. */
static json_t *missing_text(const struct observation *o)
{
	bool tcp = o->kind == OBSERVATION_NET_TCP || (o->proto && !strcmp(o->proto, "tcp"));

	return json_sprintf("%s %s by pid %" PRId64 ", %s", tcp ? "tcp" : "udp",
			    o->orig_dest ? o->orig_dest : "?", (int64_t)o->pid,
			    o->exe ? o->exe : "?");
}

static json_t *missing_texts(const struct decoder *d)
{
	json_t *texts = json_array();

	for (size_t i = 0; i < d->facts.observations.cnt && json_array_size(texts) < MISSING_MAX;
	     i++)
		if (d->notes[i].flags & NOTE_UNMATCHED)
			json_array_append_new(texts, missing_text(&d->facts.observations.items[i]));
	return texts;
}

/* ["o3", ...]: the observations with that note. */
static json_t *noted_ids(const struct decoder *d, uint8_t flag)
{
	json_t *ids = json_array();

	for (size_t i = 0; i < d->facts.observations.cnt; i++)
		if (d->notes[i].flags & flag)
			json_array_append_new(ids, json_sprintf("o%zu", i + 1));
	return ids;
}

static int set(struct decoder *d, enum marker marker, bool ok, json_t *detail)
{
	d->facts.markers[marker].ok = ok;
	d->facts.markers[marker].detail = detail;
	return detail ? 0 : -ENOMEM;
}

static void miss(json_t *missing, json_t *reasons, const char *what, const char *why)
{
	json_array_append_new(missing, json_string(what));
	json_object_set_new(reasons, what, json_string(why));
}

static void miss_beats(const struct decoder *d, json_t *missing, json_t *reasons)
{
	static const char *const edges[] = {"begin", "end"};
	bool any = false;

	for (int i = 1; i < PHASES_MAX; i++) {
		const struct phase_state *phase = &d->phases[i];

		any |= phase->begun;
		for (int edge = 0; edge < 2; edge++) {
			char what[32];

			if (phase->beat[edge] || !(phase->begun || phase->beat[0]))
				continue;
			snprintf(what, sizeof(what), "%s:%s", phase_name(i), edges[edge]);
			miss(missing, reasons, what, "no heartbeat of PID 1 in the kernel's trace");
		}
	}
	if (!any)
		miss(missing, reasons, "phases", "no phase began");
}

/* What io_submit writes, to a descriptor that may have been handed down, is not recorded. */
static void submits_check(struct decoder *d)
{
	const json_t *counters = json_object_get(d->facts.trailer, "counters");
	const json_t *calls = json_object_get(counters, "calls");
	/* The second is its number in x32, which has no row. */
	json_int_t cnt = json_member_int(calls, "io_submit", 0) +
			 json_member_int(calls, "x32_syscall_544", 0);

	if (cnt)
		trace_fail(d,
			   "io_submit was called %" JSON_INTEGER_FORMAT
			   " times, and what it writes is not recorded",
			   cnt);
}

static int heartbeat_fill(struct decoder *d)
{
	json_t *missing = json_array(), *reasons = json_object();
	/* Node asks for some at each start, so that silence means that it was not heard. */
	bool watched = json_object_get(d->facts.sandbox, "envLibraries");
	int nodes = 0;

	if (d->mode != MODE_COLLECT)
		miss_beats(d, missing, reasons);
	for (size_t i = 0; i < d->tree.cnt; i++) {
		const struct process *process = d->tree.items[i];
		char what[32];

		const char *why = NULL;

		nodes += process->ran_node;
		if (!process->ran_node || d->mode == MODE_COLLECT)
			continue;
		if (!process->has_fork)
			why = "node ran in a process whose fork was not seen";
		else if (watched && (process->node_unheard || process->node_missed))
			why = "node ran, and no read of an environment variable was seen";
		if (!why)
			continue;
		snprintf(what, sizeof(what), "pid %u", process->ns_pid);
		miss(missing, reasons, what, why);
	}
	return set(d, MARKER_HEARTBEAT, json_array_size(missing) == 0,
		   json_pack("{s:i, s:o, s:o}", "nodeProcesses", nodes, "missing", missing,
			     "reasons", reasons));
}

static int paths_fill(struct decoder *d)
{
	json_t *unresolved = noted_ids(d, NOTE_UNRESOLVED);

	if (d->area_unresolved)
		json_array_append_new(unresolved,
				      json_sprintf("%" PRIu64 " within the allowed areas that are "
						   "not among the observations",
						   d->area_unresolved));
	return set(d, MARKER_PATHS_RESOLVED, json_array_size(unresolved) == 0,
		   json_pack("{s:o}", "unresolved", unresolved));
}

/* Whether the trailer's counters balance, and with what is in the log. */
static void check_counters(struct decoder *d)
{
	const json_t *counters = json_object_get(d->facts.trailer, "counters");
	const json_t *events = json_object_get(counters, "events");
	json_int_t produced = json_member_int(events, "produced", -1);
	json_int_t delivered = json_member_int(events, "delivered", -1);
	json_int_t lost = json_member_int(events, "lost", -1);

	if (produced < 0 || delivered < 0 || lost < 0 ||
	    json_member_int(counters, "syscalls", -1) < 0)
		trace_fail(d, "the trailer has no counters");
	else if (lost)
		trace_fail(d, "%" JSON_INTEGER_FORMAT " events were lost", lost);
	else if (produced != delivered)
		trace_fail(d,
			   "%" JSON_INTEGER_FORMAT " events were produced, %" JSON_INTEGER_FORMAT
			   " delivered",
			   produced, delivered);
	else if ((uint64_t)delivered != d->events)
		trace_fail(d,
			   "%" JSON_INTEGER_FORMAT " events were delivered, %" PRIu64
			   " are in the log",
			   delivered, d->events);
}

static int trace_fill(struct decoder *d, bool whole)
{
	const json_t *counters = json_object_get(d->facts.trailer, "counters");
	uint64_t missing = sequences_missing(d->sequences);
	json_t *syscalls = json_object_get(counters, "syscalls");

	if (!whole)
		trace_fail(d, "the log is cut or damaged");
	if (!d->has_trailer)
		trace_fail(d, "the log has no trailer");
	if (d->after_trailer)
		trace_fail(d, "the log goes on after its trailer");
	if (missing)
		trace_fail(d, "%" PRIu64 " events are missing from the sequence", missing);
	if (order_late(d->order))
		trace_fail(d, "%" PRIu64 " events came too late to be put in order",
			   order_late(d->order));
	if (d->joined_late || json_is_true(json_object_get(d->facts.preamble, "joinedLate")) ||
	    json_is_true(json_object_get(d->facts.sandbox, "joinedLate")))
		trace_fail(d, "joined-late: processes ran before the trace began");
	if (d->has_trailer)
		check_counters(d);
	uring_check(d);
	submits_check(d);
	if (d->has_trailer && !json_is_true(json_object_get(d->facts.trailer, "complete")))
		trace_fail(d, "the collector did not end properly");
	return set(d, MARKER_KERNEL_TRACE, !d->trace_reason[0],
		   json_pack("{s:o, s:s}", "syscalls",
			     json_is_integer(syscalls) ? json_incref(syscalls) : json_null(),
			     "state", d->trace_reason[0] ? d->trace_reason : "complete"));
}

static int sinkhole_fill(struct decoder *d)
{
	const json_t *end = d->facts.sinkhole_end;
	bool ready = json_is_true(json_object_get(end, "ready"));
	bool flushed = json_is_true(json_object_get(end, "flushed"));
	uint64_t lines = d->sinkhole_records + d->sinkhole_ready_logged;
	json_int_t stated = json_member_int(end, "records", -1);
	json_t *unmatched, *unexplained, *detail;
	bool ok;

	if (d->mode == MODE_COLLECT)
		return set(d, MARKER_SINKHOLE_LOG, !end,
			   json_pack("{s:b, s:b}", "ready", 0, "asked", 0));
	if (!end)
		snprintf(d->sinkhole_reason, sizeof(d->sinkhole_reason), "no end of the sinkhole");
	else if (!ready || !flushed)
		snprintf(d->sinkhole_reason, sizeof(d->sinkhole_reason), "%s",
			 ready ? "the sinkhole was not flushed" : "the sinkhole was not ready");
	else if (stated < 0 || (uint64_t)stated != lines)
		snprintf(d->sinkhole_reason, sizeof(d->sinkhole_reason),
			 "the sinkhole wrote %" JSON_INTEGER_FORMAT " records, %" PRIu64
			 " are in the log",
			 stated, lines);
	unmatched = noted_ids(d, NOTE_UNMATCHED);
	unexplained = noted_ids(d, NOTE_UNEXPLAINED);
	ok = !d->sinkhole_reason[0] && !json_array_size(unmatched);
	detail = json_pack("{s:b, s:o, s:s}", "ready", ready, "unmatchedObservationIds", unmatched,
			   "rule", SINKHOLE_RULE);
	if (json_array_size(unmatched))
		json_object_set_new(detail, "missing", missing_texts(d));
	if (json_array_size(unexplained))
		json_object_set(detail, "unexplainedObservationIds", unexplained);
	json_decref(unexplained);
	if (d->sinkhole_reason[0])
		json_object_set_new(detail, "reason", json_string(d->sinkhole_reason));
	return set(d, MARKER_SINKHOLE_LOG, ok, detail);
}

static int ended_fill(struct decoder *d)
{
	const json_t *end = d->facts.end;
	const char *ended_by = json_member_text(end, "endedBy");
	json_t *detail = json_object();
	bool ok = end && ended_by && !strcmp(ended_by, "exit");

	/* Who only collects sees no end of a sandbox. */
	if (d->mode == MODE_COLLECT && !end)
		ok = true;
	else if (json_member_int(end, "exitCode", -1) != 0)
		ok = false;
	if (json_array_size(d->facts.errors)) {
		ok = false;
		json_object_set(detail, "errors", d->facts.errors);
	}
	if (!ok) {
		json_t *code = json_object_get(end, "exitCode");

		json_object_set_new(detail, "endedBy",
				    ended_by ? json_string(ended_by) : json_null());
		json_object_set_new(detail, "exitCode", code ? json_incref(code) : json_null());
	}
	return set(d, MARKER_ENDED_NORMALLY, ok, detail);
}

static bool phase_ran(const struct decoder *d, int phase, bool must_succeed, json_t *detail)
{
	const struct phase_state *state = &d->phases[phase];
	const char *name = phase_name(phase);

	if (!state->begun)
		json_object_set_new(detail, name, json_string("not begun"));
	else if (!state->ended)
		json_object_set_new(detail, name, json_string("not ended"));
	else if (must_succeed && state->rc)
		json_object_set_new(
			detail, name,
			json_sprintf("ended with status %" JSON_INTEGER_FORMAT, state->rc));
	else
		return true;
	return false;
}

static int harness_fill(struct decoder *d)
{
	static const int phases[] = {PHASE_COPY, PHASE_SCAN, PHASE_REBUILD, PHASE_HARNESS,
				     PHASE_DONE};
	json_t *detail = json_object();
	bool ok = true;

	if (d->mode != MODE_RUN) {
		json_object_set_new(detail, "asked", json_false());
		if (d->mode == MODE_EXEC) {
			ok = phase_ran(d, PHASE_COPY, true, detail);
			ok &= phase_ran(d, PHASE_RUN, false, detail);
		}
		return set(d, MARKER_HARNESS_RAN, ok, detail);
	}
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		ok &= phase_ran(d, phases[i], true, detail);
	if (!json_is_true(json_object_get(d->facts.load, "ok"))) {
		json_t *error = json_object_get(d->facts.load, "error");

		ok = false;
		json_object_set_new(detail, "load",
				    json_is_string(error) ? json_incref(error)
							  : json_string("not loaded"));
	}
	return set(d, MARKER_HARNESS_RAN, ok, detail);
}

int markers_fill(struct decoder *d, bool whole)
{
	int r = heartbeat_fill(d);

	if (r == 0)
		r = paths_fill(d);
	if (r == 0)
		r = trace_fill(d, whole);
	if (r == 0)
		r = sinkhole_fill(d);
	if (r == 0)
		r = ended_fill(d);
	return r < 0 ? r : harness_fill(d);
}
