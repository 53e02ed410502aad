// SPDX-License-Identifier: Apache-2.0
/* Reads of environment variables, seen at the C library's getenv. */
#include "tests/collector/capture_run.h"

#include <stdlib.h>

#define PAGE  4096
#define READS 10007
#define VALUE "the-value-that-no-one-may-see"

/* How often the name was recorded. */
static size_t reads_of(const struct capture *c, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < c->cnt; i++) {
		const char *text;

		if (c->events[i]->type != QP_EVENT_ENV)
			continue;
		text = capture_text(c->events[i], 0, QP_FIELD_STRING, 0);
		n += text && !strcmp(text, name);
	}
	return n;
}

static void read_often(const struct capture *c)
{
	(void)c;
	setenv("QP_TEST_SET", VALUE, 1);
	for (int i = 0; i < READS; i++)
		if (!getenv("QP_TEST_SET") || getenv("QP_TEST_UNSET"))
			_exit(1);
	if (secure_getenv("QP_TEST_SECURE"))
		_exit(1);
}

Test(capture_env, records_each_name_once_and_no_value)
{
	struct capture c = {.watch_env = true};
	static const char value[] = VALUE;

	if (!capture_possible())
		return;
	capture_run(&c, read_often);
	cr_assert_eq(c.status, 0);
	cr_expect_eq(reads_of(&c, "QP_TEST_SET"), 1);
	cr_expect_eq(reads_of(&c, "QP_TEST_UNSET"), 1);
	cr_expect_eq(reads_of(&c, "QP_TEST_SECURE"), 1);
	for (size_t i = 0; i < c.cnt; i++)
		cr_expect_null(memmem(c.events[i], c.events[i]->len, value, sizeof(value) - 1));
	capture_free(&c);
}

static void read_awkward(const struct capture *c)
{
	char *pages =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("names", O_RDWR | O_CREAT, 0600);
	char *file, longest[300];

	(void)c;
	/* Across a border; then up to the last byte of the last page that there is. */
	strcpy(pages + PAGE - 7, "QP_TEST_BORDER");
	getenv(pages + PAGE - 7);
	munmap(pages + 2 * PAGE, PAGE);
	strcpy(pages + 2 * PAGE - sizeof("QP_TEST_LAST"), "QP_TEST_LAST");
	getenv(pages + 2 * PAGE - sizeof("QP_TEST_LAST"));
	/* In a file, where no page of it is in this process yet. */
	if (pwrite(fd, "QP_TEST_FILE", 13, PAGE - 6) != 13)
		_exit(1);
	file = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	madvise(file, 2 * PAGE, MADV_DONTNEED);
	getenv(file + PAGE - 6);
	memset(longest, 'X', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	getenv(longest);
	getenv(longest);
}

Test(capture_env, reads_names_across_pages_and_from_pages_that_are_not_there_yet)
{
	struct capture c = {.watch_env = true};
	char longest[300];

	if (!capture_possible())
		return;
	memset(longest, 'X', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	capture_run(&c, read_awkward);
	cr_assert_eq(c.status, 0);
	cr_expect_eq(reads_of(&c, "QP_TEST_BORDER"), 1);
	cr_expect_eq(reads_of(&c, "QP_TEST_LAST"), 1);
	cr_expect_eq(reads_of(&c, "QP_TEST_FILE"), 1);
	cr_expect_eq(reads_of(&c, longest), 2, "a name too long to be remembered");
	capture_free(&c);
}

static void read_in_two(const struct capture *c)
{
	int status;
	pid_t child;

	(void)c;
	getenv("QP_TEST_TWICE");
	child = fork();
	if (child == 0) {
		getenv("QP_TEST_TWICE");
		_exit(0);
	}
	waitpid(child, &status, 0);
}

Test(capture_env, takes_the_read_of_another_process_for_another)
{
	struct capture c = {.watch_env = true};

	if (!capture_possible())
		return;
	capture_run(&c, read_in_two);
	cr_expect_eq(reads_of(&c, "QP_TEST_TWICE"), 2);
	capture_free(&c);
}

static void become_node(const struct capture *c)
{
	(void)c;
	execlp("node", "node", "-e",
	       "for (let i = 0; i < 100; i++) { process.env.QP_TEST_NODE; }"
	       "JSON.stringify(process.env)",
	       NULL);
	_exit(9);
}

Test(capture_env, sees_what_scripts_of_node_read)
{
	struct capture c = {.watch_env = true};

	if (!capture_possible())
		return;
	setenv("QP_TEST_SWEPT", VALUE, 1);
	capture_run(&c, become_node);
	if (WIFEXITED(c.status) && WEXITSTATUS(c.status) == 9) {
		capture_free(&c);
		cr_assert(!getenv("QP_MUST_RUN"), "node is needed");
		cr_skip("needs node");
		return;
	}
	cr_assert_eq(c.status, 0);
	cr_expect_eq(reads_of(&c, "QP_TEST_NODE"), 1);
	cr_expect_eq(reads_of(&c, "QP_TEST_SWEPT"), 1);
	cr_expect_eq(reads_of(&c, "NODE_OPTIONS"), 1, "node's own start");
	capture_free(&c);
}
