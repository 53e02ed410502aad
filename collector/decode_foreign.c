// SPDX-License-Identifier: Apache-2.0
/*
 * Opens of what belongs to another process, over its folder in /proc: pipes,
 * memory files and the like that have no other name. What the opener had by another
 * descriptor before is its own as much.
 */
#include "collector/decode_state.h"

#include <string.h>
#include <sys/stat.h>

#define NSFS_MAGIC	    0x6e736673
#define ANON_INODE_FS_MAGIC 0x09041934

/* In which process's folder of /proc the absolute @path is, and what follows that. */
static bool in_process_folder(struct decoder *d, const struct process *opener, const char *path,
			      bool *ret_own, long *ret_pid, const char **ret_rest)
{
	static const char *const own[] = {"/proc/self/", "/proc/thread-self/"};

	*ret_pid = TAMPER_NO_TARGET;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strncmp(path, own[i], strlen(own[i])) != 0)
			continue;
		*ret_own = true;
		*ret_rest = path + strlen(own[i]);
		return true;
	}
	if (!path_of_process(path, ret_pid, ret_rest))
		return false;
	*ret_own = *ret_pid == opener->ns_pid ||
		   proctree_by_nspid(&d->tree, *ret_pid) == opener; /* by a thread's number */
	if (!strncmp(*ret_rest, "task/", 5) && strchr(*ret_rest + 5, '/'))
		*ret_rest = strchr(*ret_rest + 5, '/') + 1;
	return true;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/*
 * Whether the opener cannot have come by @opened but through another process. By which name
 * it says it did may be forged by a thread of its own, so that only what that could not gain
 * by is taken from it.
 */
static bool is_foreign(const struct place *opened, bool in_proc, bool own)
{
	uint16_t flags = opened->path.flags;

	if (flags & QP_PATH_HELD || opened->path.fsmagic == ANON_INODE_FS_MAGIC)
		return false; /* the latter cannot be opened for real, whosoever it is */
	if (flags & QP_PATH_NOT_A_FS)
		return !in_proc || !own ||
		       (opened->path.fsmagic != NSFS_MAGIC && !S_ISREG(opened->path.mode));
	return flags & QP_PATH_DELETED && in_proc && !own;
}

static int opened_foreign(struct decoder *d, const struct step *step, const struct place *opened,
			  unsigned int arg)
{
	_cleanup_(place) struct place asked = {0};
	bool in_proc = false, own = false;
	const char *rest;
	long pid = TAMPER_NO_TARGET;
	int r;

	/* A record without the text is of an open by a name, or of a recorder that was not
	 * asked for it. */
	if (!event_field_find(step->event, QP_FIELD_STRING, arg))
		return 0;
	r = place_of_argument(d, step, arg, true, &asked);
	if (r == 0 && asked.text)
		in_proc = in_process_folder(d, step->process, asked.text, &own, &pid, &rest);
	if (r == 0 && is_foreign(opened, in_proc, own))
		r = tamper_observe(d, step, asked.text ? &asked : opened, pid);
	else
		return r;
	return r < 0 ? r : 1;
}

/* An open that failed for another reason than that nothing is there. */
static int failed_foreign(struct decoder *d, const struct step *step, unsigned int arg)
{
	_cleanup_(place) struct place asked = {0};
	const char *rest;
	bool own;
	long pid;
	int r;

	if (step->event->call.ret == -ENOENT)
		return 0;
	r = place_of_argument(d, step, arg, true, &asked);
	if (r < 0 || !asked.text ||
	    !in_process_folder(d, step->process, asked.text, &own, &pid, &rest) || own ||
	    (!begins(rest, "fd/") && !begins(rest, "map_files/")))
		return r;
	r = tamper_observe(d, step, &asked, pid);
	return r < 0 ? r : 1;
}

int decode_foreign(struct decoder *d, const struct step *step, const struct place *opened)
{
	unsigned int arg = step->info->roles[0] == QP_ARG_PATH ? 0 : 1;

	if (step->process->actor != ACTOR_PACKAGE)
		return 0;
	if (!opened)
		return failed_foreign(d, step, arg);
	if (!opened->has_path || !(opened->path.flags & (QP_PATH_NOT_A_FS | QP_PATH_DELETED)))
		return 0;
	return opened_foreign(d, step, opened, arg);
}
