/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs made by hand: kernel events as bpf/event.h has them, and the records around them,
 * written with the real writer and decoded from the file. A process with number N inside
 * has tgid 1000 + N outside; each event comes a microsecond after the one before.
 */
#ifndef QP_TESTS_COLLECTOR_EVENTS_H
#define QP_TESTS_COLLECTOR_EVENTS_H

#include "base/io.h"
#include "bpf/event.h"
#include "bpf/syscalls.h"
#include "collector/decode.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define NONCE	   "0123456789ababcdef012345"
#define NONCE_HIGH 0x0123456789abULL
#define NONCE_LOW  0xabcdef012345ULL
#define STARTED_NS 1000000000ULL
#define OUTSIDE	   1000

enum { COPY = 1, SCAN, REBUILD, HARNESS, DONE, RUN };

struct script {
	char folder[32], path[64];
	struct log_writer *log;
	uint64_t now, seq, events;
	uint32_t cpu;
	uint64_t last_seq; /* of the event that was emitted last */
};

/* A record under construction. */
struct building {
	unsigned char bytes[QP_EVENT_BYTES_MAX];
	size_t len;
};

static inline void add_json(struct script *s, enum log_record_type type, json_t *object)
{
	cr_assert(object);
	cr_assert_eq(log_writer_append_json(s->log, type, object), 0);
	json_decref(object);
}

static inline void script_open(struct script *s)
{
	*s = (struct script){.folder = "/tmp/qp-test-decode-XXXXXX", .now = STARTED_NS};
	cr_assert(mkdtemp(s->folder));
	snprintf(s->path, sizeof(s->path), "%s/run.qplog", s->folder);
	cr_assert_eq(log_writer_open(s->path, &s->log, NULL), 0);
}

static inline void script_begin(struct script *s, const char *mode)
{
	script_open(s);
	add_json(s, LOG_RECORD_PREAMBLE,
		 json_pack("{s:s, s:s, s:s, s:s, s:I, s:{s:s}, s:{s:s, s:s, s:s, s:s}}", "schema",
			   "qp-log/1", "nonce", NONCE, "mode", mode, "startedAt",
			   "2026-11-04T15:50:14.232Z", "started_ns", (json_int_t)STARTED_NS,
			   "package", "requested", "thing@1.0.0", "areas", "work", "/work", "tmp",
			   "/tmp", "home", "/home/ann", "shm", "/dev/shm"));
}

/* ---- Events ---------------------------------------------------------------------------- */

static inline struct building begin_event(struct script *s, uint16_t type, uint32_t pid,
					  const void *body, size_t body_len)
{
	struct building b = {.len = sizeof(struct qp_event) + body_len};
	struct qp_event head = {.type = type,
				.version = QP_EVENT_VERSION,
				.time_ns = s->now += 1000,
				.seq = ++s->seq,
				.cpu = s->cpu,
				.cgroup_id = 7,
				.tgid = OUTSIDE + pid,
				.tid = OUTSIDE + pid,
				.ns_tgid = pid,
				.ns_tid = pid,
				.uid = 10001};

	memcpy(b.bytes, &head, sizeof(head));
	memcpy(b.bytes + sizeof(head), body, body_len);
	return b;
}

static inline struct qp_event *head_of(struct building *b)
{
	return (struct qp_event *)b->bytes;
}

static inline void add_field(struct building *b, uint16_t kind, uint8_t role, uint8_t flags,
			     const void *data, size_t len)
{
	struct qp_field field = {kind, role, flags, (uint32_t)len};

	cr_assert_leq(b->len + sizeof(field) + len + 8, sizeof(b->bytes));
	memcpy(b->bytes + b->len, &field, sizeof(field));
	memcpy(b->bytes + b->len + sizeof(field), data, len);
	b->len += sizeof(field) + (len + 7) / 8 * 8;
}

static inline void add_string(struct building *b, uint8_t role, const char *text)
{
	add_field(b, QP_FIELD_STRING, role, 0, text, strlen(text));
}

/* An absolute path as the kernel has it: names from the leaf up. */
static inline void add_path_full(struct building *b, uint8_t role, const char *path, uint16_t flags,
				 uint64_t ino, uint32_t mode)
{
	unsigned char data[sizeof(struct qp_path) + 4096];
	struct qp_path head = {.flags = flags, .ino = ino, .dev = 42, .mode = mode};
	size_t at = sizeof(head), end = strlen(path);

	while (end) {
		size_t start = end;

		while (start && path[start - 1] != '/')
			start--;
		if (start < end) {
			memcpy(data + at, path + start, end - start);
			at += end - start;
			data[at++] = '\0';
			head.levels++;
		}
		end = start ? start - 1 : 0;
	}
	memcpy(data, &head, sizeof(head));
	add_field(b, QP_FIELD_PATH, role, 0, data, at);
}

static inline void add_path(struct building *b, uint8_t role, const char *path)
{
	add_path_full(b, role, path, 0, 1, S_IFREG | 0644);
}

static inline void emit(struct script *s, struct building *b)
{
	head_of(b)->len = (uint32_t)b->len;
	s->events++;
	s->last_seq = head_of(b)->seq;
	cr_assert_eq(log_writer_append(s->log, LOG_RECORD_EVENT, b->bytes, b->len), 0);
}

static inline void ev_fork(struct script *s, uint32_t parent, uint32_t child)
{
	struct qp_fork body = {OUTSIDE + child, OUTSIDE + child, child, child, s->now};
	struct building b = begin_event(s, QP_EVENT_FORK, parent, &body, sizeof(body));

	emit(s, &b);
}

/* @argv: words separated by '|'. */
static inline void ev_exec_full(struct script *s, uint32_t pid, const char *exe, uint64_t ino,
				uint16_t path_flags, uint32_t exec_flags, const char *cwd,
				const char *asked, const char *interp, const char *argv)
{
	struct qp_exec body = {.old_tid = OUTSIDE + pid, .flags = exec_flags};
	struct building b = begin_event(s, QP_EVENT_EXEC, pid, &body, sizeof(body));
	char words[1024];
	size_t len = strlen(argv) + 1;

	memcpy(words, argv, len);
	for (size_t i = 0; i < len; i++)
		if (words[i] == '|')
			words[i] = '\0';
	add_path_full(&b, QP_ROLE_EXE, exe, path_flags, ino, S_IFREG | 0755);
	add_path_full(&b, QP_ROLE_CWD, cwd, 0, 2, S_IFDIR | 0755);
	add_string(&b, QP_ROLE_ASKED, asked);
	add_string(&b, QP_ROLE_INTERP, interp);
	add_field(&b, QP_FIELD_ARGV, 0, 0, words, len);
	emit(s, &b);
}

static inline void ev_exec(struct script *s, uint32_t pid, const char *exe, const char *cwd,
			   const char *argv)
{
	ev_exec_full(s, pid, exe, 99, 0, 0, cwd, exe, exe, argv);
}

static inline void ev_exit(struct script *s, uint32_t pid, int code)
{
	struct qp_exit body = {code << 8, 1};
	struct building b = begin_event(s, QP_EVENT_EXIT, pid, &body, sizeof(body));

	emit(s, &b);
}

static inline struct building begin_call(struct script *s, uint16_t type, uint32_t pid,
					 enum qp_call_id call, int64_t ret, const uint64_t args[6])
{
	struct qp_call body = {.call = call, .ret = type == QP_EVENT_CALL ? ret : 0};

	memcpy(body.args, args, sizeof(body.args));
	return begin_event(s, type, pid, &body, sizeof(body));
}

#define ARGS(...) ((const uint64_t[6]){__VA_ARGS__})

static inline struct qp_call *call_of(struct building *b)
{
	return (struct qp_call *)(b->bytes + sizeof(struct qp_event));
}

static inline void ev_call(struct script *s, uint32_t pid, enum qp_call_id call, int64_t ret,
			   const uint64_t args[6])
{
	struct building b = begin_call(s, QP_EVENT_CALL, pid, call, ret, args);

	emit(s, &b);
}

static inline void ev_blocked(struct script *s, uint32_t pid, enum qp_call_id call, int64_t ret,
			      const uint64_t args[6])
{
	struct building b = begin_call(s, QP_EVENT_CALL, pid, call, ret, args);

	call_of(&b)->flags = QP_CALL_BLOCKED;
	emit(s, &b);
}

static inline void ev_heartbeat(struct script *s, int phase, int edge)
{
	ev_call(s, 1, QP_CALL_ID_prctl, -EINVAL,
		ARGS(QP_HEARTBEAT, NONCE_HIGH, NONCE_LOW, (uint64_t)phase, (uint64_t)edge));
}

/* An open that worked: the path is the kernel's. */
static inline void ev_open(struct script *s, uint32_t pid, const char *path, int flags,
			   uint16_t path_flags, uint64_t ino)
{
	struct building b = begin_call(s, QP_EVENT_CALL, pid, QP_CALL_ID_openat, 5,
				       ARGS((uint64_t)AT_FDCWD, 0x7000, (uint64_t)flags));

	add_path_full(&b, QP_ROLE_RET, path, path_flags, ino, S_IFREG | 0644);
	emit(s, &b);
}

/* One that did not: the text, and the folder it starts from. */
static inline void ev_open_failed(struct script *s, uint32_t pid, const char *cwd, const char *path,
				  int flags, int error)
{
	struct building b = begin_call(s, QP_EVENT_CALL, pid, QP_CALL_ID_openat, -error,
				       ARGS((uint64_t)AT_FDCWD, 0x7000, (uint64_t)flags));

	add_string(&b, 1, path);
	if (path[0] != '/')
		add_path_full(&b, QP_ROLE_CWD, cwd, 0, 2, S_IFDIR | 0755);
	emit(s, &b);
}

/* A call with one path argument, @arg; its text at entry and at exit. */
static inline void ev_by_path(struct script *s, uint32_t pid, enum qp_call_id call, int64_t ret,
			      uint8_t arg, const char *cwd, const char *at_enter,
			      const char *at_exit)
{
	const uint64_t args[6] = {(uint64_t)AT_FDCWD, (uint64_t)AT_FDCWD, 0x7000, 0x7000};
	struct building enter = begin_call(s, QP_EVENT_ENTER, pid, call, 0, args), leave;

	add_string(&enter, arg, at_enter);
	if (at_enter[0] != '/')
		add_path_full(&enter, QP_ROLE_CWD, cwd, 0, 2, S_IFDIR | 0755);
	emit(s, &enter);
	if (!at_exit)
		return;
	leave = begin_call(s, QP_EVENT_CALL, pid, call, ret, args);
	add_string(&leave, arg, at_exit);
	emit(s, &leave);
}

static inline void ev_two_paths(struct script *s, uint32_t pid, enum qp_call_id call, int64_t ret,
				const char *from, const char *to)
{
	const uint64_t args[6] = {0x7000, 0x7100};
	struct building enter = begin_call(s, QP_EVENT_ENTER, pid, call, 0, args), leave;

	add_string(&enter, 0, from);
	add_string(&enter, 1, to);
	emit(s, &enter);
	leave = begin_call(s, QP_EVENT_CALL, pid, call, ret, args);
	add_string(&leave, 0, from);
	add_string(&leave, 1, to);
	emit(s, &leave);
}

static inline void ev_unlink(struct script *s, uint32_t pid, int64_t ret, const char *path)
{
	ev_by_path(s, pid, QP_CALL_ID_unlink, ret, 0, "/work", path, path);
}

static inline void ev_symlink(struct script *s, uint32_t pid, const char *target, const char *path)
{
	ev_two_paths(s, pid, QP_CALL_ID_symlink, 0, target, path);
}

/* ---- Network --------------------------------------------------------------------------- */

static inline struct qp_sock sock_v4(int type, uint16_t sport, const char *to, uint16_t dport,
				     uint64_t cookie)
{
	struct qp_sock sock = {.family = AF_INET,
			       .type = (uint16_t)type,
			       .protocol = type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP,
			       .sport = sport,
			       .dport = dport,
			       .cookie = cookie};

	inet_pton(AF_INET, "10.0.0.2", sock.saddr);
	inet_pton(AF_INET, to, sock.daddr);
	return sock;
}

static inline void add_sockaddr_v4(struct building *b, uint8_t role, const char *to, uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, to, &in.sin_addr);
	add_field(b, QP_FIELD_SOCKADDR, role, 0, &in, sizeof(in));
}

/* The hook's event, then the call's. */
static inline void ev_connect(struct script *s, uint32_t pid, int type, uint16_t sport,
			      const char *to, uint16_t dport, uint64_t cookie, int64_t ret)
{
	struct qp_sock sock = sock_v4(type, sport, to, dport, cookie);
	struct qp_sockaddr hook = {.hook = QP_HOOK_CONNECT,
				   .family = AF_INET,
				   .protocol = (uint8_t)sock.protocol,
				   .type = (uint8_t)type,
				   .dport = dport,
				   .cookie = cookie};
	struct building b;

	memcpy(hook.addr, sock.daddr, 4);
	b = begin_event(s, QP_EVENT_SOCKADDR, pid, &hook, sizeof(hook));
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, pid, QP_CALL_ID_connect, ret, ARGS(5, 0x7000, 16));
	add_sockaddr_v4(&b, 1, to, dport);
	add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	emit(s, &b);
}

/* A send on a connected socket. */
static inline void ev_send(struct script *s, uint32_t pid, enum qp_call_id call, int type,
			   uint16_t sport, const char *to, uint16_t dport, uint64_t cookie,
			   int64_t ret, const void *payload, size_t payload_len)
{
	struct qp_sock sock = sock_v4(type, sport, to, dport, cookie);
	struct building b = begin_call(s, QP_EVENT_CALL, pid, call, ret, ARGS(5, 0x7000, 1));

	add_field(&b, QP_FIELD_SOCK, 0, 0, &sock, sizeof(sock));
	if (payload)
		add_field(&b, QP_FIELD_PAYLOAD, 1, 0, payload, payload_len);
	emit(s, &b);
}

/* ---- Phases and ends ------------------------------------------------------------------- */

static inline void add_phase(struct script *s, const char *phase, const char *edge, int number)
{
	json_t *record = json_pack("{s:s, s:s, s:I}", "phase", phase, "edge", edge, "t_ns",
				   (json_int_t)s->now);

	if (!strcmp(edge, "pid"))
		json_object_set_new(record, "pid", json_integer(number));
	if (!strcmp(edge, "end"))
		json_object_set_new(record, "rc", json_integer(number));
	add_json(s, LOG_RECORD_PHASE, record);
}

static const char *const script_phases[] = {"",	       "copy", "scan", "rebuild",
					    "harness", "done", "run"};

/* A phase begins and, with @pid, PID 1 forks its process. */
static inline void phase_begins(struct script *s, int phase, uint32_t pid)
{
	ev_heartbeat(s, phase, 0);
	add_phase(s, script_phases[phase], "begin", 0);
	if (!pid)
		return;
	ev_fork(s, 1, pid);
	add_phase(s, script_phases[phase], "pid", (int)pid);
}

static inline void phase_ends(struct script *s, int phase, int rc)
{
	ev_heartbeat(s, phase, 1);
	add_phase(s, script_phases[phase], "end", rc);
}

/* PID 1 has begun its program. */
static inline void init_begins(struct script *s)
{
	ev_exec(s, 1, "/init", "/", "/init");
}

/* The command's phase of `qp exec` has begun: process 10 is the package's. */
static inline void exec_begins(struct script *s)
{
	script_begin(s, "exec");
	init_begins(s);
	phase_begins(s, COPY, 0);
	phase_ends(s, COPY, 0);
	phase_begins(s, RUN, 10);
	ev_exec(s, 10, "/usr/bin/sh", "/work", "sh|-c|true");
}

static inline void add_ends(struct script *s, int sinkhole_records)
{
	add_json(s, LOG_RECORD_SINKHOLE_END,
		 json_pack("{s:b, s:b, s:i}", "ready", 1, "flushed", 1, "records",
			   sinkhole_records));
	add_json(s, LOG_RECORD_END,
		 json_pack("{s:i, s:s, s:[]}", "exitCode", 0, "endedBy", "exit", "limitsHit"));
}

static inline void add_trailer(struct script *s)
{
	add_json(s, LOG_RECORD_TRAILER,
		 json_pack("{s:{s:i, s:{s:I, s:I, s:i}}, s:b}", "counters", "syscalls", 10855,
			   "events", "produced", (json_int_t)s->events, "delivered",
			   (json_int_t)s->events, "lost", 0, "complete", 1));
}

static inline void script_decode(struct script *s, struct run_facts *ret_facts)
{
	char sha256[SHA256_HEX_SIZE];
	struct log_reader *reader;
	uint64_t bytes;

	cr_assert_eq(log_writer_close_take(s->log, sha256, &bytes), 0);
	cr_assert_eq(log_reader_open(s->path, &reader, NULL), 0);
	cr_assert_eq(decode_log(reader, ret_facts, NULL), 0);
	cr_assert_str_eq(ret_facts->log_sha256, sha256);
	log_reader_free(reader);
	remove_tree_at(AT_FDCWD, s->folder);
}

static inline void exec_ends(struct script *s, int sinkhole_records, struct run_facts *ret_facts)
{
	ev_exit(s, 10, 0);
	phase_ends(s, RUN, 0);
	add_ends(s, sinkhole_records);
	add_trailer(s);
	script_decode(s, ret_facts);
}

/* ---- What came of it ------------------------------------------------------------------- */

static inline size_t count(const struct run_facts *facts, enum observation_kind kind)
{
	size_t cnt = 0;

	for (size_t i = 0; i < facts->observations.cnt; i++)
		cnt += facts->observations.items[i].kind == kind;
	return cnt;
}

/* The @nth observation of that kind, from 0. */
static inline const struct observation *nth(const struct run_facts *facts,
					    enum observation_kind kind, size_t n)
{
	for (size_t i = 0; i < facts->observations.cnt; i++)
		if (facts->observations.items[i].kind == kind && !n--)
			return &facts->observations.items[i];
	cr_assert_fail("no such observation of kind %s", observation_kind_name(kind));
	return NULL;
}

static inline const struct observation *only(const struct run_facts *facts,
					     enum observation_kind kind)
{
	cr_assert_eq(count(facts, kind), 1, "%zu of kind %s", count(facts, kind),
		     observation_kind_name(kind));
	return nth(facts, kind, 0);
}

/* Compares with JSON text in which ' stands for ". */
static inline void assert_json(const json_t *value, const char *expected)
{
	char text[2048];
	json_t *wanted;
	size_t len = strlen(expected);

	cr_assert_lt(len, sizeof(text));
	memcpy(text, expected, len + 1);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\'')
			text[i] = '"';
	wanted = json_loads(text, JSON_DECODE_ANY, NULL);
	cr_assert(wanted, "%s", text);
	if (!json_equal(value, wanted)) {
		char *got = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

		cr_assert_fail("got %s, wanted %s", got ? got : "nothing", text);
	}
	json_decref(wanted);
}

static inline const json_t *extra(const struct observation *observation, const char *key)
{
	return json_object_get(observation->extra, key);
}

#endif
