/* SPDX-License-Identifier: Apache-2.0 */
/* Events of processes and of files, as one call each; phases; how a log begins and ends. */
#ifndef QP_TESTS_COLLECTOR_EVENTS_H
#define QP_TESTS_COLLECTOR_EVENTS_H

#include "bpf/syscalls.h"
#include "collector/decode_call.h"
#include "tests/collector/facts.h"
#include "tests/collector/script.h"

#include <errno.h>
#include <fcntl.h>

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

/* On x86_64, or on aarch64 where only that has the call. */
static inline uint32_t native_number(enum qp_call_id call)
{
	const struct call_info *info = call_info_get(call);

	return (uint32_t)(info->x86_64 >= 0 ? info->x86_64 : info->aarch64);
}

static inline struct building begin_call(struct script *s, uint16_t type, uint32_t pid,
					 enum qp_call_id call, int64_t ret, const uint64_t args[6])
{
	struct qp_call body = {
		.call = call, .nr = native_number(call), .ret = type == QP_EVENT_CALL ? ret : 0};

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
		 json_pack("{s:{s:i, s:i, s:{s:I, s:I, s:i}}, s:b}", "counters", "syscalls", 10855,
			   "unsummedWrites", 0, "events", "produced", (json_int_t)s->events,
			   "delivered", (json_int_t)s->events, "lost", 0, "complete", 1));
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

#endif
