// SPDX-License-Identifier: Apache-2.0
/*
 * Node's own authorities. They are C strings of PEM, some 140, one behind the other, among the
 * program's constants (node's src/node_root_certs.h); unless it was built to use the system's,
 * nothing but options and environment variables adds to them, and a package would see either.
 * A copy of the program in which one of them is another's looks like the original.
 */
#include "tools/sandbox/trust.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define PEM_BYTES_MAX 8192
/* Fewer are no list of authorities but somebody's test or example. */
#define ROOTS_MIN 50

static const char begin[] = "-----BEGIN CERTIFICATE-----\n";
static const char end[] = "-----END CERTIFICATE-----";

/* The length of the string at @text if it is one whole PEM, else 0. */
static size_t pem_len(const char *text, size_t room)
{
	size_t len = strnlen(text, room < PEM_BYTES_MAX ? room : PEM_BYTES_MAX), tail = len;

	if (len == room || len == PEM_BYTES_MAX)
		return 0;
	if (tail && text[tail - 1] == '\n')
		tail--;
	if (tail < sizeof(begin) + sizeof(end) ||
	    memcmp(text + tail - (sizeof(end) - 1), end, sizeof(end) - 1) != 0)
		return 0;
	return len;
}

/* Puts @pem over the last of the strings that has room for it. */
static int root_replace(char *bytes, size_t len, const char *pem)
{
	size_t wanted = strlen(pem), cnt = 0, chosen_len = 0;
	char *at = bytes, *chosen = NULL;

	while ((at = memmem(at, len - (size_t)(at - bytes), begin, sizeof(begin) - 1))) {
		size_t its = pem_len(at, len - (size_t)(at - bytes));

		cnt += its != 0;
		if (its >= wanted) {
			chosen = at;
			chosen_len = its;
		}
		at += sizeof(begin) - 1;
	}
	if (cnt < ROOTS_MIN || !chosen)
		return -ENOENT;
	memset(chosen, 0, chosen_len);
	memcpy(chosen, pem, wanted);
	return 0;
}

static int bytes_copy(int from, int to, size_t len)
{
	off_t at = 0;

	/* copy_file_range(2) wants both on one file system. */
	while ((size_t)at < len) {
		ssize_t n = sendfile(to, from, &at, len - (size_t)at);

		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;
	}
	return 0;
}

int trust_node_copy(int node_fd, const char *copy, const char *pem)
{
	_cleanup_close_ int fd = open(copy, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	struct stat st;
	char *bytes;
	int r;

	if (fd < 0 || fstat(node_fd, &st) < 0)
		return -errno;
	r = st.st_size ? bytes_copy(node_fd, fd, (size_t)st.st_size) : -ENOENT;
	if (r)
		return r;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	r = root_replace(bytes, (size_t)st.st_size, pem);
	munmap(bytes, (size_t)st.st_size);
	if (!r && (fchmod(fd, st.st_mode & 0777) < 0 || fchown(fd, st.st_uid, st.st_gid) < 0))
		r = -errno;
	return r;
}
