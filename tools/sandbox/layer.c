// SPDX-License-Identifier: Apache-2.0
/* Overlay mounts (Documentation/filesystems/overlayfs.rst) with nameless layers. */
#include "tools/sandbox/layer.h"

#include "base/cleanup.h"
#include "tools/sandbox/inroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define LAYER_NAME_SIZE 32
#define OPTIONS_SIZE	256

int layers_open(const char *path, struct layers *ret_layers)
{
	int fd;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=512m") < 0)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_layers = (struct layers){.fd = fd};
	/* An overlay without an upper layer needs two lower ones: this is the second. */
	return mkdirat(fd, "base", 0755) < 0 ? -errno : 0;
}

void layers_close(struct layers *layers)
{
	if (layers->fd >= 0)
		close(layers->fd);
	layers->fd = -1;
}

/* A name for the next layer, and with @source a symlink of that name to it. */
static int layer_name(struct layers *layers, const char *source, char name[static LAYER_NAME_SIZE])
{
	snprintf(name, LAYER_NAME_SIZE, "l%u", layers->cnt++);
	if (source && symlinkat(source, layers->fd, name) < 0)
		return -errno;
	return 0;
}

/* The options name layers relative to the working directory. */
static int overlay_mount(struct layers *layers, int root_fd, const char *path, const char *options,
			 unsigned long flags)
{
	if (fchdir(layers->fd) < 0)
		return -errno;
	flags |= MS_NOSUID | MS_NODEV;
	if (root_fd >= 0)
		return inroot_mount(root_fd, path, "overlay", "overlay", flags, options);
	return mount("overlay", path, "overlay", flags, options) < 0 ? -errno : 0;
}

int layer_show(struct layers *layers, int root_fd, const char *path, const char *source)
{
	char name[LAYER_NAME_SIZE], options[OPTIONS_SIZE];
	int r = layer_name(layers, source, name);

	if (r)
		return r;
	snprintf(options, sizeof(options), "lowerdir=%s:base", name);
	return overlay_mount(layers, root_fd, path, options, MS_RDONLY);
}

/* Puts a whiteout into the folder @mask_fd for each entry that is to be hidden. */
static int whiteouts_make(int mask_fd, const char *source, size_t *ret_cnt)
{
	_cleanup_dir_ DIR *dir = opendir(source);
	struct dirent *entry;

	*ret_cnt = 0;
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, "qp") != 0 && strncmp(entry->d_name, "qp-", 3) != 0 &&
		    strncmp(entry->d_name, "qp.", 3) != 0)
			continue;
		if (mknodat(mask_fd, entry->d_name, S_IFCHR, makedev(0, 0)) < 0)
			return -errno;
		++*ret_cnt;
	}
	return 0;
}

int layer_hide(struct layers *layers, int root_fd, const char *path, const char *source)
{
	char name[LAYER_NAME_SIZE], mask[LAYER_NAME_SIZE], options[OPTIONS_SIZE];
	_cleanup_close_ int mask_fd = -1;
	size_t cnt;
	int r = layer_name(layers, NULL, mask);

	if (!r && mkdirat(layers->fd, mask, 0755) < 0)
		r = -errno;
	if (r)
		return r;
	mask_fd = openat(layers->fd, mask, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mask_fd < 0)
		return -errno;
	r = whiteouts_make(mask_fd, source, &cnt);
	if (r || !cnt)
		return r;
	r = layer_name(layers, source, name);
	if (r)
		return r;
	snprintf(options, sizeof(options), "lowerdir=%s:%s", mask, name);
	return overlay_mount(layers, root_fd, path, options, MS_RDONLY);
}

int layer_root(struct layers *layers, const char *target, const char *source)
{
	char name[LAYER_NAME_SIZE], options[OPTIONS_SIZE];
	int r = layer_name(layers, source, name);

	if (!r &&
	    (mkdirat(layers->fd, "upper", 0755) < 0 || mkdirat(layers->fd, "index", 0700) < 0))
		r = -errno;
	if (r)
		return r;
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=upper,workdir=index", name);
	return overlay_mount(layers, -1, target, options, 0);
}
