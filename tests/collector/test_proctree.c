// SPDX-License-Identifier: Apache-2.0
#include "collector/proctree.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const uint64_t seed[2] = {1, 2};
static struct proctree tree;
static struct process *root;

static void begin(void)
{
	struct qp_event head = {.tgid = 1001, .ns_tgid = 1, .time_ns = 5};

	proctree_init(&tree, seed);
	cr_assert_eq(proctree_add(&tree, &head, &root), 0);
}

static void tidy(void)
{
	proctree_clear(&tree);
}

TestSuite(proctree, .init = begin, .fini = tidy);

static struct process *fork_of(struct process *parent, uint32_t tgid, uint32_t ns_pid)
{
	struct kernel_event event = {.fork = {.child_tgid = tgid,
					      .child_tid = tgid,
					      .child_ns_tgid = ns_pid,
					      .child_ns_tid = ns_pid,
					      .child_start_ns = 77}};
	struct process *child;

	cr_assert_eq(proctree_fork(&tree, parent, &event, &child), 0);
	return child;
}

static bool exit_of(struct process *process, int32_t code, bool last)
{
	struct kernel_event event = {.head = {.time_ns = 99}, .exit = {code, last}};

	return proctree_exit(&tree, process, &event);
}

Test(proctree, a_child_begins_as_its_parent_is)
{
	struct process *child;

	root->actor = ACTOR_PACKAGE;
	root->phase = 3;
	root->package = strdup("a");
	root->cwd = strdup("/work");
	child = fork_of(root, 1002, 2);
	cr_assert_eq(child->parent, root);
	cr_assert_eq(child->ns_ppid, 1);
	cr_assert_eq(child->actor, ACTOR_PACKAGE);
	cr_assert_eq(child->phase, 3);
	cr_assert_str_eq(child->package, "a");
	cr_assert_str_eq(child->cwd, "/work");
	cr_assert(child->has_fork);
	cr_assert_not(root->has_fork);
	cr_assert_eq(child->start_ns, 77);
}

Test(proctree, a_thread_is_no_process_and_its_number_finds_its_process)
{
	cr_assert_null(fork_of(root, 1001, 9));
	cr_assert_eq(tree.cnt, 1);
	cr_assert_eq(proctree_by_nspid(&tree, 9), root);
}

Test(proctree, a_process_lives_until_its_last_thread_ends)
{
	struct process *child = fork_of(root, 1002, 2);

	cr_assert_not(exit_of(child, 0, false));
	cr_assert_eq(proctree_get(&tree, 1002), child);
	cr_assert(exit_of(child, 3 << 8, true));
	cr_assert_null(proctree_get(&tree, 1002));
	cr_assert_eq(proctree_by_nspid(&tree, 2), child, "its number is still known");
	cr_assert_eq(child->exit_code, 3 << 8);
}

Test(proctree, a_number_used_again_is_another_process)
{
	struct process *first = fork_of(root, 1002, 2), *second;

	first->package = strdup("old");
	exit_of(first, 0, true);
	second = fork_of(root, 1002, 2);
	cr_assert_neq(first, second);
	cr_assert_neq(first->serial, second->serial);
	cr_assert_null(second->package);
	cr_assert_eq(proctree_get(&tree, 1002), second);
	cr_assert_eq(proctree_by_nspid(&tree, 2), second);
}

Test(proctree, descent_goes_over_ended_parents)
{
	struct process *child = fork_of(root, 1002, 2), *grandchild = fork_of(child, 1003, 3);

	exit_of(child, 0, true);
	cr_assert(process_descends(grandchild, root));
	cr_assert(process_descends(root, root));
	cr_assert_not(process_descends(root, grandchild));
}

Test(proctree, an_exec_takes_file_folder_and_arguments_over)
{
	unsigned char path[sizeof(struct qp_path) + 8] = {0};
	struct kernel_event event = {.fields_cnt = 2};
	struct qp_path head = {.levels = 2};

	memcpy(path, &head, sizeof(head));
	memcpy(path + sizeof(head), "sh\0bin", 7);
	event.fields[0] =
		(struct event_field){QP_FIELD_PATH, QP_ROLE_EXE, 0, sizeof(head) + 7, path};
	event.fields[1] =
		(struct event_field){QP_FIELD_ARGV, 0, 0, 6, (const unsigned char *)"sh\0-c"};
	cr_assert_eq(proctree_exec(root, &event), 0);
	cr_assert_str_eq(root->exe, "/bin/sh");
	cr_assert_eq(root->argv_len, 6);
	cr_assert(root->has_exec);
	cr_assert_not(root->argv_cut);
}

Test(proctree, is_bounded)
{
	struct kernel_event event = {0};
	struct process *child;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < PROCESSES_MAX + 7; i++) {
		event.fork.child_tgid = 5000 + i;
		event.fork.child_ns_tgid = 50 + i;
		r = proctree_fork(&tree, root, &event, &child);
	}
	cr_assert_eq(r, -E2BIG);
	cr_assert_eq(tree.cnt, PROCESSES_MAX);
}
