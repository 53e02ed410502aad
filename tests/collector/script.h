/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs made by hand: kernel events as bpf/event.h has them, put together field by field and
 * written with the real writer. A process with number N inside has tgid 1000 + N outside;
 * each event comes a microsecond after the one before.
 */
#ifndef QP_TESTS_COLLECTOR_SCRIPT_H
#define QP_TESTS_COLLECTOR_SCRIPT_H

#include "base/io.h"
#include "bpf/event.h"
#include "collector/decode.h"

#include <criterion/criterion.h>
#include <string.h>
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

static inline void script_begin_on(struct script *s, const char *mode, const char *machine)
{
	script_open(s);
	add_json(s, LOG_RECORD_PREAMBLE,
		 json_pack("{s:s, s:s, s:s, s:s, s:I, s:{s:s}, s:{s:s}, s:{s:s, s:s, s:s, s:s}}",
			   "schema", "qp-log/1", "nonce", NONCE, "mode", mode, "startedAt",
			   "2026-11-04T15:50:14.232Z", "started_ns", (json_int_t)STARTED_NS,
			   "kernel", "machine", machine, "package", "requested", "thing@1.0.0",
			   "areas", "work", "/work", "tmp", "/tmp", "home", "/home/ann", "shm",
			   "/dev/shm"));
}

static inline void script_begin(struct script *s, const char *mode)
{
	script_begin_on(s, mode, "x86_64");
}

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

#endif
