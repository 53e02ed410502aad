// SPDX-License-Identifier: Apache-2.0
/*
 * The symbolic links that were made during the run, and since when each name is what it is.
 * Every call that changes names is recorded with its begin and its end: a name whose last
 * change ended before a call began, and began after the change before it had ended, was what
 * that change made of it.
 */
#include "collector/decode_state.h"

#include <string.h>

static struct symlink *symlink_get(const struct decoder *d, const char *path)
{
	uint64_t *value = map_get(&d->symlinks, path, strlen(path));

	return value ? (struct symlink *)(uintptr_t)*value : NULL;
}

const struct symlink *symlink_find(const struct decoder *d, const char *path)
{
	return symlink_get(d, path);
}

/* When the call began, 0: not known, and so before all else. */
static uint64_t began_ns(const struct step *step)
{
	return step->enter ? step->enter->head.time_ns : step->event->call.entered_ns;
}

bool symlink_is_settled(const struct symlink *link, const struct step *step)
{
	return !link->disputed && link->settled_ns < began_ns(step);
}

/* Makes the name @path a link to @target from now on. @disputed: it may be something else. */
static int name_put(struct decoder *d, const char *path, const char *target,
		    const struct step *step, bool disputed)
{
	size_t len = strlen(target) + 1;
	_cleanup_free_ struct symlink *link = malloc(sizeof(*link) + len);
	struct symlink *former = symlink_get(d, path);
	int r;

	if (!link)
		return -ENOMEM;
	*link = (struct symlink){
		.by_package =
			step->process->actor == ACTOR_PACKAGE || (former && former->by_package),
		.disputed = disputed || (former && former->settled_ns >= began_ns(step)),
		.settled_ns = step->event->head.time_ns,
	};
	memcpy(link->target, target, len);
	r = map_put(&d->symlinks, path, strlen(path), (uintptr_t)link);
	if (r == -E2BIG)
		d->symlinks_full = true;
	if (r < 0)
		return bounded(r);
	free(former);
	steal_ptr(link);
	return 0;
}

int symlink_put(struct decoder *d, const char *path, const char *target, const struct step *step)
{
	return name_put(d, path, target ? target : "", step, !target);
}

/* A link's name that something else was put in place of, or nothing. */
static void name_cleared(struct symlink *link, const struct step *step)
{
	link->disputed = link->settled_ns >= began_ns(step);
	link->gone = true;
	link->by_package |= step->process->actor == ACTOR_PACKAGE;
	link->settled_ns = step->event->head.time_ns;
}

void symlink_removed(struct decoder *d, const char *path, const struct step *step)
{
	struct symlink *link = symlink_get(d, path);

	if (link)
		name_cleared(link, step);
}

/* A moved name, known to be a link, or to have been one until a moment ago. */
static int link_moved(struct decoder *d, const char *from, const char *to, const struct step *step)
{
	struct symlink *link = symlink_get(d, from);
	_cleanup_free_ char *target = link ? strdup(link->target) : NULL;
	bool disputed = link && (link->gone || !symlink_is_settled(link, step));

	if (!target)
		return link ? -ENOMEM : 0;
	name_cleared(link, step);
	return name_put(d, to, target, step, disputed);
}

/* The next name below @folder, from the map's place *at on; NULL when there is none. */
static struct map_entry *next_below(struct decoder *d, const char *folder, size_t *at)
{
	while (*at < d->symlinks.size && d->scan_budget) {
		struct map_entry *entry = &d->symlinks.entries[(*at)++];

		d->scan_budget--;
		if (entry->key && path_is_below(entry->key, folder))
			return entry;
	}
	if (!d->scan_budget)
		d->symlinks_full = true;
	return NULL;
}

static bool is_plain(const struct symlink *link, const struct step *step)
{
	return link->gone && symlink_is_settled(link, step);
}

/* The links in a moved folder moved with it. */
static int links_below_moved(struct decoder *d, const char *from, const char *to,
			     const struct step *step)
{
	_cleanup_json_ json_t *moved = json_array();
	struct map_entry *entry;
	size_t at = 0, i;
	json_t *path;

	while ((entry = next_below(d, from, &at)))
		if (!is_plain((struct symlink *)(uintptr_t)entry->value, step) &&
		    json_array_append_new(moved, json_escaped_text(entry->key)) < 0)
			return -ENOMEM;
	json_array_foreach (moved, i, path) {
		_cleanup_json_ json_t *holder = json_pack("{s:O}", "path", path);
		_cleanup_free_ char *old = json_member_raw(holder, "path"), *new = NULL;
		int r;

		if (!old)
			return -ENOMEM;
		new = path_join(to, old + strlen(from) + 1);
		r = new ? link_moved(d, old, new, step) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

int symlink_moved(struct decoder *d, const char *from, const char *to, const struct step *step)
{
	struct symlink *link = symlink_get(d, from), *replaced = symlink_get(d, to);

	if (!d->symlinks.cnt || !from[1] || !strcmp(from, to))
		return 0;
	if (link && !is_plain(link, step))
		return link_moved(d, from, to, step);
	if (replaced)
		name_cleared(replaced, step);
	return links_below_moved(d, from, to, step);
}

/* What is at one of two names that change places, and below it, is not followed up. */
int symlink_exchanged(struct decoder *d, const char *one, const char *other,
		      const struct step *step)
{
	const char *const names[] = {one, other};
	struct map_entry *entry;
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++) {
		size_t at = 0;

		while ((entry = next_below(d, names[i], &at))) {
			struct symlink *link = (struct symlink *)(uintptr_t)entry->value;

			link->disputed = true;
			link->by_package |= step->process->actor == ACTOR_PACKAGE;
		}
		if (!symlink_get(d, names[i]))
			r = name_put(d, names[i], "", step, true);
	}
	return r;
}

int symlink_linked(struct decoder *d, const char *from, const char *to, const struct step *step)
{
	struct symlink *link = symlink_get(d, from);
	_cleanup_free_ char *target = NULL;

	if (!link || is_plain(link, step))
		return 0;
	target = strdup(link->target);
	if (!target)
		return -ENOMEM;
	return name_put(d, to, target, step, link->gone || !symlink_is_settled(link, step));
}

void symlinks_clear(struct decoder *d)
{
	for (size_t i = 0; i < d->symlinks.size; i++)
		if (d->symlinks.entries[i].key)
			free((void *)(uintptr_t)d->symlinks.entries[i].value);
	map_clear(&d->symlinks);
}
