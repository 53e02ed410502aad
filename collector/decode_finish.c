// SPDX-License-Identifier: Apache-2.0
/* What is said once the log was read to its end: the harness's load, limits, the list of
 * processes, the order and the numbers of the observations. */
#include "collector/decode_state.h"

#include "base/escape.h"
#include "collector/decode_markers.h"

#include <string.h>

#define PROCESSES_LISTED_MAX 4096
#define ORDER_KEY	     "?" /* where an observation stood before it was sorted */

static int limit_observe(struct decoder *d, const char *what)
{
	struct observation o;
	int r = observation_begin(d, &o, OBSERVATION_LIMIT, NULL, d->last_ns);

	if (r < 0)
		return r;
	o.outcome = OUTCOME_EFFECTED;
	if (observation_set(&o, "what", json_string(what)) < 0) {
		observation_clear(&o);
		return -ENOMEM;
	}
	return bounded(observe_take(d, &o, (struct note){0}, NULL));
}

static int limits_observe(struct decoder *d)
{
	const json_t *hit = json_object_get(d->facts.end, "limitsHit");
	const char *ended_by = json_member_text(d->facts.end, "endedBy");
	bool named = false;
	json_t *limit;
	size_t i;
	int r;

	json_array_foreach ((json_t *)hit, i, limit) {
		const char *what = json_string_value(limit);

		if (!what)
			continue;
		named |= ended_by && !strcmp(what, ended_by);
		r = limit_observe(d, what);
		if (r < 0)
			return r;
	}
	if (named || !ended_by ||
	    (strcmp(ended_by, "time") != 0 && strcmp(ended_by, "memory") != 0))
		return 0;
	return limit_observe(d, ended_by);
}

static int load_observe(struct decoder *d)
{
	static const char *const members[] = {"ok", "mode", "error", "resolved"};
	const struct phase_state *harness = &d->phases[PHASE_HARNESS];
	struct observation o;
	int r;

	if (!d->facts.load)
		return 0;
	r = observation_begin(d, &o, OBSERVATION_LOAD, NULL,
			      harness->end_ns ? harness->end_ns : d->last_ns);
	if (r < 0)
		return r;
	o.actor = ACTOR_HARNESS;
	if (harness->process)
		o.pid = harness->process->ns_pid;
	else if (harness->pid > 0)
		o.pid = harness->pid;
	for (size_t i = 0; r == 0 && i < sizeof(members) / sizeof(members[0]); i++) {
		json_t *value = json_object_get(d->facts.load, members[i]);

		r = observation_set(&o, members[i], value ? json_incref(value) : json_null());
	}
	if (r < 0) {
		observation_clear(&o);
		return r;
	}
	return bounded(observe_take(d, &o, (struct note){0}, NULL));
}

/* The package that was asked for: the one that the harness loaded, or the one so named. */
static int find_main_package(struct decoder *d)
{
	_cleanup_free_ char *resolved = json_member_raw(d->facts.load, "resolved"), *path = NULL;
	const json_t *asked = json_object_get(d->facts.preamble, "package");
	const char *requested = json_member_text(asked, "requested");
	json_t *package;
	size_t i;

	if (resolved) {
		path = path_join("/", resolved);
		if (!path)
			return -ENOMEM;
		d->main_package = path_package(path);
	}
	if (d->main_package || !requested)
		return 0;
	json_array_foreach (d->facts.packages, i, package) {
		const char *name = json_member_text(package, "name");
		size_t len = name ? strlen(name) : 0;

		if (!len || strncmp(requested, name, len) != 0 ||
		    (requested[len] && requested[len] != '@'))
			continue;
		d->main_package = strdup(name);
		return d->main_package ? 0 : -ENOMEM;
	}
	return 0;
}

/* Harness and package are one process, and what is loaded first is the main package. */
static int name_harness(struct decoder *d)
{
	int r = find_main_package(d);

	for (size_t i = 0; r == 0 && d->main_package && i < d->facts.observations.cnt; i++) {
		struct observation *o = &d->facts.observations.items[i];

		if (d->notes[i].phase != PHASE_HARNESS || o->package || o->actor != ACTOR_PACKAGE)
			continue;
		o->package = escape_bytes(d->main_package, strlen(d->main_package));
		r = o->package ? 0 : -ENOMEM;
	}
	return r;
}

static json_t *role_pid(const struct decoder *d, int phase)
{
	const struct phase_state *state = &d->phases[phase];

	if (state->process)
		return json_integer(state->process->ns_pid);
	return state->pid > 0 ? json_integer(state->pid) : json_null();
}

static int list_processes(struct decoder *d)
{
	json_t *list = json_array();

	d->facts.processes = list;
	d->facts.processes_total = d->tree.cnt;
	d->facts.roles = json_pack("{s:o, s:o, s:o, s:o}", "stagePid",
				   d->init_tgid ? json_integer(1) : json_null(), "npmPid",
				   role_pid(d, PHASE_REBUILD), "harnessPid",
				   role_pid(d, PHASE_HARNESS), "scanPid", role_pid(d, PHASE_SCAN));
	if (!list || !d->facts.roles)
		return -ENOMEM;
	for (size_t i = 0; i < d->tree.cnt && i < PROCESSES_LISTED_MAX; i++)
		if (json_array_append_new(list, process_json(d->tree.items[i], d->started_ns)) < 0)
			return -ENOMEM;
	return 0;
}

/* Sorts and lets each note go with its observation. */
static int sort_all(struct decoder *d)
{
	struct observations *list = &d->facts.observations;
	_cleanup_free_ struct note *notes = calloc(list->cnt + 1, sizeof(*notes));

	if (!notes)
		return -ENOMEM;
	for (size_t i = 0; i < list->cnt; i++)
		if (observation_set(&list->items[i], ORDER_KEY, json_integer((json_int_t)i)) < 0)
			return -ENOMEM;
	observations_sort(list);
	for (size_t i = 0; i < list->cnt; i++) {
		json_t *extra = list->items[i].extra;

		notes[i] = d->notes[json_member_int(extra, ORDER_KEY, 0)];
		json_object_del(extra, ORDER_KEY);
		if (json_object_size(extra))
			continue;
		json_decref(extra);
		list->items[i].extra = NULL;
	}
	free(d->notes);
	d->notes = steal_ptr(notes);
	d->notes_allocated = list->cnt + 1;
	return 0;
}

static int completeness_observe(struct decoder *d, enum marker marker)
{
	const struct marker_state *state = &d->facts.markers[marker];
	struct observation o;

	observation_init(&o);
	o.kind = OBSERVATION_COMPLETENESS;
	o.actor = ACTOR_NONE;
	o.outcome = OUTCOME_NONE;
	o.t_ns = since_start(d, d->last_ns);
	if (observation_set(&o, "marker", json_string(marker_name(marker))) < 0 ||
	    observation_set(&o, "ok", json_boolean(state->ok)) < 0 ||
	    observation_set(&o, "detail", json_incref(state->detail)) < 0) {
		observation_clear(&o);
		return -ENOMEM;
	}
	return observations_add_take(&d->facts.observations, &o);
}

/* What was certain only as long as every change of a name was known, once one was not. */
static void links_doubt(struct decoder *d)
{
	if (!d->names_doubted && !d->symlinks_full && !d->doubted.cnt)
		return;
	for (size_t i = 0; i < d->facts.observations.cnt; i++) {
		struct observation *o = &d->facts.observations.items[i];

		if (!(d->notes[i].flags & NOTE_BY_LINKS) || o->outcome != OUTCOME_EFFECTED)
			continue;
		o->outcome = OUTCOME_UNDETERMINED;
		d->notes[i].flags |= NOTE_UNRESOLVED;
	}
	d->area_unresolved += d->area_by_links;
}

int decode_finish(struct decoder *d, bool whole)
{
	int r = decode_kernel_end(d);

	links_doubt(d);
	if (r == 0)
		r = decode_net_end(d);
	if (r == 0)
		r = phase_outlived(d);
	if (r == 0)
		r = limits_observe(d);
	if (r == 0)
		r = load_observe(d);
	if (r == 0)
		r = name_harness(d);
	if (r == 0)
		r = list_processes(d);
	if (r == 0) {
		bytes_add_up(d);
		r = sort_all(d);
	}
	if (r == 0)
		r = markers_fill(d, whole);
	if (r == 0)
		r = bytes_fill(d);
	for (int i = 0; r == 0 && i < MARKER_CNT; i++)
		r = completeness_observe(d, (enum marker)i);
	return r;
}
