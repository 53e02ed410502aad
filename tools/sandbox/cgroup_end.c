// SPDX-License-Identifier: Apache-2.0
/* Membership: joining a group, killing all that is in one, removing it. */
#include "tools/sandbox/cgroup.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PROCS_BYTES_MAX (4 << 20)
#define DEPTH_MAX	16
/* A killed process leaves its groups once the kernel has torn it down. */
#define TRIES_MAX   1000
#define TRY_WAIT_MS 2

static int file_write(int dirfd, const char *name, const char *text)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write_all(fd, text, strlen(text));
}

int cgroup_join_unified(const struct cgroups *cgroups, const char *group, pid_t tgid)
{
	_cleanup_close_ int top = -1, fd = -1;
	char text[16];

	top = cgroup_open(cgroups_unified(cgroups), "");
	if (top < 0)
		return top;
	if (mkdirat(top, group, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(top, group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(text, sizeof(text), "%d", (int)tgid);
	return file_write(fd, "cgroup.procs", text);
}

/* Signals every process in the group itself; *ret_cnt says how many there were. */
static int procs_kill(int dirfd, size_t *ret_cnt)
{
	_cleanup_free_ char *text = NULL;
	char *state = NULL;
	size_t len;
	int r = read_file_at(dirfd, "cgroup.procs", PROCS_BYTES_MAX, &text, &len);

	if (r)
		return r;
	*ret_cnt = 0;
	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		uint64_t tgid;

		/* 0 stands for a process of another pid namespace, 1 can be none of ours. */
		if (number_parse(line, 2, INT32_MAX, &tgid))
			continue;
		kill((pid_t)tgid, SIGKILL);
		++*ret_cnt;
	}
	return 0;
}

typedef int (*group_func)(int parent_fd, const char *name, int fd, void *context);

/* Calls @func for the groups within, deepest first. */
static int groups_each(int parent_fd, const char *name, unsigned int depth, group_func func,
		       void *context)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *entry;
	int first, r;

	if (depth == DEPTH_MAX)
		return -ELOOP;
	first = open_dir_at(parent_fd, name, &dir);
	if (first)
		return first == -ENOENT ? 0 : first;
	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		r = groups_each(dirfd(dir), entry->d_name, depth + 1, func, context);
		if (r && !first)
			first = r;
	}
	r = func(parent_fd, name, dirfd(dir), context);
	return first ? first : r;
}

static int group_kill(int parent_fd, const char *name, int fd, void *context)
{
	size_t *total = context, cnt = 0;
	int r;

	(void)parent_fd;
	(void)name;
	/* Kernel 5.14: the whole group at once, so that no fork can outrun it. */
	file_write(fd, "cgroup.kill", "1");
	r = procs_kill(fd, &cnt);
	*total += cnt;
	return r == -ENODEV ? 0 : r;
}

static int hierarchies_each(const struct cgroups *cgroups, const char *group, group_func func,
			    void *context)
{
	int first = 0;

	for (size_t i = 0; i < cgroups->cnt; i++) {
		_cleanup_close_ int top = cgroup_open(&cgroups->list[i], "");
		int r = top < 0 ? top : groups_each(top, group, 0, func, context);

		if (r && !first)
			first = r;
	}
	return first;
}

int cgroups_kill(const struct cgroups *cgroups, const char *group)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		size_t cnt = 0;
		int r = hierarchies_each(cgroups, group, group_kill, &cnt);

		if (r || !cnt)
			return r;
		poll(NULL, 0, TRY_WAIT_MS);
	}
	return -EBUSY;
}

static int group_remove(int parent_fd, const char *name, int fd, void *context)
{
	bool *found = context;

	(void)fd;
	*found = true;
	for (int i = 0; i < TRIES_MAX; i++) {
		if (!unlinkat(parent_fd, name, AT_REMOVEDIR) || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		poll(NULL, 0, TRY_WAIT_MS);
	}
	return -EBUSY;
}

int cgroups_remove(const struct cgroups *cgroups, const char *group, bool *ret_found)
{
	*ret_found = false;
	return hierarchies_each(cgroups, group, group_remove, ret_found);
}
