// SPDX-License-Identifier: Apache-2.0
/* Calls that change files: which paths they name, and what follows from them. */
#include "collector/decode_state.h"

#include <string.h>
#include <sys/mman.h>

#define MAP_KIND_MASK 0x0f /* of mmap's flags: private, shared, shared and validated */

/* The n-th path argument's number, from 0; CALL_ARGS_CNT when there is none. */
static unsigned int path_argument(const struct call_info *info, unsigned int n)
{
	for (unsigned int i = 0; i < CALL_ARGS_CNT; i++)
		if (info->roles[i] == QP_ARG_PATH && !n--)
			return i;
	return CALL_ARGS_CNT;
}

static bool took_place(const struct step *step)
{
	return step->event->head.type == QP_EVENT_CALL && step->event->call.ret == 0;
}

/* Names were changed, or may have been; where that is in doubt, any of them may be another. */
static void names_changed(struct decoder *d, const struct step *step, const struct place *place,
			  const struct place *place2)
{
	if (call_outcome(step->event) == OUTCOME_ATTEMPTED)
		return;
	if (!took_place(step) || !place->certain || (place2 && !place2->certain))
		d->names_doubted = true;
}

static int on_one_path(struct decoder *d, const struct step *step, enum observation_kind kind)
{
	_cleanup_(place) struct place place = {0};
	unsigned int arg = path_argument(step->info, 0);
	int r;

	if (arg == CALL_ARGS_CNT)
		r = place_of_field(step->event, 0, &place);
	else
		r = place_of_argument(d, step, arg, call_follows_last(&step->event->call), &place);
	if (r < 0)
		return r;
	if (kind == OBSERVATION_FILE_DELETE)
		names_changed(d, step, &place, NULL);
	if (took_place(step) && place.text) {
		if (kind == OBSERVATION_FILE_DELETE)
			symlink_removed(d, place.text, step);
		else if (step->info->kind == QP_KIND_MKNOD || step->info->kind == QP_KIND_TRUNCATE)
			r = written_put(d, step->process, &place);
	}
	return r < 0 ? r : file_observe(d, step, kind, &place, NULL);
}

static int two_names_changed(struct decoder *d, const struct step *step, const struct place *from,
			     const struct place *to)
{
	int r = 0;

	if (step->info->kind == QP_KIND_LINK)
		r = symlink_linked(d, from->text, to->text, step);
	else if (call_exchanges(&step->event->call))
		r = symlink_exchanged(d, from->text, to->text, step);
	else
		r = symlink_moved(d, from->text, to->text, step);
	return r < 0 ? r : written_moved(d, from->text, to->text);
}

static int on_two_paths(struct decoder *d, const struct step *step, enum observation_kind kind)
{
	_cleanup_(place) struct place from = {0}, to = {0};
	int r = place_of_argument(d, step, path_argument(step->info, 0),
				  call_follows_last(&step->event->call), &from);

	if (r == 0)
		r = place_of_argument(d, step, path_argument(step->info, 1), false, &to);
	if (r == 0)
		names_changed(d, step, &from, &to);
	if (r == 0 && took_place(step) && from.text && to.text)
		r = two_names_changed(d, step, &from, &to);
	return r < 0 ? r : file_observe(d, step, kind, &from, &to);
}

/* The text that a link was given, NULL unless it was the same before and after the call. */
static char *symlink_target(const struct step *step)
{
	const struct event_field *at_exit = event_field_find(step->event, QP_FIELD_STRING, 0);
	const struct event_field *at_enter =
		step->enter ? event_field_find(step->enter, QP_FIELD_STRING, 0) : NULL;

	if (!at_exit || at_exit->flags || !at_enter || at_enter->flags ||
	    at_exit->len != at_enter->len ||
	    memcmp(at_exit->data, at_enter->data, at_exit->len) != 0)
		return NULL;
	return event_string_text(at_exit);
}

static int on_symlink(struct decoder *d, const struct step *step)
{
	const struct event_field *field = event_field_find(step->event, QP_FIELD_STRING, 0);
	_cleanup_free_ char *target = field ? event_string_text(field) : NULL;
	_cleanup_free_ char *certain = symlink_target(step);
	_cleanup_(place) struct place place = {0};
	size_t had = d->facts.observations.cnt;
	int r = place_of_argument(d, step, path_argument(step->info, 0), false, &place);

	if (r == 0)
		names_changed(d, step, &place, NULL);
	if (r == 0 && took_place(step) && place.text)
		r = symlink_put(d, place.text, certain, step);
	if (r == 0)
		r = file_observe(d, step, OBSERVATION_FILE_CREATE, &place, NULL);
	if (r < 0 || d->facts.observations.cnt == had || !target)
		return r;
	return observation_set(&d->facts.observations.items[had], "target",
			       json_escaped_text(target));
}

/* A change through a descriptor. If the package opened the file, that was its observation. */
static int change_observe(struct decoder *d, const struct step *step, const struct place *place)
{
	int r = 0;

	if (step->process->actor == ACTOR_PACKAGE && written_by_package(d, place))
		return 0;
	if (step->event->call.ret >= 0)
		r = written_put(d, step->process, place);
	return r < 0 ? r : file_observe(d, step, OBSERVATION_FILE_WRITE, place, NULL);
}

static int on_descriptor(struct decoder *d, const struct step *step, unsigned int arg)
{
	_cleanup_(place) struct place place = {0};
	int r = place_of_field(step->event, arg, &place);

	if (r < 0 || !place.text || place.nameless)
		return r;
	r = change_observe(d, step, &place);
	if (r < 0 || step->event->call.ret < 0)
		return r;
	if (step->info->kind == QP_KIND_MMAP)
		bytes_unknown(d, step->process, &place);
	return bytes_write(d, step, &place);
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
	if (args[2] & PROT_WRITE)
		return on_descriptor(d, step, 4);
	/* It can be made writable later. */
	r = place_of_field(step->event, 4, &place);
	if (r == 0)
		bytes_unknown(d, step->process, &place);
	return r;
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
	if (!step->info->by_path)
		return 0;
	return step->info->kind == QP_KIND_TAMPER ? decode_tamper(d, step)
						  : decode_file_call(d, step);
}
