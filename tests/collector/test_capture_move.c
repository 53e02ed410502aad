// SPDX-License-Identifier: Apache-2.0
/* That a task which comes into a tracked group, or leaves it, by a move is recorded. */
#include "tests/collector/capture_run.h"

#include <signal.h>

static char inner[600], mount_point[600];

/* The nth move record; NULL when there are fewer. */
static const struct qp_move *move(const struct capture *c, size_t nth)
{
	const struct qp_event *event = capture_event(c, QP_EVENT_MOVE, 0, nth);

	return event ? event_body(event, sizeof(struct qp_move)) : NULL;
}

static void move_itself_about(const struct capture *c)
{
	snprintf(inner, sizeof(inner), "%s/inner", c->group);
	snprintf(mount_point, sizeof(mount_point), "%s/..", c->group);
	if (mkdir(inner, 0755) < 0)
		_exit(98);
	capture_write(inner, "cgroup.procs", "0");
	capture_write(c->group, "cgroup.procs", "0");
	rmdir(inner);
	capture_write(mount_point, "cgroup.procs", "0");
	close(open("unseen", O_WRONLY | O_CREAT, 0600));
	capture_write(c->group, "cgroup.procs", "0");
}

Test(capture_move, tells_who_comes_and_who_leaves_and_not_of_moves_within)
{
	struct capture c = {0};
	char path[512];

	if (!capture_possible())
		return;
	capture_run(&c, move_itself_about);
	cr_assert_eq(c.status, 0);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_not_null(move(&c, i));
		cr_expect_eq(move(&c, i)->tgid, (uint32_t)c.child);
		cr_expect_eq(move(&c, i)->tid, (uint32_t)c.child);
		cr_expect_neq(move(&c, i)->start_ns, 0);
	}
	/* The test is the child's parent and put it there. */
	cr_expect_eq(move(&c, 0)->flags, QP_MOVE_IN | QP_MOVE_LAUNCH);
	cr_expect_eq(move(&c, 1)->flags, QP_MOVE_OUT | QP_MOVE_LAUNCH);
	cr_expect_eq(move(&c, 2)->flags, QP_MOVE_IN | QP_MOVE_LAUNCH);
	cr_expect_null(move(&c, 3));
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 3));
	cr_expect_geq(capture_path(capture_event(&c, QP_EVENT_MOVE, 0, 0), sizeof(struct qp_move),
				   QP_ROLE_EXE, path, sizeof(path)),
		      0);
	cr_expect_str_eq(strrchr(path, '/'), "/test_capture_move");
	capture_free(&c);
}

static pid_t outsider;

static void move_the_outsider(const struct capture *c)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", outsider);
	capture_write(c->group, "cgroup.procs", number);
	kill(outsider, SIGKILL);
}

Test(capture_move, tells_one_that_another_moved_from_one_that_was_launched)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	outsider = fork();
	if (outsider == 0) {
		pause();
		_exit(0);
	}
	capture_run(&c, move_the_outsider);
	cr_assert_eq(c.status, 0);
	cr_assert_not_null(move(&c, 1));
	cr_expect_eq(move(&c, 1)->tgid, (uint32_t)outsider);
	cr_expect_eq(move(&c, 1)->flags, QP_MOVE_IN);
	waitpid(outsider, NULL, 0);
	capture_free(&c);
}
