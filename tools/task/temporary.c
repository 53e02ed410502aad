// SPDX-License-Identifier: Apache-2.0
/* Mounting and removing the temporary folder. */
#include "tools/task/temporary.h"

#include "base/io.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sysinfo.h>

/* Room beyond what a fetch may write, so that its own limit is what stops it. */
#define ROOM_FACTOR  2
#define MEMORY_SHARE 4

void temporary_in_memory(const char *path, uint64_t bytes)
{
	struct sysinfo info;
	char options[64];

	if (sysinfo(&info) < 0 ||
	    (uint64_t)info.totalram * info.mem_unit / MEMORY_SHARE / ROOM_FACTOR < bytes)
		return;
	snprintf(options, sizeof(options), "mode=0700,size=%llu",
		 (unsigned long long)(bytes * ROOM_FACTOR));
	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		log_debug("%s stays on its disk: %s", path, strerror(errno));
}

int temporary_remove(const char *path)
{
	/* EINVAL: it is no mount point. Whatever the reason, the removal tells. */
	umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
	return remove_tree_at(AT_FDCWD, path);
}
