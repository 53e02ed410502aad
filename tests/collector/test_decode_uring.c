// SPDX-License-Identifier: Apache-2.0
/* Requests of io_uring become what the system call of the same name would be. */
#include "bpf/uring.h"
#include "tests/collector/events_net.h"

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

TestSuite(decode_uring, .init = begin, .fini = tidy);

/* A request's record; a worker's call by the same thread number is none of its business. */
static struct building begin_request(uint16_t type, uint32_t request, enum qp_call_id call,
				     uint32_t opcode, int64_t ret, const uint64_t args[6])
{
	struct building b = begin_call(s, type, 10, call, ret, args);

	call_of(&b)->flags = QP_CALL_IO_URING;
	call_of(&b)->nr = opcode;
	call_of(&b)->request = request;
	return b;
}

static struct building begin_unlink(uint32_t request, const char *path, uint8_t flags)
{
	struct building b = begin_request(QP_EVENT_ENTER, request, QP_CALL_ID_unlinkat,
					  QP_URING_UNLINKAT, 0, ARGS((uint64_t)AT_FDCWD, 0x7000));

	call_of(&b)->flags |= flags;
	add_string(&b, 1, path);
	add_path_full(&b, QP_ROLE_CWD, "/work", 0, 2, S_IFDIR | 0755);
	return b;
}

static void ev_unlink_result(uint32_t request, int64_t ret)
{
	struct building b = begin_request(QP_EVENT_CALL, request, QP_CALL_ID_unlinkat,
					  QP_URING_UNLINKAT, ret, ARGS((uint64_t)AT_FDCWD, 0x7000));

	emit(s, &b);
}

static void assert_uring(const struct observation *o, const char *path,
			 enum observation_outcome outcome)
{
	cr_assert_str_eq(o->path, path);
	cr_assert_eq(o->outcome, outcome, "%s", observation_outcome_name(o->outcome));
	assert_json(extra(o, "ioUring"), "true");
}

Test(decode_uring, a_request_is_told_by_both_of_its_records)
{
	struct building b = begin_unlink(1, "one", 0);

	emit(s, &b);
	b = begin_unlink(2, "/etc/two", 0);
	emit(s, &b);
	ev_unlink(s, 10, 0, "/work/by-call"); /* of the same thread meanwhile */
	ev_unlink_result(2, -EACCES);
	ev_unlink_result(1, 0);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_DELETE), 3);
	cr_assert_null(extra(nth(&facts, OBSERVATION_FILE_DELETE, 0), "ioUring"));
	assert_uring(nth(&facts, OBSERVATION_FILE_DELETE, 1), "/etc/two", OUTCOME_ATTEMPTED);
	assert_uring(nth(&facts, OBSERVATION_FILE_DELETE, 2), "/work/one", OUTCOME_EFFECTED);
	cr_assert(facts.markers[MARKER_PATHS_RESOLVED].ok);
	cr_assert(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_uring, a_request_without_a_result_is_undetermined)
{
	struct building b = begin_unlink(1, "/etc/one", 0);

	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_uring(only(&facts, OBSERVATION_FILE_DELETE), "/etc/one", OUTCOME_UNDETERMINED);
	cr_assert_not(facts.markers[MARKER_PATHS_RESOLVED].ok);
}

Test(decode_uring, what_asks_for_no_result_is_told_at_once)
{
	struct building b;

	for (uint32_t i = 1; i <= 2000; i++) { /* more than may be under way */
		b = begin_unlink(i, "/etc/one", QP_CALL_SILENT);
		emit(s, &b);
	}
	b = begin_request(QP_EVENT_ENTER, 2001, QP_CALL_ID_write, QP_URING_WRITE, 0, ARGS(5));
	call_of(&b)->flags |= QP_CALL_SILENT;
	add_path_full(&b, 0, "/etc/two", 0, 7, S_IFREG | 0644);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_uring(only(&facts, OBSERVATION_FILE_DELETE), "/etc/one", OUTCOME_UNDETERMINED);
	assert_uring(only(&facts, OBSERVATION_FILE_WRITE), "/etc/two", OUTCOME_UNDETERMINED);
	cr_assert(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_uring, an_open_and_a_write_name_the_kernels_file)
{
	struct building b = begin_request(QP_EVENT_ENTER, 1, QP_CALL_ID_openat, QP_URING_OPENAT, 0,
					  ARGS((uint64_t)AT_FDCWD, 0x7000, O_WRONLY));

	add_string(&b, 1, "link");
	emit(s, &b);
	b = begin_request(QP_EVENT_CALL, 1, QP_CALL_ID_openat, QP_URING_OPENAT, 5,
			  ARGS((uint64_t)AT_FDCWD, 0x7000, O_WRONLY));
	add_path_full(&b, QP_ROLE_RET, "/etc/one", 0, 7, S_IFREG | 0644);
	emit(s, &b);
	b = begin_request(QP_EVENT_CALL, 2, QP_CALL_ID_write, QP_URING_WRITE_FIXED, 4, ARGS(0));
	add_path_full(&b, 0, "/etc/two", 0, 8, S_IFREG | 0644);
	emit(s, &b);
	exec_ends(s, 0, &facts);
	assert_uring(nth(&facts, OBSERVATION_FILE_WRITE, 0), "/etc/one", OUTCOME_EFFECTED);
	assert_uring(nth(&facts, OBSERVATION_FILE_WRITE, 1), "/etc/two", OUTCOME_EFFECTED);
}

static void ev_hook(uint32_t tid, const char *to, uint16_t port, uint64_t cookie)
{
	struct qp_sockaddr hook = {.hook = QP_HOOK_CONNECT,
				   .family = AF_INET,
				   .protocol = IPPROTO_TCP,
				   .type = SOCK_STREAM,
				   .dport = port,
				   .cookie = cookie};
	struct building b;

	inet_pton(AF_INET, to, hook.addr);
	b = begin_event(s, QP_EVENT_SOCKADDR, 10, &hook, sizeof(hook));
	head_of(&b)->tid = tid;
	emit(s, &b);
}

static void ev_connect_result(uint32_t request, const char *to, uint16_t port, uint64_t cookie,
			      int64_t ret)
{
	struct qp_sock sock = sock_v4(SOCK_STREAM, 40000, to, port, cookie);
	struct building b = begin_request(QP_EVENT_CALL, request, QP_CALL_ID_connect,
					  QP_URING_CONNECT, ret, ARGS(5, 0x7000, 16));

	add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	emit(s, &b);
}

/* A worker connected the one, the thread itself another meanwhile. */
Test(decode_uring, a_connection_is_of_its_socket_whichever_thread_made_it)
{
	ev_hook(OUTSIDE + 77, "192.0.2.1", 443, 5);
	ev_connect(s, 10, SOCK_STREAM, 40001, "192.0.2.2", 80, 6, 0);
	ev_connect_result(1, "192.0.2.1", 443, 5, -ECONNREFUSED);
	exec_ends(s, 0, &facts);
	cr_assert_eq(count(&facts, OBSERVATION_NET_TCP), 2);
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->orig_dest, "192.0.2.1:443");
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 0)->outcome, OUTCOME_ATTEMPTED);
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 0), "errno"), "'ECONNREFUSED'");
	assert_json(extra(nth(&facts, OBSERVATION_NET_TCP, 0), "ioUring"), "true");
	cr_assert_str_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->orig_dest, "192.0.2.2:80");
	cr_assert_eq(nth(&facts, OBSERVATION_NET_TCP, 1)->outcome, OUTCOME_EFFECTED);
	cr_assert_null(extra(nth(&facts, OBSERVATION_NET_TCP, 1), "ioUring"));
}

/* The thread has begun a connection in the ring; its next own call is of another socket. */
Test(decode_uring, a_call_does_not_take_the_address_of_a_request)
{
	ev_hook(OUTSIDE + 10, "192.0.2.1", 443, 5);
	ev_send(s, 10, QP_CALL_ID_sendto, SOCK_DGRAM, 40001, "192.0.2.53", 53, 6, 3, "abc", 3);
	ev_connect_result(1, "192.0.2.1", 443, 5, 0);
	exec_ends(s, 0, &facts);
	cr_assert_eq(only(&facts, OBSERVATION_NET_TCP)->outcome, OUTCOME_EFFECTED);
	assert_json(extra(only(&facts, OBSERVATION_NET_TCP), "ioUring"), "true");
}

static void ends_with(json_t *uring)
{
	json_t *counters = json_pack("{s:i, s:{s:I, s:I, s:i}, s:o}", "syscalls", 1, "events",
				     "produced", (json_int_t)s->events, "delivered",
				     (json_int_t)s->events, "lost", 0, "uring", uring);

	phase_ends(s, RUN, 0);
	json_object_set_new(json_object_get(counters, "events"), "produced",
			    json_integer((json_int_t)s->events));
	json_object_set_new(json_object_get(counters, "events"), "delivered",
			    json_integer((json_int_t)s->events));
	add_ends(s, 0);
	add_json(s, LOG_RECORD_TRAILER,
		 json_pack("{s:o, s:b}", "counters", counters, "complete", 1));
	script_decode(s, &facts);
}

Test(decode_uring, requests_that_are_all_known_leave_the_trace_complete)
{
	ev_call(s, 10, QP_CALL_ID_io_uring_setup, 7, ARGS(64, 0x7000));
	ends_with(json_pack("{s:i, s:i, s:{s:i}}", "requests", 1, "unfinished", 0, "byOpcode",
			    "NOP", 1));
	cr_assert(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_uring, an_opcode_that_came_later_makes_the_trace_incomplete)
{
	ends_with(json_pack("{s:i, s:i, s:{s:i}}", "requests", 3, "unfinished", 0, "byOpcode",
			    "opcode_200", 3));
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
	assert_json(json_object_get(facts.markers[MARKER_KERNEL_TRACE].detail, "state"),
		    "'3 requests of io_uring have the opcode 200, which is not known here'");
}

Test(decode_uring, a_result_that_was_not_seen_makes_the_trace_incomplete)
{
	ends_with(json_pack("{s:i, s:i, s:{s:i}}", "requests", 3, "unfinished", 1, "byOpcode",
			    "WRITE", 3));
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
}

static void ev_command(const char *path)
{
	struct qp_sock sock = sock_v4(SOCK_STREAM, 1, "192.0.2.1", 2, 3);
	struct building b = begin_request(QP_EVENT_CALL, 1, QP_CALL_ID_ioctl, QP_URING_URING_CMD, 0,
					  ARGS(5, 0x1234));

	if (path)
		add_path_full(&b, 0, path, 0, 7, S_IFCHR | 0600);
	else
		add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	emit(s, &b);
	exec_ends(s, 0, &facts);
}

Test(decode_uring, a_command_to_a_device_makes_the_trace_incomplete)
{
	ev_command("/dev/ublkc0");
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_uring, a_command_to_a_socket_does_not)
{
	ev_command(NULL);
	cr_assert(facts.markers[MARKER_KERNEL_TRACE].ok);
}

Test(decode_uring, a_request_without_a_number_is_malformed)
{
	struct building b = begin_unlink(0, "/etc/one", 0);

	emit(s, &b);
	exec_ends(s, 0, &facts);
	cr_assert_not(facts.markers[MARKER_KERNEL_TRACE].ok);
	cr_assert_eq(count(&facts, OBSERVATION_FILE_DELETE), 0);
}
