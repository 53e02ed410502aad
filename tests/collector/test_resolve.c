// SPDX-License-Identifier: Apache-2.0
/* That a lookup gives the real path beneath a root, and cannot be led out of it. */
#include "base/cleanup.h"
#include "base/io.h"
#include "collector/resolve.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[32];
static int root_fd;

/* root/{sub/{file,up -> ../..,here -> file},link -> sub,out -> /etc,dangling -> nowhere} */
static void make_tree(void)
{
	snprintf(dir, sizeof(dir), "/tmp/qp-resolve-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	root_fd = open(dir, O_PATH | O_DIRECTORY);
	cr_assert(root_fd >= 0);
	cr_assert_eq(mkdirat(root_fd, "sub", 0700), 0);
	close(openat(root_fd, "sub/file", O_CREAT | O_WRONLY, 0600));
	cr_assert_eq(symlinkat("../..", root_fd, "sub/up"), 0);
	cr_assert_eq(symlinkat("file", root_fd, "sub/here"), 0);
	cr_assert_eq(symlinkat("sub", root_fd, "link"), 0);
	cr_assert_eq(symlinkat("/sub", root_fd, "out"), 0);
	cr_assert_eq(symlinkat("nowhere", root_fd, "dangling"), 0);
}

static void remove_tree(void)
{
	close(root_fd);
	remove_tree_at(AT_FDCWD, dir);
}

TestSuite(resolve, .init = make_tree, .fini = remove_tree);

static void expect(const char *path, int follow, const char *real, int exists)
{
	_cleanup_free_ char *got = NULL;
	int got_exists = -1;

	cr_assert_eq(resolve_path(root_fd, path, follow, &got, &got_exists), 0, "%s", path);
	cr_expect_str_eq(got, real, "%s: %s", path, got);
	cr_expect_eq(got_exists, exists, "%s", path);
}

Test(resolve, gives_the_real_folder_and_the_last_name)
{
	expect("/sub/file", 0, "/sub/file", 1);
	expect("/link/file", 0, "/sub/file", 1);
	expect("//link//./file", 0, "/sub/file", 1);
	expect("/sub/absent", 0, "/sub/absent", 0);
	expect("/link/../sub/file", 0, "/sub/file", 1);
	expect("/absent", 0, "/absent", 0);
}

Test(resolve, keeps_within_the_root)
{
	expect("/../../sub/file", 0, "/sub/file", 1);
	expect("/sub/up/sub/file", 0, "/sub/file", 1);
	expect("/out/file", 0, "/sub/file", 1);
	expect("/sub/up/etc", 0, "/etc", 0);
}

Test(resolve, follows_the_last_link_only_when_asked)
{
	expect("/sub/here", 0, "/sub/here", 1);
	expect("/sub/here", 1, "/sub/file", 1);
	expect("/link", 0, "/link", 1);
	expect("/link", 1, "/sub", 1);
	expect("/dangling", 1, "/dangling", 1);
}

Test(resolve, takes_a_folder_by_any_of_its_names)
{
	expect("/", 0, "/", 1);
	expect("/sub/.", 0, "/sub", 1);
	expect("/sub/..", 0, "/", 1);
	expect("/sub/", 0, "/sub", 1);
}

static void expect_error(int root, const char *path, int error)
{
	_cleanup_free_ char *got = NULL;
	int exists;

	cr_expect_eq(resolve_path(root, path, 0, &got, &exists), -error, "%s", path);
	cr_expect_null(got);
}

Test(resolve, says_what_it_cannot_resolve)
{
	expect_error(root_fd, "/absent/file", ENOENT);
	expect_error(root_fd, "/sub/file/below", ENOTDIR);
}

/* "self" is whoever looks: the answer would be of this process. */
Test(resolve, does_not_answer_for_another_process)
{
	_cleanup_close_ int real_root = open("/", O_PATH | O_DIRECTORY);

	expect_error(real_root, "/proc/self/oom_score_adj", ELOOP);
	expect_error(real_root, "/proc/self/root/etc/passwd", EXDEV);
	expect_error(real_root, "/proc/thread-self/comm", ELOOP);
}
