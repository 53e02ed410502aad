// SPDX-License-Identifier: Apache-2.0
/* Logs that nobody's collector writes. None may crash the decoder, none is complete. */
#include "tests/collector/events_net.h"

#include "collector/log_print.h"
#include "collector/proctree.h"

#define PROCESSES_TOO_MANY (PROCESSES_MAX + 7)

static struct script script;
static struct script *const s = &script;
static struct run_facts facts;

static void tidy(void)
{
	run_facts_clear(&facts);
}

TestSuite(decode_hostile, .fini = tidy);

static void refuse(struct building *b)
{
	exec_begins(s);
	s->events++;
	cr_assert_eq(log_writer_append(s->log, LOG_RECORD_EVENT, b->bytes, b->len), 0);
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
	cr_assert(strstr(json_string_value(json_object_get(
				 facts.markers[MARKER_KERNEL_TRACE].detail, "state")),
			 "malformed kernel record"));
}

static struct building whole_event(void)
{
	struct script other = {0};
	struct building b = begin_call(&other, QP_EVENT_CALL, 10, QP_CALL_ID_openat, 3, ARGS(0));

	add_path(&b, QP_ROLE_RET, "/a/b");
	head_of(&b)->len = (uint32_t)b.len;
	return b;
}

Test(decode_hostile, a_record_that_is_cut)
{
	struct building b = whole_event();

	b.len -= 8;
	refuse(&b);
}

Test(decode_hostile, a_field_longer_than_its_record)
{
	struct building b = whole_event();

	((struct qp_field *)(b.bytes + sizeof(struct qp_event) + sizeof(struct qp_call)))->len =
		0xfffffff9;
	refuse(&b);
}

Test(decode_hostile, a_path_with_more_levels_than_names)
{
	struct building b = whole_event();

	((struct qp_path *)(b.bytes + sizeof(struct qp_event) + sizeof(struct qp_call) +
			    sizeof(struct qp_field)))
		->levels = 3;
	refuse(&b);
}

Test(decode_hostile, a_name_with_a_slash)
{
	struct building b = whole_event();

	b.bytes[sizeof(struct qp_event) + sizeof(struct qp_call) + sizeof(struct qp_field) +
		sizeof(struct qp_path)] = '/';
	refuse(&b);
}

/* As of a log whose recorder had another table. */
Test(decode_hostile, a_call_with_the_number_of_another)
{
	struct building b = whole_event();

	call_of(&b)->nr = native_number(QP_CALL_ID_openat2);
	refuse(&b);
}

Test(decode_hostile, a_call_without_a_row)
{
	struct building b = whole_event();

	call_of(&b)->call = QP_CALL_ID_CNT;
	refuse(&b);
}

Test(decode_hostile, a_type_of_the_future)
{
	struct building b = whole_event();

	head_of(&b)->type = 99;
	refuse(&b);
}

Test(decode_hostile, records_of_no_json_and_of_twice_the_same_key)
{
	exec_begins(s);
	cr_assert_eq(log_writer_append(s->log, LOG_RECORD_END, "{\"a\":1,\"a\":2}", 13), 0);
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_hostile, a_record_of_an_unknown_type_is_told_and_nothing_is_complete)
{
	exec_begins(s);
	cr_assert_eq(log_writer_append(s->log, 4242, "\xff", 1), 0);
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
	assert_json(json_object_get(facts.markers[MARKER_KERNEL_TRACE].detail, "state"),
		    "'a record of type 4242, which this qp does not know'");
}

Test(decode_hostile, an_empty_log_is_complete_in_nothing)
{
	script_open(s);
	script_decode(s, &facts);
	for (int i = 0; i < MARKER_CNT; i++)
		cr_assert(!facts.markers[i].ok || i == MARKER_PATHS_RESOLVED, "%s",
			  marker_name((enum marker)i));
}

Test(decode_hostile, more_processes_than_there_may_be_are_said)
{
	exec_begins(s);
	for (uint32_t i = 0; i < PROCESSES_TOO_MANY; i++) {
		ev_fork(s, 10, 100 + i);
		ev_exit(s, 100 + i, 0);
	}
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
	cr_assert_leq(json_array_size(facts.processes), 4096);
}

Test(decode_hostile, observations_are_bounded_and_that_is_said)
{
	char path[64];

	exec_begins(s);
	for (int i = 0; i < 20007; i++) {
		snprintf(path, sizeof(path), "/etc/f%d", i);
		ev_open(s, 10, path, O_WRONLY, 0, 1000 + (uint64_t)i);
	}
	exec_ends(s, 0, &facts);
	cr_assert_eq(facts.observations.cnt, 20000 + MARKER_CNT);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
}

/* A small generator, so that a failure can be repeated. */
static uint32_t random_state;

static uint32_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

/* Something of everything. */
static void write_busy_run(void)
{
	exec_begins(s);
	ev_fork(s, 10, 11);
	ev_exec(s, 11, "/usr/bin/node", "/work/node_modules/a", "node|x.js");
	ev_open(s, 11, "/etc/x", O_WRONLY | O_CREAT, QP_PATH_CREATED, 7);
	ev_open_failed(s, 11, "/work", "../etc/y", O_WRONLY, EACCES);
	ev_symlink(s, 11, "/etc", "/tmp/l");
	ev_two_paths(s, 11, QP_CALL_ID_rename, 0, "/tmp/l", "/tmp/m");
	ev_unlink(s, 11, 0, "/tmp/m/x/../y");
	ev_by_path(s, 11, QP_CALL_ID_chdir, 0, 0, "/work", "sub", "sub");
	ev_connect(s, 11, SOCK_DGRAM, 4000, "10.0.0.1", 53, 1, 0);
	ev_send(s, 11, QP_CALL_ID_sendmmsg, SOCK_DGRAM, 4000, "10.0.0.1", 53, 1, 2,
		"\x12\x34\x01\0\0\1\0\0\0\0\0\0\1x\0\0\1\0\1", 19);
	ev_connect(s, 11, SOCK_STREAM, 4001, "203.0.113.1", 80, 2, 0);
	ev_call(s, 11, QP_CALL_ID_kill, 0, ARGS(1, 9));
	ev_blocked(s, 11, QP_CALL_ID_unshare, -1, ARGS(0x20000));
	ev_call(s, 11, QP_CALL_ID_socket, 3, ARGS(AF_INET, SOCK_RAW, 1));
	add_json(s, LOG_RECORD_SINKHOLE,
		 json_pack("{s:s, s:i, s:s, s:i, s:s, s:i}", "type", "tcp", "srcPort", 4001,
			   "dstIp", "203.0.113.1", "dstPort", 80, "protocol", "unknown",
			   "bytesReceived", 4));
	add_json(s, LOG_RECORD_RESOLVED,
		 json_pack("{s:i, s:I, s:i, s:s, s:b}", "cpu", 0, "seq", (json_int_t)s->last_seq,
			   "role", 0, "path", "/a", "exists", 1));
	ev_exit(s, 11, 0);
	ev_exit(s, 10, 0);
	phase_ends(s, RUN, 0);
	add_ends(s, 1);
	add_trailer(s);
}

struct copied {
	uint16_t type;
	size_t len;
	unsigned char *bytes;
};

#define COPIED_MAX 64

static size_t read_busy_run(struct copied records[COPIED_MAX])
{
	char sha256[SHA256_HEX_SIZE];
	struct log_reader *reader;
	struct log_record record;
	uint64_t bytes;
	size_t cnt = 0;

	write_busy_run();
	cr_assert_eq(log_writer_close_take(s->log, sha256, &bytes), 0);
	cr_assert_eq(log_reader_open(s->path, &reader, NULL), 0);
	while (log_reader_next(reader, &record)) {
		cr_assert_lt(cnt, COPIED_MAX);
		records[cnt].type = record.type;
		records[cnt].len = record.len;
		records[cnt].bytes = malloc(record.len + 1);
		memcpy(records[cnt++].bytes, record.payload, record.len);
	}
	log_reader_free(reader);
	remove_tree_at(AT_FDCWD, s->folder);
	return cnt;
}

/* Writes the records again with some changed, left out, doubled or swapped. */
static void write_mutated(const struct copied *records, size_t cnt)
{
	script_open(s);
	for (size_t i = 0; i < cnt; i++) {
		const struct copied *record =
			&records[random_next() % 16 ? i : random_next() % cnt];
		unsigned char *copy = malloc(record->len + 1);
		size_t len = record->len;

		memcpy(copy, record->bytes, len);
		for (uint32_t n = random_next() % 4; n && len && random_next() % 2; n--)
			copy[random_next() % len] =
				(unsigned char)(random_next() % 3 ? random_next() : 0);
		if (random_next() % 64 == 0)
			len = random_next() % (len + 1);
		cr_assert_eq(log_writer_append(s->log, record->type, copy, len), 0);
		free(copy);
	}
}

Test(decode_hostile, no_mutation_of_a_log_crashes_decoding_or_printing, .timeout = 120)
{
	struct copied records[COPIED_MAX];
	size_t cnt = read_busy_run(records);
	FILE *null = fopen("/dev/null", "w");

	for (uint32_t seed = 1; seed <= 1009; seed++) {
		struct log_reader *reader;
		char sha256[SHA256_HEX_SIZE];
		uint64_t bytes;

		random_state = seed * 2654435761U;
		write_mutated(records, cnt);
		cr_assert_eq(log_writer_close_take(s->log, sha256, &bytes), 0);
		cr_assert_eq(log_reader_open(s->path, &reader, NULL), 0);
		cr_assert_eq(decode_log(reader, &facts, NULL), 0, "seed %u", seed);
		log_reader_free(reader);
		cr_assert_geq(facts.observations.cnt, MARKER_CNT);
		run_facts_clear(&facts);
		cr_assert_eq(log_reader_open(s->path, &reader, NULL), 0);
		cr_assert_eq(log_print_json(reader, null, NULL), 0, "seed %u", seed);
		log_reader_free(reader);
		remove_tree_at(AT_FDCWD, s->folder);
	}
	for (size_t i = 0; i < cnt; i++)
		free(records[i].bytes);
	fclose(null);
}
