// SPDX-License-Identifier: Apache-2.0
#include "base/io.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void setup(void)
{
	strcpy(folder, "/tmp/qp-test-io-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_assert_eq(remove_tree_at(AT_FDCWD, folder), 0);
	cr_assert_eq(access(folder, F_OK), -1);
}

TestSuite(io, .init = setup, .fini = teardown);

Test(io, writes_only_new_files)
{
	int dir = open(folder, O_PATH);
	char *text;
	size_t len;

	cr_assert_eq(write_new_file_at(dir, "a", 0600, "one", 3), 0);
	cr_expect_eq(write_new_file_at(dir, "a", 0600, "two", 3), -EEXIST);
	cr_assert_eq(symlinkat("b", dir, "link"), 0);
	cr_expect_eq(write_new_file_at(dir, "link", 0600, "two", 3), -EEXIST);
	cr_assert_eq(read_file_at(dir, "a", 3, &text, &len), 0);
	cr_expect_str_eq(text, "one");
	free(text);
	cr_expect_eq(read_file_at(dir, "a", 2, &text, &len), -EFBIG);
	close(dir);
}

Test(io, removes_trees_but_follows_no_link)
{
	char kept[] = "/tmp/qp-test-kept-XXXXXX", path[128];
	int dir = open(folder, O_PATH), fd = mkstemp(kept);

	cr_assert_eq(mkdirat(dir, "x", 0700), 0);
	cr_assert_eq(mkdirat(dir, "x/y", 0700), 0);
	cr_assert_eq(symlinkat(kept, dir, "x/y/file"), 0);
	cr_assert_eq(symlinkat("/tmp", dir, "x/folder"), 0);
	cr_assert_eq(write_new_file_at(dir, "x/y/z", 0000, "", 0), 0);
	snprintf(path, sizeof(path), "%s/x", folder);
	cr_expect_eq(remove_tree_at(AT_FDCWD, path), 0);
	cr_expect_eq(access(path, F_OK), -1);
	cr_expect_eq(access(kept, F_OK), 0);
	cr_expect_eq(remove_tree_at(AT_FDCWD, path), 0, "nothing there is no error");
	close(fd);
	close(dir);
	unlink(kept);
}
