// SPDX-License-Identifier: Apache-2.0
/* Which paths of a record are to be looked up, and the `resolved` records of them. */
#include "collector/resolve.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "collector/decode_call.h"
#include "collector/decode_text.h"
#include "collector/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE (2 * QP_PATH_BYTES_MAX + 8) /* a folder, a slash, a string */

/* A call whose paths are looked up. */
struct lookup {
	const struct qp_event *event;
	const struct qp_event *enter;
	const struct qp_call *call;
	const struct call_info *info;
};

static uint64_t open_flags(const struct lookup *l)
{
	const struct qp_field *how = event_find(l->event, sizeof(*l->call), QP_FIELD_PAYLOAD, 2);

	return call_open_flags(l->call, how ? how + 1 : NULL, how ? how->len : 0);
}

/* What acts by path, and an open that failed and would have changed something. */
static bool is_wanted(const struct lookup *l)
{
	uint64_t flags;

	if (l->info->kind != QP_KIND_OPEN)
		return l->info->by_path && l->info->kind != QP_KIND_CHDIR;
	flags = open_flags(l);
	return l->call->ret < 0 && ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC));
}

/* Whether the call acts on what a symlink in the path's last place leads to. */
static bool follows(const struct lookup *l)
{
	if (l->info->kind == QP_KIND_OPEN)
		return !(open_flags(l) & O_NOFOLLOW);
	return call_follows_last(l->call);
}

/* The names of a path field from the root to the leaf; -errno when they are not all of it. */
static int path_text(const struct qp_field *field, char *buf, size_t size)
{
	const struct qp_path *path = (const struct qp_path *)(field + 1);
	const char *names = (const char *)(path + 1);
	size_t len, pos = 0;

	if (field->len < sizeof(*path) || field->flags ||
	    path->flags & (QP_PATH_TRUNCATED | QP_PATH_DELETED | QP_PATH_DETACHED))
		return -ESTALE;
	len = field->len - sizeof(*path);
	if (len && names[len - 1])
		return -EBADMSG;
	while (len) {
		size_t end = len - 1;

		for (len = end; len && names[len - 1];)
			len--;
		if (pos + 1 + (end - len) >= size)
			return -ENAMETOOLONG;
		buf[pos++] = '/';
		memcpy(buf + pos, names + len, end - len);
		pos += end - len;
	}
	buf[pos] = '\0';
	return 0;
}

/* The text of argument @arg: at the exit it can be read where the entry could not. */
static const struct qp_field *string_of(const struct lookup *l, unsigned int arg)
{
	const struct qp_field *field = NULL;

	if (l->enter)
		field = event_find(l->enter, sizeof(*l->call), QP_FIELD_STRING, arg);
	if (!field || field->flags & QP_FIELD_FAULT)
		field = event_find(l->event, sizeof(*l->call), QP_FIELD_STRING, arg);
	return field;
}

/* The folder that argument @arg is relative to, as a path field. */
static const struct qp_field *base_of(const struct lookup *l, unsigned int arg)
{
	const struct qp_event *from = l->enter ? l->enter : l->event;
	unsigned int role = QP_ROLE_CWD;

	if (arg && l->info->roles[arg - 1] == QP_ARG_DIRFD &&
	    (int)l->call->args[arg - 1] != AT_FDCWD)
		role = arg - 1;
	return event_find(from, sizeof(*l->call), QP_FIELD_PATH, role);
}

/* The path of the task's root where it is not its mount namespace's, else "". */
static int root_of(const struct lookup *l, char *buf, size_t size)
{
	const struct qp_event *from = l->enter ? l->enter : l->event;
	const struct qp_field *field =
		event_find(from, sizeof(*l->call), QP_FIELD_PATH, QP_ROLE_ROOT);

	buf[0] = '\0';
	return field ? path_text(field, buf, size) : 0;
}

/* Takes @root off @text, for the lookup starts there. */
static int strip_root(char *text, const char *root)
{
	size_t len = strlen(root);

	if (strncmp(text, root, len) != 0 || (text[len] && text[len] != '/'))
		return -EXDEV;
	memmove(text, text + len, strlen(text + len) + 1);
	return 0;
}

static bool is_single_name(const char *text, size_t len)
{
	return len && !memchr(text, '/', len) && !(len == 1 && text[0] == '.') &&
	       !(len == 2 && text[0] == '.' && text[1] == '.');
}

/*
 * What the text of argument @arg starts from, NULL: the root. *text goes on to what follows a
 * link to the task's own, as the decoder has it.
 */
static const struct qp_field *start_of(const struct lookup *l, unsigned int arg, const char **text)
{
	const struct qp_event *from = l->enter ? l->enter : l->event;
	const struct qp_field *base;
	enum own_link link;
	const char *rest;

	if (**text != '/')
		return base_of(l, arg);
	link = path_own_link(*text, &rest);
	if (link == OWN_LINK_NONE || (!*rest && !follows(l)))
		return NULL;
	base = event_find(from, sizeof(*l->call), QP_FIELD_PATH,
			  link == OWN_LINK_CWD ? QP_ROLE_CWD : QP_ROLE_NAMED + arg);
	if (base)
		*text = rest;
	return base;
}

/*
 * The whole text to look up for argument @arg, beneath the task's root. *ret_certain: the
 * folder is one that the kernel named, so that the text is the path wherever it leads by
 * now.
 */
static int text_of(const struct lookup *l, unsigned int arg, const char *root, char *buf,
		   size_t size, bool *ret_certain)
{
	const struct qp_field *string = string_of(l, arg), *base;
	char whole[QP_PATH_BYTES_MAX + 1];
	const char *text = whole;
	size_t len = 0;
	int rc;

	*ret_certain = false;
	if (!string || string->flags)
		return string && string->flags & QP_FIELD_TRUNCATED ? -ENAMETOOLONG : -EFAULT;
	if (string->len >= sizeof(whole) || memchr(string + 1, '\0', string->len))
		return -ENAMETOOLONG;
	memcpy(whole, string + 1, string->len);
	whole[string->len] = '\0';
	base = start_of(l, arg, &text);
	if (!base && *whole != '/')
		return -ENODATA;
	if (base) {
		rc = path_text(base, buf, size);
		if (!rc)
			rc = strip_root(buf, root);
		if (rc)
			return rc;
		*ret_certain = is_single_name(text, strlen(text));
		len = strlen(buf);
		buf[len++] = '/';
	}
	if (len + strlen(text) >= size)
		return -ENAMETOOLONG;
	strcpy(buf + len, text);
	return 0;
}

static void append(const struct lookup *l, unsigned int arg, int rc, const char *path, int exists,
		   struct log_writer *log)
{
	_cleanup_free_ char *text = path ? escape_bytes(path, strlen(path)) : NULL;
	json_t *record = json_pack("{s:I, s:I, s:i, s:b}", "cpu", (json_int_t)l->event->cpu, "seq",
				   (json_int_t)l->event->seq, "role", (int)arg, "exists", exists);

	if (!record)
		return;
	if (text)
		json_object_set_new(record, "path", json_string(text));
	else
		json_object_set_new(record, "errno", json_integer(rc ? -rc : ENOMEM));
	log_writer_append_json(log, LOG_RECORD_RESOLVED, record);
	json_decref(record);
}

/* The real path of argument @arg from the mount namespace's root, as a new string. */
static int look_up(const struct lookup *l, unsigned int arg, int root_fd, char **ret_path,
		   int *ret_exists)
{
	_cleanup_free_ char *path = NULL;
	char text[PATH_SIZE], root[QP_PATH_BYTES_MAX + 1];
	bool certain = false;
	int rc = root_of(l, root, sizeof(root));

	*ret_exists = 0;
	if (!rc)
		rc = text_of(l, arg, root, text, sizeof(text), &certain);
	if (!rc)
		rc = root_fd < 0 ? root_fd
				 : resolve_path(root_fd, text, follows(l), &path, ret_exists);
	if (certain && (rc == -ENOENT || rc == -ESRCH)) {
		/* The folder, or the task, is gone since. */
		rc = 0;
		*ret_exists = 0;
	} else if (rc) {
		return rc;
	}
	if (asprintf(ret_path, "%s%s", root, path ? path : text) < 0)
		return -ENOMEM;
	return 0;
}

void resolve_event(const struct qp_event *event, const struct qp_event *enter, struct roots *roots,
		   struct log_writer *log)
{
	struct lookup l = {.event = event, .enter = enter};
	_cleanup_close_ int root_fd = -1;

	l.call = event_body(event, sizeof(*l.call));
	l.info = l.call ? call_info_get(l.call->call) : NULL;
	if (!l.info || !is_wanted(&l))
		return;
	for (unsigned int arg = 0; arg < CALL_ARGS_CNT; arg++) {
		_cleanup_free_ char *path = NULL;
		int exists = 0, rc;

		if (l.info->roles[arg] != QP_ARG_PATH || !l.call->args[arg])
			continue;
		if (root_fd < 0)
			root_fd = roots_open(roots, event);
		rc = look_up(&l, arg, root_fd, &path, &exists);
		append(&l, arg, rc, rc ? NULL : path, exists, log);
	}
}
