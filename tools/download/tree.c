// SPDX-License-Identifier: Apache-2.0
/* Adding up files. What vanishes meanwhile counts as nothing. */
#include "tools/download/tree.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define ENTRIES_MAX 1000000
#define LEVELS_MAX  100

struct measure {
	uint64_t bytes;
	unsigned int entries;
	bool packages_only;
};

static bool is_npms_own(const char *name)
{
	return !strcmp(name, ".bin") || !strcmp(name, ".package-lock.json");
}

static int measure_folder(struct measure *measure, int parent_fd, const char *path, int level)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *entry;
	int opened = open_dir_at(parent_fd, path, &dir);

	if (opened)
		return opened == -ENOENT || opened == -ENOTDIR || opened == -ELOOP ? 0 : opened;
	if (level > LEVELS_MAX)
		return -E2BIG;
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;
		struct stat st;
		int r = 0;

		if (!strcmp(name, ".") || !strcmp(name, "..") ||
		    (measure->packages_only && is_npms_own(name)))
			continue;
		if (++measure->entries > ENTRIES_MAX)
			return -E2BIG;
		if (entry->d_type == DT_DIR)
			r = measure_folder(measure, dirfd(dir), name, level + 1);
		else if (!fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW)) {
			if (S_ISREG(st.st_mode))
				measure->bytes += (uint64_t)st.st_size;
			else if (S_ISDIR(st.st_mode)) /* a filesystem that names no types */
				r = measure_folder(measure, dirfd(dir), name, level + 1);
		}
		if (r)
			return r;
	}
	return 0;
}

int tree_measure(int dirfd, const char *path, int packages_only, uint64_t *ret_bytes)
{
	struct measure measure = {.packages_only = packages_only};
	int r = measure_folder(&measure, dirfd, path, 0);

	if (!r)
		*ret_bytes = measure.bytes;
	return r;
}
