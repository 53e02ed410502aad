// SPDX-License-Identifier: Apache-2.0
/*
 * Removing a container, by its names alone: the same way at the end of a run, after a
 * runtime that died half way, and after a crash. The runtime is not asked: its state is a
 * folder of ours, and all that it made is the group's processes and the groups.
 */
#include "tools/sandbox/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/sandbox/mountinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SWEEP_NAMES_MAX 64
#define REAP_WAIT_MS	1000

static void note(json_t *teardown, const char *list, const char *text)
{
	json_t *removed = json_object_get(teardown, "removed");
	json_t *array = json_object_get(removed, list);

	if (!removed)
		return;
	if (!array) {
		array = json_array();
		json_object_set_new(removed, list, array);
	}
	json_array_append_new(array, json_string(text));
}

static void note_leftover(json_t *teardown, const char *what, const char *name, int r)
{
	json_array_append_new(json_object_get(teardown, "leftoversForTask"),
			      json_sprintf("%s %s: %s", what, name, strerror(-r)));
}

struct unmount {
	const char *folder;
	char path[PATH_MAX]; /* the last one found */
};

static int unmount_find(const struct mount_entry *entry, void *context)
{
	struct unmount *unmount = context;
	size_t len = strlen(unmount->folder);

	if (strncmp(entry->path, unmount->folder, len) != 0 || entry->path[len] != '/')
		return 0;
	snprintf(unmount->path, sizeof(unmount->path), "%s", entry->path);
	return 0;
}

/* Unmounts what is below @folder, the last mounted first. */
static int mounts_remove(const char *folder)
{
	struct unmount unmount = {.folder = folder};

	for (;;) {
		int r;

		unmount.path[0] = '\0';
		r = mountinfo_each("/proc/self/mountinfo", unmount_find, &unmount);
		if (r || !unmount.path[0])
			return r;
		if (umount2(unmount.path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
			return -errno;
	}
}

static void groups_remove(const struct cgroups *cgroups, const char *group, json_t *teardown)
{
	bool found = false;
	int r = cgroups_kill(cgroups, group);

	if (r)
		note_leftover(teardown, "processes of", group, r);
	r = cgroups_remove(cgroups, group, &found);
	if (r)
		note_leftover(teardown, "cgroup", group, r);
	else if (found)
		note(teardown, "cgroups", group);
}

static void folder_remove(const char *folder, json_t *teardown)
{
	struct stat st;
	int r;

	if (lstat(folder, &st) < 0)
		return;
	/* Never through a mount that would not go: what is behind it is not ours. */
	r = mounts_remove(folder);
	if (!r)
		r = remove_tree_at(AT_FDCWD, folder);
	if (r)
		note_leftover(teardown, "folder", folder, r);
	else
		note(teardown, "folders", folder);
}

void container_remove(const struct cgroups *cgroups, const char *group, const char *folder,
		      json_t *teardown)
{
	char state[PATH_MAX];
	struct stat st;

	snprintf(state, sizeof(state), "%s/" RUNTIME_FOLDER "/%s", folder, group);
	groups_remove(cgroups, group, teardown);
	if (!stat(state, &st))
		note(teardown, "containers", group);
	folder_remove(folder, teardown);
}

void sandbox_free(struct sandbox *sandbox)
{
	const int fds[] = {sandbox->init_pidfd, sandbox->root_fd, sandbox->cgroup_fd,
			   sandbox->output_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	for (size_t i = 0; i < TMPFS_CNT; i++) {
		if (sandbox->tmpfs[i].fd >= 0)
			close(sandbox->tmpfs[i].fd);
	}
	for (size_t i = 0; i < sandbox->binds_cnt; i++) {
		free(sandbox->binds[i].source);
		free(sandbox->binds[i].destination);
	}
	free(sandbox->binds);
	json_decref(sandbox->decoys);
	json_decref(sandbox->decoy_values);
	free(sandbox->runtime);
	free(sandbox->folder);
	free(sandbox->rootfs);
	free(sandbox);
}

/* PID 1 became this process's child when the runtime ended. It has left its groups, and so
 * it is about to be waited for. */
static void init_reap(const struct sandbox *sandbox)
{
	struct pollfd ended = {.fd = sandbox->init_pidfd, .events = POLLIN};

	if (sandbox->init_pidfd >= 0 && poll(&ended, 1, REAP_WAIT_MS) == 1)
		waitid(P_PIDFD, (id_t)sandbox->init_pidfd, NULL, WEXITED | WNOHANG);
}

void sandbox_destroy(struct sandbox *sandbox, json_t *teardown)
{
	if (!sandbox)
		return;
	container_remove(&sandbox->cgroups, sandbox->container, sandbox->folder, teardown);
	init_reap(sandbox);
	sandbox_free(sandbox);
}

/* A set of few names. */
struct names {
	char list[SWEEP_NAMES_MAX][NAME_MAX + 1];
	size_t cnt;
};

static void names_add(struct names *names, const char *name)
{
	for (size_t i = 0; i < names->cnt; i++) {
		if (!strcmp(names->list[i], name))
			return;
	}
	if (names->cnt < SWEEP_NAMES_MAX)
		snprintf(names->list[names->cnt++], NAME_MAX + 1, "%s", name);
}

/* Adds the entries of @folder that begin with @prefix and end with @suffix. */
static void names_find(struct names *names, const char *folder, const char *prefix,
		       const char *suffix)
{
	_cleanup_dir_ DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (len >= strlen(prefix) + strlen(suffix) &&
		    !strncmp(entry->d_name, prefix, strlen(prefix)) &&
		    !strcmp(entry->d_name + len - strlen(suffix), suffix))
			names_add(names, entry->d_name);
	}
}

static bool is_task_id(const char *text)
{
	return strlen(text) == TASK_ID_SIZE - 1 && strspn(text, "0123456789abcdef") == strlen(text);
}

void sandbox_sweep(const char *task_id, json_t *teardown)
{
	char prefix[32], suffix[16], path[NAME_MAX + sizeof(TEMP_PARENT) + 2];
	struct names groups = {.cnt = 0}, folders = {.cnt = 0};
	struct cgroups cgroups;

	/* Anything else could name what is not ours. */
	if (!is_task_id(task_id))
		return;
	snprintf(prefix, sizeof(prefix), CONTAINER_PREFIX "%s-", task_id);
	snprintf(suffix, sizeof(suffix), "-%s", task_id);
	cgroups_find(&cgroups);
	for (size_t i = 0; i < cgroups.cnt; i++)
		names_find(&groups, cgroups.list[i].path, CONTAINER_PREFIX, suffix);
	names_find(&folders, TEMP_PARENT, prefix, "");
	for (size_t i = 0; i < groups.cnt; i++)
		groups_remove(&cgroups, groups.list[i], teardown);
	for (size_t i = 0; i < folders.cnt; i++) {
		struct names containers = {.cnt = 0};
		struct stat st;

		snprintf(path, sizeof(path), TEMP_PARENT "/%s/" RUNTIME_FOLDER, folders.list[i]);
		names_find(&containers, path, CONTAINER_PREFIX, suffix);
		for (size_t j = 0; j < containers.cnt; j++)
			note(teardown, "containers", containers.list[j]);
		snprintf(path, sizeof(path), TEMP_PARENT "/%s", folders.list[i]);
		/* The parent is open to all: another user's folder may bear the name. */
		if (!lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
			folder_remove(path, teardown);
	}
}
