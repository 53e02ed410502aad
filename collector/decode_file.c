// SPDX-License-Identifier: Apache-2.0
/* Changes to files. One observation stands for all that a process did to a path in one way. */
#include "collector/decode_state.h"

#include "base/escape.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define MAP_KIND_MASK 0x0f /* of mmap's flags: private, shared, shared and validated */

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
static void observe_again(struct decoder *d, size_t index, enum observation_outcome outcome,
			  uint8_t flags)
{
	struct observation *observation = &d->facts.observations.items[index];

	d->notes[index].flags |= flags;
	if (observation->outcome == OUTCOME_UNDETERMINED || outcome == OUTCOME_ATTEMPTED)
		return;
	observation->outcome = outcome;
	cut_errno(observation);
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
	return observe_take(d, &observation, (struct note){flags, (uint8_t)step->process->phase},
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
		d->area_unresolved += flags & NOTE_UNRESOLVED;
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
	key = seen_key(step->process, kind, path, place2 && place2->text ? place2->text : "", &len);
	if (!key)
		return -ENOMEM;
	present = map_get(&d->seen, key, len);
	if (present && *present) {
		seen = *present;
		observe_again(d, seen - 1, outcome, flags);
	} else if (!present) {
		r = list_new(d, step, kind, place, place2, outcome, flags, &seen);
		if (r == 0)
			r = bounded(map_put(&d->seen, key, len, seen));
	}
	return r == 0 && doubtful ? doubt(d, place, seen) : r;
}

/* The n-th path argument's number, from 0; CALL_ARGS_CNT when there is none. */
static unsigned int path_argument(const struct call_info *info, unsigned int n)
{
	for (unsigned int i = 0; i < CALL_ARGS_CNT; i++)
		if (info->roles[i] == QP_ARG_PATH && !n--)
			return i;
	return CALL_ARGS_CNT;
}

/* Whether the call acts on what a link in the path's last place leads to. */
static bool follows_last(const struct step *step)
{
	const uint64_t *args = step->event->call.args;

	switch (step->event->call.call) {
	case QP_CALL_ID_lchown:
	case QP_CALL_ID_lsetxattr:
	case QP_CALL_ID_lremovexattr:
		return false;
	case QP_CALL_ID_utimensat:
	case QP_CALL_ID_fchmodat2:
		return !(args[3] & AT_SYMLINK_NOFOLLOW);
	case QP_CALL_ID_fchownat:
		return !(args[4] & AT_SYMLINK_NOFOLLOW);
	case QP_CALL_ID_linkat:
		return args[4] & AT_SYMLINK_FOLLOW;
	default:
		return step->info->kind == QP_KIND_META || step->info->kind == QP_KIND_TRUNCATE;
	}
}

static int on_one_path(struct decoder *d, const struct step *step, enum observation_kind kind)
{
	_cleanup_(place) struct place place = {0};
	unsigned int arg = path_argument(step->info, 0);
	int r;

	if (arg == CALL_ARGS_CNT)
		r = place_of_field(step->event, 0, &place);
	else
		r = place_of_argument(d, step, arg, follows_last(step), &place);
	if (r < 0)
		return r;
	if (step->event->head.type == QP_EVENT_CALL && step->event->call.ret == 0 && place.text) {
		if (kind == OBSERVATION_FILE_DELETE)
			symlink_removed(d, place.text);
		else if (step->info->kind == QP_KIND_MKNOD || step->info->kind == QP_KIND_TRUNCATE)
			r = written_put(d, step->process, &place);
	}
	return r < 0 ? r : file_observe(d, step, kind, &place, NULL);
}

static int on_two_paths(struct decoder *d, const struct step *step, enum observation_kind kind)
{
	_cleanup_(place) struct place from = {0}, to = {0};
	bool took_place = step->event->head.type == QP_EVENT_CALL && step->event->call.ret == 0;
	int r = place_of_argument(d, step, path_argument(step->info, 0), follows_last(step), &from);

	if (r == 0)
		r = place_of_argument(d, step, path_argument(step->info, 1), false, &to);
	if (r == 0 && took_place && from.text && to.text) {
		if (kind == OBSERVATION_FILE_RENAME)
			r = symlink_moved(d, from.text, to.text, step->process);
		if (r == 0)
			r = written_moved(d, from.text, to.text);
	}
	return r < 0 ? r : file_observe(d, step, kind, &from, &to);
}

static int on_symlink(struct decoder *d, const struct step *step)
{
	const struct event_field *field = event_field_find(step->event, QP_FIELD_STRING, 0);
	_cleanup_free_ char *target = field ? event_string_text(field) : NULL;
	_cleanup_(place) struct place place = {0};
	size_t had = d->facts.observations.cnt;
	int r = place_of_argument(d, step, path_argument(step->info, 0), false, &place);

	if (r == 0 && step->event->head.type == QP_EVENT_CALL && step->event->call.ret == 0 &&
	    place.text)
		r = symlink_put(d, place.text, target ? target : "", step->process);
	if (r == 0)
		r = file_observe(d, step, OBSERVATION_FILE_CREATE, &place, NULL);
	if (r < 0 || d->facts.observations.cnt == had || !target)
		return r;
	return observation_set(&d->facts.observations.items[had], "target",
			       json_escaped_text(target));
}

/* A write through a descriptor. If the package opened the file, that was its observation. */
static int on_descriptor(struct decoder *d, const struct step *step, unsigned int arg)
{
	_cleanup_(place) struct place place = {0};
	int r = place_of_field(step->event, arg, &place);

	if (r < 0 || !place.text || place.nameless)
		return r;
	if (step->process->actor == ACTOR_PACKAGE && written_by_package(d, &place))
		return 0;
	if (step->event->call.ret >= 0) {
		r = written_put(d, step->process, &place);
		if (r < 0)
			return r;
	}
	return file_observe(d, step, OBSERVATION_FILE_WRITE, &place, NULL);
}

static unsigned int written_argument(uint32_t call)
{
	if (call == QP_CALL_ID_copy_file_range || call == QP_CALL_ID_splice)
		return 2;
	return call == QP_CALL_ID_tee ? 1 : 0;
}

static int on_write(struct decoder *d, const struct step *step)
{
	unsigned int arg = written_argument(step->event->call.call);

	if (event_field_find(step->event, QP_FIELD_SOCK, arg))
		return decode_net_call(d, step);
	return on_descriptor(d, step, arg);
}

static int on_mmap(struct decoder *d, const struct step *step)
{
	const uint64_t *args = step->event->call.args;
	_cleanup_(place) struct place place = {0};
	bool shared = (args[3] & MAP_KIND_MASK) != MAP_PRIVATE;
	int r;

	/* The old call of i386 passes its arguments in memory. */
	if (step->event->call.call != QP_CALL_ID_mmap || !shared ||
	    step->event->call.abi == QP_ABI_I386)
		return 0;
	if (args[2] & PROT_EXEC && args[2] & PROT_WRITE && step->event->call.ret >= 0) {
		r = place_of_field(step->event, 4, &place);
		if (r == 0 && place.text)
			r = brought_observe(d, step, &place, "mapped writable and executable");
		if (r < 0)
			return r;
	}
	return args[2] & PROT_WRITE ? on_descriptor(d, step, 4) : 0;
}

int decode_file_call(struct decoder *d, const struct step *step)
{
	switch (step->info->kind) {
	case QP_KIND_REMOVE:
		return on_one_path(d, step, OBSERVATION_FILE_DELETE);
	case QP_KIND_RENAME:
		return on_two_paths(d, step, OBSERVATION_FILE_RENAME);
	case QP_KIND_LINK:
		return on_two_paths(d, step, OBSERVATION_FILE_LINK);
	case QP_KIND_SYMLINK:
		return on_symlink(d, step);
	case QP_KIND_MKDIR:
		/* What makes folders in a row asks for those that are there, "/home" too. */
		if (step->event->call.ret == -EEXIST)
			return 0;
		return on_one_path(d, step, OBSERVATION_FILE_CREATE);
	case QP_KIND_MKNOD:
		return on_one_path(d, step, OBSERVATION_FILE_CREATE);
	case QP_KIND_META:
		return on_one_path(d, step, OBSERVATION_FILE_META);
	case QP_KIND_TRUNCATE:
		if (step->info->roles[0] == QP_ARG_FD)
			return on_descriptor(d, step, 0);
		return on_one_path(d, step, OBSERVATION_FILE_WRITE);
	case QP_KIND_WRITE:
		return on_write(d, step);
	case QP_KIND_MMAP:
		return on_mmap(d, step);
	default:
		return 0;
	}
}

int decode_enter_alone(struct decoder *d, const struct step *step)
{
	switch (step->info->kind) {
	case QP_KIND_REMOVE:
	case QP_KIND_RENAME:
	case QP_KIND_LINK:
	case QP_KIND_SYMLINK:
	case QP_KIND_MKDIR:
	case QP_KIND_MKNOD:
	case QP_KIND_META:
	case QP_KIND_TRUNCATE:
		return decode_file_call(d, step);
	case QP_KIND_TAMPER:
		return decode_tamper(d, step);
	default:
		return 0;
	}
}
