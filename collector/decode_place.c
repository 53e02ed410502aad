// SPDX-License-Identifier: Apache-2.0
/*
 * Where a call acted. What the kernel told of a file is certain, and so is what it told, in
 * the kernel-object tier, of the object of a call by path. A path that was only a text is
 * taken from the collector's look at the file system right after the call, else from the
 * text itself; and it is certain only if the text was the same before and after, and what
 * links of this run lay on its way is beyond doubt.
 */
#include "collector/decode_state.h"

#include <fcntl.h>
#include <string.h>

struct resolved {
	bool exists;
	bool found; /* false: it could not be looked up */
	char path[];
};

struct resolved_key {
	uint64_t seq;
	uint32_t cpu;
	uint32_t role;
};

void place_clear(struct place *place)
{
	free(place->text);
	place->text = NULL;
}

int resolved_put(struct decoder *d, const struct resolved_record *record)
{
	struct resolved_key key = {.seq = (uint64_t)record->seq,
				   .cpu = (uint32_t)record->cpu,
				   .role = (uint32_t)record->role};
	_cleanup_free_ struct resolved *resolved = NULL;
	int r;

	if (record->role < 0 || record->role >= CALL_ARGS_CNT ||
	    map_get(&d->resolved, &key, sizeof(key)))
		return 0;
	resolved = malloc(sizeof(*resolved) + record->path_len + 1);
	if (!resolved)
		return -ENOMEM;
	resolved->exists = record->exists;
	resolved->found = record->path_len && record->path[0] == '/';
	if (record->path_len)
		memcpy(resolved->path, record->path, record->path_len);
	resolved->path[record->path_len] = '\0';
	r = map_put(&d->resolved, &key, sizeof(key), (uintptr_t)resolved);
	if (r == 0)
		steal_ptr(resolved);
	return bounded(r);
}

static const struct resolved *resolved_get(const struct decoder *d,
					   const struct kernel_event *event, unsigned int role)
{
	struct resolved_key key = {event->head.seq, event->head.cpu, role};
	uint64_t *value = map_get(&d->resolved, &key, sizeof(key));

	return value ? (const struct resolved *)(uintptr_t)*value : NULL;
}

void resolved_drop(struct decoder *d, const struct step *step)
{
	const struct qp_event *head = &step->event->head;

	for (unsigned int role = 0; role < CALL_ARGS_CNT && d->resolved.cnt; role++) {
		struct resolved_key key = {head->seq, head->cpu, role};
		uint64_t value;

		if (step->info->roles[role] == QP_ARG_PATH &&
		    map_remove(&d->resolved, &key, sizeof(key), &value))
			free((void *)(uintptr_t)value);
	}
}

int place_of_field(const struct kernel_event *event, unsigned int role, struct place *ret_place)
{
	const struct event_field *field = event_field_find(event, QP_FIELD_PATH, role);

	*ret_place = (struct place){0};
	if (!field)
		return 0;
	ret_place->path = event_path(field);
	ret_place->has_path = true;
	ret_place->text = event_path_text(field);
	if (!ret_place->text)
		return -ENOMEM;
	ret_place->nameless = ret_place->path.flags & QP_PATH_NOT_A_FS;
	ret_place->cut = field->flags || ret_place->path.flags & QP_PATH_TRUNCATED;
	ret_place->certain =
		!ret_place->cut && !(ret_place->path.flags & (QP_PATH_DETACHED | QP_PATH_OTHER_NS));
	return 0;
}

/* What is known of one path argument before it is put together. */
struct argument {
	char *string, *base, *root; /* raw; NULL: not known */
	bool changed;		    /* between entry and exit */
	bool cut, fault, base_certain;
	bool own; /* the text began with the working directory's or a descriptor's link */
};

static void cleanup_argument(struct argument *a)
{
	free(a->string);
	free(a->base);
	free(a->root);
}

static bool is_readable(const struct event_field *field)
{
	return field && !(field->flags & QP_FIELD_FAULT);
}

static int argument_string(const struct step *step, unsigned int arg, struct argument *a)
{
	const struct event_field *at_exit = event_field_find(step->event, QP_FIELD_STRING, arg);
	const struct event_field *at_enter =
		step->enter ? event_field_find(step->enter, QP_FIELD_STRING, arg) : NULL;
	const struct event_field *field = is_readable(at_enter) ? at_enter : at_exit;

	if (!is_readable(field)) {
		a->fault = at_exit || at_enter;
		return 0;
	}
	if (is_readable(at_enter) && at_exit)
		a->changed = !is_readable(at_exit) || at_enter->len != at_exit->len ||
			     memcmp(at_enter->data, at_exit->data, at_enter->len) != 0;
	a->cut = field->flags & QP_FIELD_TRUNCATED;
	a->string = event_string_text(field);
	return a->string ? 0 : -ENOMEM;
}

static const struct event_field *either_path(const struct step *step, unsigned int role)
{
	const struct event_field *field =
		step->enter ? event_field_find(step->enter, QP_FIELD_PATH, role) : NULL;

	return field ? field : event_field_find(step->event, QP_FIELD_PATH, role);
}

static int take_base(struct argument *a, const struct event_field *field)
{
	struct qp_path path = event_path(field);

	free(a->base);
	a->base = event_path_text(field);
	a->base_certain = !field->flags && !(path.flags & (QP_PATH_TRUNCATED | QP_PATH_DETACHED |
							   QP_PATH_NOT_A_FS | QP_PATH_OTHER_NS));
	return a->base ? 0 : -ENOMEM;
}

static int argument_base(const struct step *step, unsigned int arg, struct argument *a)
{
	const struct event_field *root = either_path(step, QP_ROLE_ROOT), *field;
	bool dirfd = arg && step->info->roles[arg - 1] == QP_ARG_DIRFD &&
		     (int32_t)step->event->call.args[arg - 1] != AT_FDCWD;

	if (root) {
		a->root = event_path_text(root);
		if (!a->root)
			return -ENOMEM;
	}
	field = either_path(step, dirfd ? arg - 1 : QP_ROLE_CWD);
	if (field)
		return take_base(a, field);
	if (!dirfd && step->process->cwd) {
		a->base = strdup(step->process->cwd);
		return a->base ? 0 : -ENOMEM;
	}
	return 0;
}

static bool is_same_file(const struct event_field *one, const struct event_field *other)
{
	struct qp_path a = event_path(one), b = event_path(other);

	return a.ino == b.ino && a.dev == b.dev;
}

/*
 * A text that begins with a link to something of the caller's own starts there. The link
 * itself is what is meant where no more follows and the call does not follow it.
 */
static int argument_own(const struct step *step, unsigned int arg, bool follow, struct argument *a)
{
	unsigned int role = QP_ROLE_CWD;
	const struct event_field *field, *at_exit;
	const char *rest = NULL;
	enum own_link link = a->string ? path_own_link(a->string, &rest) : OWN_LINK_NONE;

	if (link == OWN_LINK_NONE || (!*rest && !follow))
		return 0;
	if (link == OWN_LINK_FD)
		role = QP_ROLE_NAMED + arg;
	field = either_path(step, role);
	if (!field)
		return 0;
	at_exit = event_field_find(step->event, QP_FIELD_PATH, role);
	if (link == OWN_LINK_FD && at_exit && !is_same_file(field, at_exit))
		a->changed = true;
	a->own = true;
	memmove(a->string, rest, strlen(rest) + 1);
	return take_base(a, field);
}

/* The text as an absolute path of the mount namespace; NULL in *ret_text when unknown. */
static int argument_text(const struct argument *a, char **ret_text)
{
	*ret_text = NULL;
	if (a->string && a->string[0] == '/' && a->root) {
		_cleanup_free_ char *inside = path_normalise(a->string);

		/* ".." at a changed root stays there. */
		*ret_text = inside ? path_join(a->root, inside + 1) : NULL;
	} else if (a->string && a->string[0] == '/') {
		*ret_text = strdup(a->string);
	} else if (a->base) {
		*ret_text = path_join(a->base, a->string ? a->string : "");
	} else {
		return 0;
	}
	return *ret_text ? 0 : -ENOMEM;
}

/* A null pointer, or an empty text: the descriptor itself is meant. */
static bool names_descriptor(const struct step *step, unsigned int arg, const struct argument *a)
{
	bool dirfd = arg && step->info->roles[arg - 1] == QP_ARG_DIRFD;

	if (!dirfd)
		return false;
	return a->string ? !a->string[0] : !step->event->call.args[arg];
}

/* An empty text where the call wants a path: the kernel looked no further. What it says of a
 * descriptor that one may not link is the same. */
static bool names_nothing(const struct step *step, const struct argument *a)
{
	const struct qp_call *call = &step->event->call;

	if (call->call == QP_CALL_ID_linkat && call->args[4] & AT_EMPTY_PATH)
		return false;
	return a->string && !a->string[0] && step->event->head.type == QP_EVENT_CALL &&
	       call->ret == -ENOENT;
}

/* The file of the descriptor, or the folder, whose link in /proc was the whole text. */
static int place_of_own(const struct step *step, unsigned int arg, const struct argument *a,
			struct place *place)
{
	bool fd = either_path(step, QP_ROLE_NAMED + arg);
	unsigned int role = fd ? QP_ROLE_NAMED + arg : QP_ROLE_CWD;
	bool at_exit = event_field_find(step->event, QP_FIELD_PATH, role);
	int r = place_of_field(at_exit ? step->event : step->enter, role, place);

	place->certain &= !a->changed && !a->cut;
	return r;
}

/*
 * Links of the package's own making could have been others for a moment: they count as long
 * as the log leaves no room for that, and the collector found nothing else.
 */
static int place_of_text(struct decoder *d, const struct step *step, unsigned int arg, bool follow,
			 const struct argument *a, struct place *place)
{
	const struct resolved *resolved = resolved_get(d, step->event, arg);
	bool sound = !a->changed && !a->cut, found = resolved && resolved->found;
	_cleanup_(way) struct way way = {.settled = true};
	_cleanup_free_ char *text = NULL;
	bool agrees;
	int r = argument_text(a, &text);

	if (r == 0 && text)
		r = way_find(d, step, text, follow, &way);
	if (r == 0 && text)
		r = way_check_others(d, step, &way);
	if (r < 0)
		return r;
	/* Where a link leads from a changed root is not worked out. */
	if (a->root && d->symlinks.cnt && (way.through || strstr(a->string, "..")))
		way.settled = false;
	place->text = steal_ptr(way.text);
	place->certain = text && sound && way.settled && (a->base_certain || a->string[0] == '/');
	place->by_links = place->certain && way.through;
	if (!resolved)
		return 0;
	place->was_looked_up = true;
	place->still_exists = resolved->exists;
	if (!found)
		return 0;
	way.text = steal_ptr(place->text);
	place->text = path_normalise(resolved->path);
	if (!place->text)
		return -ENOMEM;
	agrees = way.text && !strcmp(way.text, place->text);
	place->certain = text && sound && (!way.by_package || (way.settled && agrees));
	place->by_links = place->certain && way.by_package;
	return 0;
}

int place_of_argument(struct decoder *d, const struct step *step, unsigned int arg, bool follow,
		      struct place *ret_place)
{
	__attribute__((cleanup(cleanup_argument))) struct argument a = {0};
	int r;

	/* A kernel that tells the object itself leaves nothing to work out. Its inode is left
	 * out, which the text of the other tier does not tell either. */
	if (step->object && event_field_find(step->object, QP_FIELD_PATH, arg)) {
		r = place_of_field(step->object, arg, ret_place);
		ret_place->has_path = false;
		return r;
	}
	*ret_place = (struct place){0};
	r = argument_string(step, arg, &a);
	if (r == 0)
		r = argument_base(step, arg, &a);
	if (r == 0)
		r = argument_own(step, arg, follow, &a);
	if (r < 0)
		return r;
	if (a.own && !*a.string)
		return place_of_own(step, arg, &a, ret_place);
	if (names_nothing(step, &a)) {
		ret_place->text = strdup("");
		return ret_place->text ? 0 : -ENOMEM;
	}
	if (names_descriptor(step, arg, &a) && either_path(step, arg - 1)) {
		bool at_exit = event_field_find(step->event, QP_FIELD_PATH, arg - 1);

		return place_of_field(at_exit ? step->event : step->enter, arg - 1, ret_place);
	}
	ret_place->cut = a.cut;
	ret_place->fault = a.fault;
	if (!a.string)
		return 0;
	return place_of_text(d, step, arg, follow, &a, ret_place);
}
