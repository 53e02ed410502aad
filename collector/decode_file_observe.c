// SPDX-License-Identifier: Apache-2.0
/* Observations of files. One stands for all that a process did to a path in one way. */
#include "collector/decode_state.h"

#include "base/escape.h"

#include <string.h>

/* "process kind path path2", by which doings are told apart. */
static char *seen_key(const struct process *process, enum observation_kind kind, const char *path,
		      const char *path2, size_t *ret_len)
{
	char head[32];
	int head_len = snprintf(head, sizeof(head), "%llx %x ", (unsigned long long)process->serial,
				(unsigned int)kind);
	size_t len = strlen(path) + 1, len2 = strlen(path2);
	char *key = malloc((size_t)head_len + len + len2);

	if (!key)
		return NULL;
	memcpy(key, head, (size_t)head_len);
	memcpy(key + head_len, path, len);
	memcpy(key + head_len + len, path2, len2);
	*ret_len = (size_t)head_len + len + len2;
	return key;
}

static void cut_errno(struct observation *observation)
{
	if (observation->extra)
		json_object_del(observation->extra, "errno");
}

/* A further doing of the same sort: what is uncertain stays so, what once took place did. */
static int observe_again(struct decoder *d, const struct step *step, size_t index,
			 enum observation_outcome outcome, uint8_t flags)
{
	struct observation *observation = &d->facts.observations.items[index];
	bool was_attempt = observation->outcome == OUTCOME_ATTEMPTED;

	d->notes[index].flags |= flags;
	if (observation->outcome == OUTCOME_UNDETERMINED || outcome == OUTCOME_ATTEMPTED)
		return 0;
	observation->outcome = outcome;
	cut_errno(observation);
	/* Another call than the one that failed may have been the one that succeeded. */
	return was_attempt ? observation_set(observation, "call", json_string(step->info->name))
			   : 0;
}

/* Something was made where a removed name was still found: that explains it. */
static void doubt_clear(struct decoder *d, const char *path)
{
	struct observation *observation;
	uint64_t index;

	if (!map_remove(&d->doubted, path, strlen(path), &index))
		return;
	observation = &d->facts.observations.items[index];
	observation->outcome = OUTCOME_EFFECTED;
	d->notes[index].flags &= (uint8_t)~NOTE_UNRESOLVED;
}

static int new_observation(struct decoder *d, const struct step *step, enum observation_kind kind,
			   const struct place *place, const struct place *place2,
			   enum observation_outcome outcome, uint8_t flags, size_t *ret_index)
{
	struct observation observation;
	int r = observation_begin(d, &observation, kind, step->process, step->event->head.time_ns);

	if (r < 0)
		return r;
	observation.outcome = outcome;
	if (place->text)
		observation.path = escape_bytes(place->text, strlen(place->text));
	if (place2 && place2->text)
		observation.path2 = escape_bytes(place2->text, strlen(place2->text));
	if (observation_set_call(&observation, step) < 0 || (place->text && !observation.path) ||
	    (place2 && place2->text && !observation.path2)) {
		observation_clear(&observation);
		return -ENOMEM;
	}
	if (step->event->head.type == QP_EVENT_CALL && step->event->call.flags & QP_CALL_BLOCKED)
		observation.blocked = TRISTATE_TRUE;
	return observe_take(d, &observation,
			    (struct note){.flags = flags, .phase = (uint8_t)step->process->phase},
			    ret_index);
}

/* Within the areas only so many are listed; the rest are counted. */
static int list_new(struct decoder *d, const struct step *step, enum observation_kind kind,
		    const struct place *place, const struct place *place2,
		    enum observation_outcome outcome, uint8_t flags, uint64_t *ret_seen)
{
	bool changes = kind != OBSERVATION_FILE_READ && kind != OBSERVATION_ENV_PROBE;
	bool inside = changes && place->text && in_areas(d, place->text) &&
		      (!place2 || (place2->text && in_areas(d, place2->text)));
	bool counted = inside && outcome != OUTCOME_ATTEMPTED;
	size_t index;
	int r;

	*ret_seen = 0;
	if (counted)
		d->facts.area_writes_total++;
	if (inside && d->area_listed >= AREA_LISTED_MAX) {
		d->facts.area_writes_omitted += counted;
		d->area_unresolved += flags & NOTE_UNRESOLVED ? 1 : 0;
		d->area_by_links += flags & NOTE_BY_LINKS ? 1 : 0;
		return 0;
	}
	r = new_observation(d, step, kind, place, place2, outcome, flags, &index);
	if (r < 0)
		return bounded(r);
	d->area_listed += inside;
	*ret_seen = index + 1;
	return 0;
}

static bool is_of_no_interest(const struct decoder *d, const struct step *step,
			      const struct place *place, const struct place *place2,
			      enum observation_outcome outcome)
{
	if (place->nameless)
		return true;
	/* A pointer to nowhere fails before any path is looked at. */
	if (place->fault && outcome == OUTCOME_ATTEMPTED)
		return true;
	if (step->process->actor == ACTOR_PACKAGE)
		return false;
	return place->text && in_areas(d, place->text) &&
	       (!place2 || (place2->text && in_areas(d, place2->text)));
}

/* A name that a successful removal left behind: who flips links could have done that. */
static int doubt(struct decoder *d, const struct place *place, uint64_t seen)
{
	if (!seen || !place->text)
		return 0;
	return bounded(map_put(&d->doubted, place->text, strlen(place->text), seen - 1));
}

int file_observe(struct decoder *d, const struct step *step, enum observation_kind kind,
		 const struct place *place, const struct place *place2)
{
	enum observation_outcome outcome = call_outcome(step->event);
	bool removes = kind == OBSERVATION_FILE_DELETE || kind == OBSERVATION_FILE_RENAME;
	bool doubtful = outcome == OUTCOME_EFFECTED && removes && place->certain &&
			place->was_looked_up && place->still_exists;
	const char *path = place->text ? place->text : "?";
	_cleanup_free_ char *key = NULL;
	uint64_t *present, seen = 0;
	uint8_t flags = 0;
	size_t len;
	int r = 0;

	if (outcome == OUTCOME_EFFECTED &&
	    (!place->certain || (place2 && !place2->certain) || doubtful))
		outcome = OUTCOME_UNDETERMINED;
	if (outcome != OUTCOME_ATTEMPTED) {
		if (kind == OBSERVATION_FILE_CREATE && place->text)
			doubt_clear(d, place->text);
		if (place2 && place2->text)
			doubt_clear(d, place2->text);
	}
	if (is_of_no_interest(d, step, place, place2, outcome))
		return 0;
	if (step->process->actor == ACTOR_PACKAGE &&
	    (outcome == OUTCOME_UNDETERMINED || place->cut || (place2 && place2->cut)))
		flags = NOTE_UNRESOLVED;
	if (outcome == OUTCOME_EFFECTED && step->process->actor == ACTOR_PACKAGE &&
	    (place->by_links || (place2 && place2->by_links)))
		flags |= NOTE_BY_LINKS;
	key = seen_key(step->process, kind, path, place2 && place2->text ? place2->text : "", &len);
	if (!key)
		return -ENOMEM;
	present = map_get(&d->seen, key, len);
	if (present && *present) {
		seen = *present;
		r = observe_again(d, step, seen - 1, outcome, flags);
	} else if (!present) {
		r = list_new(d, step, kind, place, place2, outcome, flags, &seen);
		if (r == 0)
			r = bounded(map_put(&d->seen, key, len, seen));
	}
	if (r == 0 && (kind == OBSERVATION_FILE_CREATE || kind == OBSERVATION_FILE_WRITE))
		r = bytes_place(d, step->process, place, seen);
	return r == 0 && doubtful ? doubt(d, place, seen) : r;
}
