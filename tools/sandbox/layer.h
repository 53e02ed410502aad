/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlays whose layers are named by short symlinks in a folder of their own, so that the
 * mount table inside a container tells nothing about where they are on the host.
 */
#ifndef QP_TOOLS_SANDBOX_LAYER_H
#define QP_TOOLS_SANDBOX_LAYER_H

#include <stddef.h>

struct layers {
	int fd; /* the folder of the symlinks, on a tmpfs */
	unsigned int cnt;
};

/* Takes the folder @path, on which it mounts a tmpfs, for layers. */
int layers_open(const char *path, struct layers *ret_layers);
void layers_close(struct layers *layers);

/* Shows the folder @source read-only at @path beneath @root_fd. */
int layer_show(struct layers *layers, int root_fd, const char *path, const char *source);

/* The same, without those of its entries that are called "qp" or begin with "qp-". Nothing
 * is done when there is none. */
int layer_hide(struct layers *layers, int root_fd, const char *path, const char *source);

/* Mounts a writable view of the folder @source at the host path @target; what is written goes
 * to memory. */
int layer_root(struct layers *layers, const char *target, const char *source);

#endif
