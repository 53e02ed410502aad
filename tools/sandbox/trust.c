// SPDX-License-Identifier: Apache-2.0
/* The stores of distributions: bundles of certificates in one file, and folders of links that
 * are named after a hash. */
#include "tools/sandbox/trust.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/sandbox/inroot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BUNDLE_BYTES_MAX (16 << 20)
#define FILE_BYTES_MAX	 (INT64_C(1) << 30)
#define HASH_FOLDER	 "/etc/ssl/certs"

/* One file may have several of these names. */
static const char *const bundles[] = {
	"/etc/ssl/certs/ca-certificates.crt",		     /* Debian, Alpine, Arch */
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora */
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem", /* SUSE */
	"/etc/ssl/cert.pem",
};

static const char *const copied[] = {HASH_FOLDER, "/etc/pki/tls/certs", "/etc/pki/ca-trust"};

bool trust_wants_copy(const char *path)
{
	for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++)
		if (!strcmp(copied[i], path))
			return true;
	return false;
}

/* Opened for writing only once it is known to be a regular file that lacks it. */
static int bundle_add(int root_fd, const char *path, const char *pem)
{
	_cleanup_close_ int fd = inroot_open(root_fd, path, O_RDONLY | O_NONBLOCK), out = -1;
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	r = read_all(fd, BUNDLE_BYTES_MAX, &text, &len);
	if (r)
		return r;
	if (strstr(text, pem))
		return 0;
	out = inroot_open(root_fd, path, O_WRONLY | O_APPEND);
	if (out < 0)
		return out;
	if (len && text[len - 1] != '\n')
		r = write_all(out, "\n", 1);
	return r ? r : write_all(out, pem, strlen(pem));
}

/* As update-ca-certificates(8) does: a file of the name, and a link of the hash to it. */
static int hash_add(int root_fd, const struct sandbox_trust *trust)
{
	_cleanup_close_ int folder = inroot_open(root_fd, HASH_FOLDER, O_PATH | O_DIRECTORY);
	char file[NAME_MAX + 1], path[PATH_MAX];
	int r;

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	snprintf(file, sizeof(file), "%s.pem", trust->name);
	for (char *p = file; *p; p++)
		*p = *p == ' ' || *p == '/' ? '_' : *p;
	snprintf(path, sizeof(path), HASH_FOLDER "/%s", file);
	r = inroot_write(root_fd, path, 0644, trust->pem, strlen(trust->pem));
	if (r)
		return r;
	snprintf(path, sizeof(path), HASH_FOLDER "/%s.0", trust->hash);
	return inroot_symlink(root_fd, file, path);
}

void trust_stores(int root_fd, const struct sandbox_trust *trust)
{
	hash_add(root_fd, trust);
	for (size_t i = 0; i < sizeof(bundles) / sizeof(*bundles); i++)
		bundle_add(root_fd, bundles[i], trust->pem);
}

/* Whether the file of that name has the certificate; -ENOENT when there is no such file. */
static int file_trusts(int root_fd, const char *path, const char *pem)
{
	_cleanup_close_ int fd = inroot_open(root_fd, path, O_RDONLY | O_NONBLOCK);
	struct stat st;
	void *bytes;
	bool found;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	if (!st.st_size || st.st_size > FILE_BYTES_MAX)
		return 0;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	found = memmem(bytes, (size_t)st.st_size, pem, strlen(pem));
	munmap(bytes, (size_t)st.st_size);
	return found;
}

static int verdict_add(json_t *object, int root_fd, const char *path, const char *pem)
{
	int r = file_trusts(root_fd, path, pem);

	if (r == -ENOENT)
		return 0;
	return json_array_append_new(json_object_get(object, r == 1 ? "trustedBy" : "untrustedBy"),
				     json_string(path));
}

json_t *trust_read(int root_fd, const char *pem, const char *node)
{
	json_t *object = json_pack("{s:[], s:[]}", "trustedBy", "untrustedBy");
	int r = object ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < sizeof(bundles) / sizeof(*bundles); i++)
		r = verdict_add(object, root_fd, bundles[i], pem);
	if (!r && node)
		r = verdict_add(object, root_fd, node, pem);
	if (!r)
		return object;
	json_decref(object);
	return NULL;
}
