// SPDX-License-Identifier: Apache-2.0
/* What the kernel says of the object of a call by path goes before every text. */
#include "tests/collector/events.h"

static struct script script;
static struct script *const s = &script;
static struct run_facts facts;

static void begin(void)
{
	exec_begins(s);
}

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode_object, .init = begin, .fini = tidy);

struct one {
	enum qp_call_id call;
	uint8_t arg; /* its path argument */
	int64_t ret;
	const char *at_enter, *at_exit; /* the text */
	const char *object, *retried;	/* what the kernel found; NULL: it was not asked */
	enum qp_call_id object_call;	/* QP_CALL_NONE: the same */
	uint64_t object_entered_ns;
};

static void emit_object(const struct one *one, const char *path, uint16_t flags)
{
	struct qp_object body = {.call = one->object_call ? one->object_call : one->call,
				 .entered_ns = one->object_entered_ns};
	struct building b = begin_event(s, QP_EVENT_OBJECT, 10, &body, sizeof(body));

	add_path_full(&b, one->arg, path, flags, 5, S_IFREG | 0644);
	emit(s, &b);
}

/* Entry, object, exit of one call. */
static void ev_one(const struct one *one)
{
	const uint64_t args[6] = {(uint64_t)AT_FDCWD, 0x7000};
	struct building enter = begin_call(s, QP_EVENT_ENTER, 10, one->call, 0, args), leave;

	add_string(&enter, one->arg, one->at_enter);
	emit(s, &enter);
	if (one->object)
		emit_object(one, one->object, 0);
	if (one->retried)
		emit_object(one, one->retried, 0);
	if (!one->at_exit)
		return;
	leave = begin_call(s, QP_EVENT_CALL, 10, one->call, one->ret, args);
	add_string(&leave, one->arg, one->at_exit);
	emit(s, &leave);
}

static void assert_only(enum observation_kind kind, const char *path,
			enum observation_outcome outcome)
{
	const struct observation *o = only(&facts, kind);

	cr_expect_str_eq(o->path, path);
	cr_expect_eq(o->outcome, outcome, "%s", observation_outcome_name(o->outcome));
	cr_expect_eq(facts.markers[MARKER_PATHS_RESOLVED].ok, outcome != OUTCOME_UNDETERMINED);
}

Test(decode_object, decides_what_a_text_that_changed_left_open)
{
	ev_one(&(struct one){.call = QP_CALL_ID_unlink,
			     .at_enter = "/tmp/a",
			     .at_exit = "/etc/passwd",
			     .object = "/tmp/b"});
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_DELETE, "/tmp/b", OUTCOME_EFFECTED);
}

Test(decode_object, decides_where_a_link_of_the_package_led)
{
	ev_symlink(s, 10, "/etc", "/tmp/link");
	ev_one(&(struct one){.call = QP_CALL_ID_unlinkat,
			     .arg = 1,
			     .at_enter = "/tmp/link/passwd",
			     .at_exit = "/tmp/link/passwd",
			     .object = "/etc/passwd"});
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_DELETE, "/etc/passwd", OUTCOME_EFFECTED);
}

Test(decode_object, the_last_one_of_a_call_counts)
{
	ev_one(&(struct one){.call = QP_CALL_ID_rmdir,
			     .at_enter = "/tmp/a",
			     .at_exit = "/tmp/a",
			     .object = "/tmp/first",
			     .retried = "/tmp/second"});
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_DELETE, "/tmp/second", OUTCOME_EFFECTED);
}

Test(decode_object, of_another_call_says_nothing)
{
	ev_one(&(struct one){.call = QP_CALL_ID_unlink,
			     .at_enter = "/tmp/a",
			     .at_exit = "/tmp/other",
			     .object = "/tmp/b",
			     .object_call = QP_CALL_ID_rmdir});
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_DELETE, "/tmp/a", OUTCOME_UNDETERMINED);
}

Test(decode_object, of_an_earlier_call_says_nothing)
{
	ev_one(&(struct one){.call = QP_CALL_ID_unlink,
			     .at_enter = "/tmp/a",
			     .at_exit = "/tmp/other",
			     .object = "/tmp/b",
			     .object_entered_ns = 77});
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_DELETE, "/tmp/a", OUTCOME_UNDETERMINED);
}

Test(decode_object, without_one_the_text_is_all_there_is)
{
	ev_one(&(struct one){
		.call = QP_CALL_ID_unlink, .at_enter = "/tmp/a", .at_exit = "/tmp/other"});
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_DELETE, "/tmp/a", OUTCOME_UNDETERMINED);
}

Test(decode_object, names_what_an_attempt_was_refused_for)
{
	const struct observation *o;

	ev_one(&(struct one){.call = QP_CALL_ID_chmod,
			     .ret = -EPERM,
			     .at_enter = "link",
			     .at_exit = "link",
			     .object = "/etc/shadow"});
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_META, "/etc/shadow", OUTCOME_ATTEMPTED);
	o = only(&facts, OBSERVATION_FILE_META);
	cr_expect_str_eq(json_string_value(json_object_get(o->extra, "errno")), "EPERM");
}

/* The thread died within the call: what the kernel had found is known, not what came of it. */
Test(decode_object, of_a_call_that_never_returned_stays_undetermined)
{
	ev_one(&(struct one){.call = QP_CALL_ID_unlink, .at_enter = "/tmp/a", .object = "/tmp/b"});
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_DELETE, "/tmp/b", OUTCOME_UNDETERMINED);
}

Test(decode_object, beyond_the_bounds_is_not_certain)
{
	const struct one one = {.call = QP_CALL_ID_unlink};
	struct building b = begin_call(s, QP_EVENT_ENTER, 10, one.call, 0, ARGS(0x7000));

	add_string(&b, 0, "/tmp/a");
	emit(s, &b);
	emit_object(&one, "/tmp/b", QP_PATH_TRUNCATED);
	b = begin_call(s, QP_EVENT_CALL, 10, one.call, 0, ARGS(0x7000));
	add_string(&b, 0, "/tmp/a");
	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_DELETE, "/tmp/b", OUTCOME_UNDETERMINED);
}

Test(decode_object, has_both_paths_of_a_rename)
{
	struct qp_object body = {.call = QP_CALL_ID_renameat2};
	const uint64_t args[6] = {5, 0x7000, 6, 0x7100};
	struct building b = begin_call(s, QP_EVENT_ENTER, 10, body.call, 0, args);

	add_string(&b, 1, "a");
	add_string(&b, 3, "b");
	emit(s, &b);
	b = begin_event(s, QP_EVENT_OBJECT, 10, &body, sizeof(body));
	add_path(&b, 1, "/work/deep/a");
	add_path(&b, 3, "/etc/b");
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, body.call, 0, args);
	add_string(&b, 1, "a");
	add_string(&b, 3, "b");
	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_only(OBSERVATION_FILE_RENAME, "/work/deep/a", OUTCOME_EFFECTED);
	cr_expect_str_eq(only(&facts, OBSERVATION_FILE_RENAME)->path2, "/etc/b");
}

Test(decode_object, of_an_unknown_call_makes_the_trace_incomplete)
{
	struct qp_object body = {.call = QP_CALL_ID_CNT};
	struct building b = begin_event(s, QP_EVENT_OBJECT, 10, &body, sizeof(body));

	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_expect_not(facts.markers[MARKER_KERNEL_TRACE].ok);
}
