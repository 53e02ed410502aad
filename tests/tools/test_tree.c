// SPDX-License-Identifier: Apache-2.0
#include "tools/download/tree.h"

#include "base/io.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];
static int root_fd;

static void begin(void)
{
	strcpy(root, "/tmp/qp-test-tree-XXXXXX");
	cr_assert(mkdtemp(root));
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(root_fd, 0);
}

static void end(void)
{
	close(root_fd);
	remove_tree_at(AT_FDCWD, root);
}

TestSuite(tree, .init = begin, .fini = end);

static void put(const char *path, size_t len)
{
	char bytes[4096] = {0};

	cr_assert_eq(write_new_file_at(root_fd, path, 0600, bytes, len), 0);
}

Test(tree, adds_up_files_in_every_folder_and_follows_no_link)
{
	uint64_t bytes = 0;

	cr_assert_eq(mkdirat(root_fd, "a", 0700), 0);
	cr_assert_eq(mkdirat(root_fd, "a/b", 0700), 0);
	put("x", 7);
	put("a/y", 1001);
	put("a/b/z", 13);
	cr_assert_eq(symlinkat("/", root_fd, "out"), 0);
	cr_assert_eq(symlinkat("x", root_fd, "in"), 0);
	cr_assert_eq(mkfifoat(root_fd, "pipe", 0600), 0);
	cr_expect_eq(tree_measure(root_fd, ".", 0, &bytes), 0);
	cr_expect_eq(bytes, 7 + 1001 + 13);
}

Test(tree, leaves_out_what_npm_adds_to_the_packages)
{
	uint64_t bytes = 0;

	cr_assert_eq(mkdirat(root_fd, ".bin", 0700), 0);
	put(".bin/tool", 17);
	put(".package-lock.json", 19);
	put("index.js", 23);
	cr_expect_eq(tree_measure(root_fd, ".", 1, &bytes), 0);
	cr_expect_eq(bytes, 23);
	cr_expect_eq(tree_measure(root_fd, ".", 0, &bytes), 0);
	cr_expect_eq(bytes, 17 + 19 + 23);
}

Test(tree, counts_nothing_for_what_is_not_there_or_is_a_link)
{
	uint64_t bytes = 1;

	cr_expect_eq(tree_measure(root_fd, "none", 0, &bytes), 0);
	cr_expect_eq(bytes, 0);
	cr_assert_eq(symlinkat("/etc", root_fd, "link"), 0);
	bytes = 1;
	cr_expect_eq(tree_measure(root_fd, "link", 0, &bytes), 0);
	cr_expect_eq(bytes, 0);
}

Test(tree, stops_at_a_hundred_levels)
{
	int fd = dup(root_fd);
	uint64_t bytes;

	for (int i = 0; i < 110; i++) {
		int next;

		cr_assert_eq(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	close(fd);
	cr_expect_eq(tree_measure(root_fd, ".", 0, &bytes), -E2BIG);
}
