// SPDX-License-Identifier: Apache-2.0
/*
 * The way that the kernel walks along a path's text, over the links that were made during
 * the run, and whether what lay on it is beyond doubt.
 */
#include "collector/decode_state.h"

#include <string.h>

#define FOLLOW_MAX 40 /* as the kernel's limit on links in one path */

/* Whether /proc makes the normalised @path up as a link: where to, no text tells. */
static bool is_magic_link(const char *path)
{
	static const char *const links[] = {"cwd", "root", "exe"};
	static const char *const folders[] = {"fd/", "ns/", "map_files/", "task/"};
	const char *rest;
	long pid;

	if (!strcmp(path, "/dev/fd") || !strcmp(path, "/proc/self") ||
	    !strcmp(path, "/proc/thread-self"))
		return true;
	if (!path_of_process(path, &pid, &rest))
		return false;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (!strcmp(rest, links[i]))
			return true;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strncmp(rest, folders[i], strlen(folders[i])))
			return true;
	return false;
}

/* A walk over a path's names as the kernel does it, with what is known of its links. */
struct walk {
	char *done; /* the real path so far, "" for the root */
	char *rest; /* what is still to be walked */
	size_t at;  /* in rest */
	int links;
	const struct step *step;
	struct way *way;
};

static int walk_replace(struct walk *w, const char *target)
{
	const char *left = w->rest + w->at + strspn(w->rest + w->at, "/");
	_cleanup_free_ char *rest = path_join(target, left);
	char *done;

	if (!rest)
		return -ENOMEM;
	if (target[0] == '/')
		w->done[0] = '\0';
	else
		*strrchr(w->done, '/') = '\0';
	done = realloc(w->done, strlen(w->done) + strlen(rest) + 2);
	if (!done)
		return -ENOMEM;
	w->done = done;
	free(w->rest);
	w->rest = steal_ptr(rest);
	w->at = 0;
	return 0;
}

/* Remembers that the way leads over the path so far, and thereby all that is above it. */
static int walk_note(struct walk *w)
{
	struct way *way = w->way;
	size_t len = strlen(w->done) + 1;
	char *grown = realloc(way->legs, way->legs_len + len);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + way->legs_len, w->done, len);
	way->legs = grown;
	way->legs_len += len;
	return 0;
}

static int walk_up(struct walk *w)
{
	int r = walk_note(w);

	if (r == 0 && w->done[0])
		*strrchr(w->done, '/') = '\0';
	return r;
}

/* The name that the walk has come to may be a link. */
static int walk_link(const struct decoder *d, struct walk *w)
{
	const struct symlink *link = symlink_find(d, w->done);
	struct way *way = w->way;
	int r;

	if (is_magic_link(w->done)) {
		way->through = true;
		way->settled = false;
	}
	if (!link)
		return 0;
	if (!symlink_is_settled(link, w->step))
		way->settled = false;
	else if (link->gone)
		return 0;
	way->through = true;
	way->by_package |= link->by_package;
	if (link->gone || !link->target[0]) /* the latter: what is there is not known */
		return 0;
	if (++w->links > FOLLOW_MAX) {
		way->settled = false;
		return 0;
	}
	r = walk_note(w);
	return r < 0 ? r : walk_replace(w, link->target);
}

/* Goes on by one name. 1 when none is left. */
static int walk_name(const struct decoder *d, struct walk *w, bool last_too)
{
	const char *name;
	size_t len, done = strlen(w->done);
	bool last;

	w->at += strspn(w->rest + w->at, "/");
	name = w->rest + w->at;
	len = strcspn(name, "/");
	if (!len)
		return 1;
	w->at += len;
	last = !name[len + strspn(name + len, "/")];
	if (len == 1 && name[0] == '.')
		return 0;
	if (len == 2 && name[0] == '.' && name[1] == '.')
		return walk_up(w);
	w->done[done] = '/';
	memcpy(w->done + done + 1, name, len);
	w->done[done + 1 + len] = '\0';
	return last && !last_too ? 0 : walk_link(d, w);
}

int way_find(const struct decoder *d, const struct step *step, const char *path, bool last_too,
	     struct way *ret_way)
{
	struct walk w = {.done = calloc(1, strlen(path) + 2),
			 .rest = strdup(path),
			 .step = step,
			 .way = ret_way};
	int r = w.done && w.rest ? 0 : -ENOMEM;

	*ret_way = (struct way){.through = d->symlinks_full,
				.by_package = d->symlinks_full,
				.settled = !d->symlinks_full};
	while (r == 0)
		r = walk_name(d, &w, last_too);
	if (r == 1)
		r = walk_note(&w);
	free(w.rest);
	ret_way->text = w.done;
	if (r < 0) {
		way_clear(ret_way);
		return r;
	}
	if (!w.done[0])
		strcpy(w.done, "/");
	return 0;
}

void way_clear(struct way *way)
{
	free(way->text);
	free(way->legs);
	*way = (struct way){0};
}

static bool leads_over(const struct way *way, const char *path)
{
	for (size_t at = 0; at < way->legs_len; at += strlen(way->legs + at) + 1)
		if (path_is_below(way->legs + at, path))
			return true;
	return false;
}

/* A call that has not returned may have changed names of the way already. What could not put a
 * link there, or take one away, is left out: that folders move is in the nature of files. */
static int under_way(struct decoder *d, const struct kernel_event *event, struct way *way)
{
	struct step step = {.event = event, .enter = event, .alone = true};
	bool links = false, touches = false;
	int r = 0;

	step.process = proctree_get(&d->tree, event->head.tgid);
	step.info = call_info_get(event->call.call);
	if (!step.process ||
	    (step.info->kind != QP_KIND_RENAME && step.info->kind != QP_KIND_SYMLINK &&
	     step.info->kind != QP_KIND_REMOVE && step.info->kind != QP_KIND_LINK))
		return 0;
	links = step.info->kind == QP_KIND_SYMLINK || call_exchanges(&event->call);
	for (unsigned int arg = 0; r == 0 && arg < CALL_ARGS_CNT; arg++) {
		_cleanup_(place) struct place place = {0};

		if (step.info->roles[arg] != QP_ARG_PATH)
			continue;
		r = place_of_argument(d, &step, arg, false, &place);
		if (r == 0 && place.text) {
			links |= symlink_find(d, place.text) != NULL;
			touches |= leads_over(way, place.text);
		}
	}
	if (touches && (links || way->through)) {
		way->through = true;
		way->settled = false;
	}
	return r;
}

int way_check_others(struct decoder *d, const struct step *step, struct way *way)
{
	int r = 0;

	if (step->alone || (!d->symlinks.cnt && !way->through))
		return 0;
	for (size_t i = 0; r == 0 && d->entered.cnt && i < d->entered.size; i++) {
		struct kernel_event event;

		if (entered_look(d, i, &event))
			r = under_way(d, &event, way);
	}
	return r;
}
