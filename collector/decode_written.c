// SPDX-License-Identifier: Apache-2.0
/*
 * Which files the package wrote itself in this run, and when it runs one of them. What the
 * copy phase put there was shipped, also under the new name of a link or a rename: files
 * are told by their inode, scripts, of which an exec shows only the text, by path as well.
 */
#include "collector/decode_state.h"

#include "base/escape.h"

#include <string.h>
#include <sys/stat.h>

struct inode_key {
	uint64_t ino;
	uint32_t dev;
	uint32_t pad;
};

static int put(struct decoder *d, const void *key, size_t len)
{
	int r = map_put(&d->written, key, len, 1);

	if (r == -E2BIG)
		d->written_full = true;
	return bounded(r);
}

/* Paths begin with a slash, which no inode's key of that length can be taken for. */
int written_put_path(struct decoder *d, const struct process *by, const char *path)
{
	return by->actor == ACTOR_PACKAGE ? put(d, path, strlen(path)) : 0;
}

int written_put(struct decoder *d, const struct process *by, const struct place *place)
{
	struct inode_key key = {place->path.ino, place->path.dev, 0};
	int r = 0;

	if (by->actor != ACTOR_PACKAGE || place->nameless)
		return 0;
	if (place->has_path && place->path.ino)
		r = put(d, &key, sizeof(key));
	return r < 0 || !place->text ? r : written_put_path(d, by, place->text);
}

bool written_by_package(const struct decoder *d, const struct place *place)
{
	struct inode_key key = {place->path.ino, place->path.dev, 0};

	return place->has_path && place->path.ino && map_get(&d->written, &key, sizeof(key));
}

int written_moved(struct decoder *d, const char *from, const char *to)
{
	return map_get(&d->written, from, strlen(from)) ? put(d, to, strlen(to)) : 0;
}

int brought_observe(struct decoder *d, const struct step *step, const struct place *place,
		    const char *why)
{
	struct observation observation;
	int r;

	if (step->process->actor != ACTOR_PACKAGE)
		return 0;
	r = observation_begin(d, &observation, OBSERVATION_EXEC_BROUGHT, step->process,
			      step->event->head.time_ns);
	if (r < 0)
		return r;
	observation.outcome = OUTCOME_EFFECTED;
	observation.path = escape_bytes(place->text, strlen(place->text));
	if (!observation.path || observation_set(&observation, "why", json_string(why)) < 0) {
		observation_clear(&observation);
		return -ENOMEM;
	}
	return bounded(observe_take(d, &observation,
				    (struct note){.phase = (uint8_t)step->process->phase}, NULL));
}

/* Where the script that an exec named is, by its text. */
static int script_place(struct decoder *d, const struct step *step, const char *asked,
			struct place *ret_place)
{
	_cleanup_free_ char *joined = NULL;
	_cleanup_(way) struct way way = {0};
	int r;

	*ret_place = (struct place){0};
	if (asked[0] != '/' && !step->process->cwd)
		return 0;
	joined = asked[0] == '/' ? strdup(asked) : path_join(step->process->cwd, asked);
	if (!joined)
		return -ENOMEM;
	r = way_find(d, step, joined, true, &way);
	ret_place->text = steal_ptr(way.text);
	return r;
}

/* An interpreter runs @asked. If the text does not tell, its opening of the file will. */
static int check_script(struct decoder *d, const struct step *step, const char *asked)
{
	_cleanup_(place) struct place script = {0};
	int r = script_place(d, step, asked, &script);

	if (r < 0)
		return r;
	if (script.text && map_get(&d->written, script.text, strlen(script.text)))
		return brought_observe(d, step, &script,
				       "written in this run, run by an interpreter or loader");
	step->process->script = strdup(path_is_below(asked, "/dev/fd") ? "" : path_base(asked));
	return step->process->script ? 0 : -ENOMEM;
}

/* Whether @exe is the dynamic loader, which runs the program that it is given to load. */
static bool is_loader(const char *exe)
{
	static const char *const names[] = {"ld-linux*.so.*", "ld-musl-*.so.*", "ld-*.so", "ld.so"};

	for (size_t i = 0; exe && i < sizeof(names) / sizeof(names[0]); i++)
		if (text_matches(names[i], path_base(exe)))
			return true;
	return false;
}

/* The program among a loader's arguments, or NULL: options begin with "--", and some of them
 * take the next argument. */
static const char *loaded_program(const struct process *process)
{
	static const char *const valued[] = {"--library-path",
					     "--glibc-hwcaps-prepend",
					     "--glibc-hwcaps-mask",
					     "--inhibit-rpath",
					     "--audit",
					     "--preload",
					     "--argv0"};
	const char *arg = process->argv, *end = arg + process->argv_len;
	bool is_value = true; /* the loader's own name */

	for (; arg && arg < end && memchr(arg, '\0', (size_t)(end - arg)); arg += strlen(arg) + 1) {
		if (is_value) {
			is_value = false;
			continue;
		}
		if (strncmp(arg, "--", 2) != 0)
			return arg;
		for (size_t i = 0; i < sizeof(valued) / sizeof(valued[0]); i++)
			is_value |= !strcmp(arg, valued[i]);
	}
	return NULL;
}

int brought_check_exec(struct decoder *d, const struct step *step)
{
	const struct event_field *asked_field =
		event_field_find(step->event, QP_FIELD_STRING, QP_ROLE_ASKED);
	const struct event_field *interp_field =
		event_field_find(step->event, QP_FIELD_STRING, QP_ROLE_INTERP);
	_cleanup_free_ char *asked = NULL, *interp = NULL;
	_cleanup_(place) struct place file = {0};
	int r = place_of_field(step->event, QP_ROLE_EXE, &file);

	if (r < 0)
		return r;
	free(step->process->script);
	step->process->script = NULL;
	if (file.text && (step->event->exec.flags & QP_EXEC_MEMFD ||
			  file.path.flags & (QP_PATH_DELETED | QP_PATH_NOT_A_FS)))
		return brought_observe(d, step, &file, "in no folder: memory or a deleted file");
	if (file.text &&
	    (written_by_package(d, &file) || (d->written_full && in_areas(d, file.text))))
		return brought_observe(d, step, &file, "written in this run");
	if (is_loader(file.text) && loaded_program(step->process))
		return check_script(d, step, loaded_program(step->process));
	if (!asked_field || !interp_field)
		return 0;
	asked = event_string_text(asked_field);
	interp = event_string_text(interp_field);
	if (!asked || !interp)
		return -ENOMEM;
	return strcmp(asked, interp) ? check_script(d, step, asked) : 0;
}

int brought_check_read(struct decoder *d, const struct step *step, const struct place *place)
{
	const char *script = step->process->script;

	if (!script || !place->text || !S_ISREG(place->path.mode))
		return 0;
	if (script[0] && strcmp(script, path_base(place->text)) != 0)
		return 0;
	if (!written_by_package(d, place))
		return 0;
	free(step->process->script);
	step->process->script = NULL;
	return brought_observe(d, step, place,
			       "written in this run, run by an interpreter or loader");
}
