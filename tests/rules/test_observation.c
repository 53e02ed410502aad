// SPDX-License-Identifier: Apache-2.0
/* Names, order and memory of observations. */
#include "rules/observation.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* DESIGN.md's list, in its order. */
static const char *const kinds[] = {
	"spawn",     "file-write", "file-create",  "file-delete",  "file-rename", "file-link",
	"file-meta", "file-read",  "net-dns",	   "net-tcp",	   "net-udp",	  "net-other",
	"net-unix",  "net-listen", "env-read",	   "exec-brought", "env-probe",	  "tamper",
	"limit",     "load",	   "completeness",
};

Test(observation, every_kind_has_its_name_and_back)
{
	cr_assert_eq(sizeof(kinds) / sizeof(kinds[0]), OBSERVATION_KIND_CNT);
	for (int i = 0; i < OBSERVATION_KIND_CNT; i++) {
		cr_expect_str_eq(observation_kind_name((enum observation_kind)i), kinds[i]);
		cr_expect_eq(observation_kind_parse(kinds[i]), i);
	}
	cr_expect_eq(observation_kind_parse("file"), -1);
	cr_expect_eq(observation_kind_parse(""), -1);
}

Test(observation, no_actor_and_no_outcome_have_no_name)
{
	cr_expect_null(observation_actor_name(ACTOR_NONE));
	cr_expect_null(observation_outcome_name(OUTCOME_NONE));
	cr_expect_eq(observation_actor_parse("package"), ACTOR_PACKAGE);
	cr_expect_eq(observation_outcome_parse("undetermined"), OUTCOME_UNDETERMINED);
	cr_expect_eq(observation_actor_parse("nobody"), -1);
}

static void add(struct observations *list, enum observation_kind kind, uint64_t t_ns, int64_t pid)
{
	struct observation observation;

	observation_init(&observation);
	observation.kind = kind;
	observation.t_ns = t_ns;
	observation.pid = pid;
	observation.path = strdup("/x");
	cr_assert_eq(observations_add_take(list, &observation), 0);
	cr_assert_null(observation.path);
}

Test(observation, order_is_by_time_then_as_added_with_markers_last)
{
	struct observations list = {0};
	uint32_t random = 12345;

	for (int64_t i = 0; i < 10007; i++) {
		bool marker = i % 1000 == 3;

		random = random * 1664525 + 1013904223;
		add(&list, marker ? OBSERVATION_COMPLETENESS : OBSERVATION_SPAWN,
		    (random >> 16) % 97, i);
	}
	observations_sort(&list);
	cr_assert_eq(list.cnt, 10007);
	for (size_t i = 1; i < list.cnt; i++) {
		const struct observation *a = &list.items[i - 1], *b = &list.items[i];

		cr_assert(!(a->kind == OBSERVATION_COMPLETENESS && b->kind == OBSERVATION_SPAWN));
		if (a->kind != b->kind)
			continue;
		cr_assert(a->t_ns < b->t_ns || (a->t_ns == b->t_ns && a->pid < b->pid));
	}
	observations_clear(&list);
	cr_assert_null(list.items);
}

Test(observation, clearing_twice_is_harmless)
{
	struct observation observation;

	observation_init(&observation);
	observation.exe = strdup("/usr/bin/node");
	observation.extra = json_object();
	observation_clear(&observation);
	cr_assert_null(observation.exe);
	cr_assert_eq(observation.pid, -1);
	cr_assert_eq(observation.port, -1);
	observation_clear(&observation);
}
