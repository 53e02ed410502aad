// SPDX-License-Identifier: Apache-2.0
/*
 * The symbolic links that were made during the run. A path whose text leads over one of
 * them may have led elsewhere a moment before or after.
 */
#include "collector/decode_state.h"

#include <string.h>

#define FOLLOW_MAX 40 /* as the kernel's limit on links in one path */

struct symlink {
	bool by_package;
	bool gone; /* was removed, but might be put back by who made it */
	char target[];
};

static struct symlink *symlink_get(const struct decoder *d, const char *path, size_t len)
{
	uint64_t *value = map_get(&d->symlinks, path, len);

	return value ? (struct symlink *)(uintptr_t)*value : NULL;
}

int symlink_put(struct decoder *d, const char *path, const char *target, const struct process *by)
{
	size_t len = strlen(target) + 1;
	_cleanup_free_ struct symlink *link = malloc(sizeof(*link) + len);
	struct symlink *former = symlink_get(d, path, strlen(path));
	int r;

	if (!link)
		return -ENOMEM;
	*link = (struct symlink){.by_package = by->actor == ACTOR_PACKAGE ||
					       (former && former->by_package)};
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

/* A moved link, known to be one. */
static int link_moved(struct decoder *d, struct symlink *link, const char *from, const char *to,
		      const struct process *by)
{
	_cleanup_free_ char *target = strdup(link->target);

	if (!target)
		return -ENOMEM;
	symlink_removed(d, from);
	return symlink_put(d, to, target, by);
}

/* The next link below @folder, from the map's place *at on; NULL when there is none. */
static struct map_entry *next_below(struct decoder *d, const char *folder, size_t *at)
{
	while (*at < d->symlinks.size && d->scan_budget) {
		struct map_entry *entry = &d->symlinks.entries[(*at)++];

		d->scan_budget--;
		if (entry->key && path_is_below(entry->key, folder))
			return entry;
	}
	return NULL;
}

/* The links in a moved folder moved with it. */
static int links_below_moved(struct decoder *d, const char *from, const char *to,
			     const struct process *by)
{
	_cleanup_json_ json_t *moved = json_array();
	struct map_entry *entry;
	size_t at = 0, i;
	json_t *path;

	while ((entry = next_below(d, from, &at)))
		if (json_array_append_new(moved, json_escaped_text(entry->key)) < 0)
			return -ENOMEM;
	if (!d->scan_budget)
		d->symlinks_full = true;
	json_array_foreach (moved, i, path) {
		_cleanup_json_ json_t *holder = json_pack("{s:O}", "path", path);
		_cleanup_free_ char *old = json_member_raw(holder, "path"), *new = NULL;
		struct symlink *link = old ? symlink_get(d, old, strlen(old)) : NULL;
		int r;

		if (!link || link->gone)
			continue;
		new = path_join(to, old + strlen(from) + 1);
		r = new ? link_moved(d, link, old, new, by) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

int symlink_moved(struct decoder *d, const char *from, const char *to, const struct process *by)
{
	struct symlink *link = symlink_get(d, from, strlen(from));

	if (!d->symlinks.cnt || !from[1])
		return 0;
	if (!link)
		return links_below_moved(d, from, to, by);
	return link->gone ? 0 : link_moved(d, link, from, to, by);
}

void symlink_removed(struct decoder *d, const char *path)
{
	struct symlink *link = symlink_get(d, path, strlen(path));

	if (!link)
		return;
	if (link->by_package) {
		link->gone = true;
		return;
	}
	map_remove(&d->symlinks, path, strlen(path), NULL);
	free(link);
}

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

/* Goes on by one name. 1 when none is left. */
static int walk_name(const struct decoder *d, struct walk *w, bool last_too, bool *ret_through,
		     bool *ret_by_package)
{
	const char *name;
	size_t len, done = strlen(w->done);
	struct symlink *link;
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
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		if (done)
			*strrchr(w->done, '/') = '\0';
		return 0;
	}
	w->done[done] = '/';
	memcpy(w->done + done + 1, name, len);
	w->done[done + 1 + len] = '\0';
	if (last && !last_too)
		return 0;
	if (is_magic_link(w->done))
		*ret_through = true;
	link = symlink_get(d, w->done, done + 1 + len);
	if (!link)
		return 0;
	*ret_through = true;
	*ret_by_package |= link->by_package;
	return link->gone || ++w->links > FOLLOW_MAX ? 0 : walk_replace(w, link->target);
}

int symlink_follow(const struct decoder *d, const char *path, bool last_too, char **ret_path,
		   bool *ret_through, bool *ret_by_package)
{
	struct walk w = {.done = calloc(1, strlen(path) + 2), .rest = strdup(path)};
	int r = w.done && w.rest ? 0 : -ENOMEM;

	*ret_through = *ret_by_package = d->symlinks_full;
	while (r == 0)
		r = walk_name(d, &w, last_too, ret_through, ret_by_package);
	free(w.rest);
	if (r < 0) {
		free(w.done);
		return r;
	}
	if (!w.done[0])
		strcpy(w.done, "/");
	*ret_path = w.done;
	return 0;
}

void symlinks_clear(struct decoder *d)
{
	for (size_t i = 0; i < d->symlinks.size; i++)
		if (d->symlinks.entries[i].key)
			free((void *)(uintptr_t)d->symlinks.entries[i].value);
	map_clear(&d->symlinks);
}
