// SPDX-License-Identifier: Apache-2.0
/*
 * The root of a container, built in the mount namespace of a process that ends when the
 * container is made: the host's /usr or an image, and on top of either the same folders.
 */
#include "tools/sandbox/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/sandbox/inroot.h"
#include "tools/sandbox/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* A read-only file up to this size is copied into the root instead of bound. */
#define BIND_COPY_BYTES_MAX (16 << 20)
#define ROOT_OPTIONS	    "mode=755,size=128m"
#define PERMISSION_BITS	    0777

DEFINE_CLEANUP(layersp, struct layers *, layers_close);

struct builder {
	const struct sandbox *sandbox;
	const struct sandbox_config *config;
	struct layers layers;
	int root_fd;
	struct qp_error *err;
};

static int build_error(const struct builder *builder, int code, const char *what)
{
	return qp_error_set(builder->err, code, "cannot build the container's root: %s: %s", what,
			    strerror(-code));
}

/* /usr and the names at the top that lead into it, as they are on the host. */
static int usr_show(struct builder *builder)
{
	static const char *const tops[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", NULL};
	int r = inroot_mkdir(builder->root_fd, "/usr", 0755);

	if (!r)
		r = inroot_bind(builder->root_fd, "/usr", "/usr", false);
	for (size_t i = 0; !r && tops[i]; i++) {
		char path[16], target[PATH_MAX];
		struct stat st;
		ssize_t n;

		snprintf(path, sizeof(path), "/%s", tops[i]);
		if (lstat(path, &st) < 0)
			continue;
		n = readlink(path, target, sizeof(target) - 1);
		if (n > 0) {
			target[n] = '\0';
			r = inroot_symlink(builder->root_fd, target, path);
		} else if (S_ISDIR(st.st_mode)) {
			r = inroot_mkdir(builder->root_fd, path, 0755);
			if (!r)
				r = inroot_bind(builder->root_fd, path, path, false);
		}
	}
	return r ? build_error(builder, r, "/usr") : 0;
}

/* Where `make install` may have put this program. */
static int usr_hide(struct builder *builder)
{
	static const char *const folders[] = {
		"/usr/local/bin",   "/usr/local/libexec",
		"/usr/local/share", "/usr/local/share/man/man1",
		"/usr/bin",	    "/usr/libexec",
		"/usr/share",	    "/usr/share/man/man1",
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int r = layer_hide(&builder->layers, builder->root_fd, folders[i], folders[i]);

		if (r)
			return build_error(builder, r, folders[i]);
	}
	return 0;
}

static int folders_make(struct builder *builder, bool image)
{
	static const char *const folders[] = {
		"/dev",	    "/proc", "/sys",	   "/run",	"/var/tmp",   "/var/lib",
		"/var/log", "/srv",  "/mnt",	   "/media",	"/opt",	      "/boot",
		"/home",    "/etc",  "/var/cache", "/run/lock", "/var/spool", NULL,
	};
	int r = 0;

	for (size_t i = 0; !r && folders[i]; i++)
		r = inroot_mkdir(builder->root_fd, folders[i], 0755);
	if (!r)
		r = inroot_mkdir(builder->root_fd, "/root", 0700);
	if (!r && !image) {
		r = inroot_symlink(builder->root_fd, "/run", "/var/run");
		if (!r)
			r = inroot_symlink(builder->root_fd, "/run/lock", "/var/lock");
	}
	if (!r && image)
		r = inroot_unlink(builder->root_fd, "/.dockerenv");
	return r ? build_error(builder, r, "folders") : 0;
}

static int tmpfs_mount(struct builder *builder, const struct tmpfs_mount *tmpfs)
{
	const struct persona *persona = builder->config->persona;
	char options[128];
	int r = inroot_mkdir(builder->root_fd, tmpfs->path, 0755);

	if (r || !tmpfs->bytes)
		return r;
	snprintf(options, sizeof(options), "mode=700,uid=%u,gid=%u,size=%llu", persona->uid,
		 persona->gid, (unsigned long long)tmpfs->bytes);
	return inroot_mount(builder->root_fd, tmpfs->path, "tmpfs", "tmpfs", MS_NOSUID | MS_NODEV,
			    options);
}

static int file_copy(struct builder *builder, const struct sandbox_bind *bind, int fd,
		     const struct stat *st)
{
	bool first_program = !strcmp(bind->destination, builder->config->argv[0]);
	_cleanup_free_ char *bytes = NULL;
	_cleanup_close_ int copy = -1;
	mode_t mode = first_program ? 0711 : st->st_mode & PERMISSION_BITS;
	size_t len;
	int r = read_all(fd, BIND_COPY_BYTES_MAX, &bytes, &len);

	if (!r)
		r = inroot_write(builder->root_fd, bind->destination, mode, bytes, len);
	if (r || first_program)
		return r;
	copy = inroot_open(builder->root_fd, bind->destination, O_RDONLY | O_NOFOLLOW);
	if (copy < 0)
		return copy;
	return fchown(copy, st->st_uid, st->st_gid) < 0 ? -errno : 0;
}

static int bind_make(struct builder *builder, const struct sandbox_bind *bind)
{
	_cleanup_close_ int fd = open(bind->source, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) && !bind->writable && st.st_size <= BIND_COPY_BYTES_MAX)
		return file_copy(builder, bind, fd, &st);
	if (S_ISDIR(st.st_mode))
		r = inroot_mkdir(builder->root_fd, bind->destination, 0755);
	else
		r = inroot_write(builder->root_fd, bind->destination, 0644, "", 0);
	if (r)
		return r;
	if (S_ISDIR(st.st_mode) && !bind->writable &&
	    !layer_show(&builder->layers, builder->root_fd, bind->destination, bind->source))
		return 0;
	return inroot_bind(builder->root_fd, bind->destination, bind->source, bind->writable);
}

static int mounts_make(struct builder *builder, const json_t *decoys)
{
	const struct sandbox_config *config = builder->config;
	_cleanup_close_ int home_fd = -1;
	int r;

	for (size_t i = 0; i < TMPFS_CNT; i++) {
		r = tmpfs_mount(builder, &builder->sandbox->tmpfs[i]);
		if (r)
			return build_error(builder, r, builder->sandbox->tmpfs[i].path);
	}
	for (size_t i = 0; i < config->binds_cnt; i++) {
		r = bind_make(builder, &config->binds[i]);
		if (r)
			return build_error(builder, r, config->binds[i].source);
	}
	if (!decoys || !config->home_bytes)
		return 0;
	home_fd = inroot_open(builder->root_fd, config->persona->home, O_RDONLY | O_DIRECTORY);
	r = home_fd < 0 ? home_fd : decoys_write(home_fd, config->persona, decoys);
	return r ? build_error(builder, r, config->persona->home) : 0;
}

/* Looks for node in the folders of PATH, as a process inside would. */
int node_find(int root_fd, const char *const *envp, char path[static PATH_MAX])
{
	const char *search = "/usr/local/bin:/usr/bin:/bin";

	for (size_t i = 0; envp && envp[i]; i++) {
		if (!strncmp(envp[i], "PATH=", 5))
			search = envp[i] + 5;
	}
	for (const char *p = search; *p;) {
		size_t len = strcspn(p, ":");
		_cleanup_close_ int fd = -1;

		snprintf(path, PATH_MAX, "%.*s/node", (int)len, p);
		fd = path[0] == '/' ? inroot_open(root_fd, path, O_PATH) : -1;
		if (fd >= 0)
			return 0;
		p += len + (p[len] == ':');
	}
	return -ENOENT;
}

/* The program is shown in place of the one that it is a copy of. One that brings no
 * authorities uses the system's; whether it trusts this one is read back in the end. */
static int node_trust(struct builder *builder, const char *path)
{
	const struct sandbox_trust *trust = builder->config->trust;
	_cleanup_close_ int node = inroot_open(builder->root_fd, path, O_RDONLY | O_NONBLOCK);
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s/layers/node", builder->sandbox->folder);
	if (node >= 0 && !trust_node_copy(node, copy, trust->pem))
		return inroot_bind(builder->root_fd, path, copy, false);
	unlink(copy);
	return 0;
}

static int node_prepare(struct builder *builder)
{
	const struct sandbox_config *config = builder->config;
	char path[PATH_MAX];
	int r;

	if (node_find(builder->root_fd, config->envp, path) == 0) {
		r = config->trust ? node_trust(builder, path) : 0;
		return r ? build_error(builder, r, path) : 0;
	}
	if (config->without_node)
		return 0;
	if (config->rootfs)
		return qp_error_set(builder->err, -ENOENT,
				    "there is no node in %s: give an image that has Node.js",
				    config->rootfs);
	return qp_error_set(
		builder->err, -ENOENT,
		"there is no node below /usr, the only part of the host that the "
		"sandbox has: apt-get install nodejs npm, or give an image with --rootfs");
}

/* The root's own mount: memory, or the image with memory over it. */
static int root_mount(struct builder *builder, const char *path)
{
	const char *image = builder->config->rootfs;
	int r;

	if (!image) {
		if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, ROOT_OPTIONS) < 0)
			return build_error(builder, -errno, "tmpfs");
	} else {
		r = layer_root(&builder->layers, path, image);
		if (r)
			return qp_error_set(
				builder->err, r,
				"cannot lay an overlay over %s: %s (it must be a folder of "
				"a file system that overlayfs takes)",
				image, strerror(-r));
	}
	builder->root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return builder->root_fd < 0 ? build_error(builder, -errno, path) : 0;
}

int rootfs_build(const struct sandbox *sandbox, const struct sandbox_config *config,
		 const json_t *decoys, struct qp_error *err)
{
	struct builder builder = {
		.sandbox = sandbox, .config = config, .layers.fd = -1, .root_fd = -1, .err = err};
	_cleanup_(layersp) struct layers *layers = &builder.layers;
	_cleanup_close_ int root_fd = -1;
	bool image = config->rootfs;
	char path[PATH_MAX];
	int r;

	umask(0);
	snprintf(path, sizeof(path), "%s/layers", sandbox->folder);
	r = layers_open(path, layers);
	if (r)
		return build_error(&builder, r, path);
	snprintf(path, sizeof(path), "%s/rootfs", sandbox->folder);
	r = root_mount(&builder, path);
	root_fd = builder.root_fd;
	if (r)
		return r;
	r = image ? 0 : usr_show(&builder);
	if (!r && !image)
		r = usr_hide(&builder);
	if (!r)
		r = folders_make(&builder, image);
	if (!r) {
		r = etc_write(builder.root_fd, config, image);
		if (r)
			build_error(&builder, r, "/etc");
	}
	if (!r)
		r = mounts_make(&builder, decoys);
	return r ? r : node_prepare(&builder);
}
