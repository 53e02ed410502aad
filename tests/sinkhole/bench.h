/* SPDX-License-Identifier: Apache-2.0 */
/* Connections without a network: socket pairs, and what is recorded of them. */
#ifndef QP_TESTS_SINKHOLE_BENCH_H
#define QP_TESTS_SINKHOLE_BENCH_H

#include "sinkhole/conn.h"
#include "sinkhole/watch.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* Connections over socket pairs, and the records that they left. */
struct bench {
	int epoll_fd, client;
	struct record_log log;
	struct resolver resolver;
	struct decoys *decoys;
	struct conns *conns;
	json_t *records; /* an array, after bench_read */
};

/* @values: decoys as JSON, or NULL. */
static inline void bench_open_decoys(struct bench *bench, size_t max, const char *values)
{
	memset(bench, 0, sizeof(*bench));
	if (values) {
		json_t *object = json_loads(values, 0, NULL);

		cr_assert_eq(decoys_new(object, &bench->decoys, NULL), 0);
		json_decref(object);
	}
	bench->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	bench->log.fd = memfd_create("records", MFD_CLOEXEC);
	bench->resolver = (struct resolver){names_new(), &bench->log, bench->decoys};
	bench->conns = conns_new(bench->epoll_fd, &bench->resolver, max);
}

static inline void bench_open(struct bench *bench, size_t max)
{
	bench_open_decoys(bench, max, NULL);
}

/* A new connection from port @port to 203.0.113.7; returns the client's end. */
static inline int bench_connect(struct bench *bench, uint16_t port, uint16_t dst_port)
{
	const uint8_t from[4] = {10, 23, 4, 17}, to[4] = {203, 0, 113, 7};
	struct endpoint src = endpoint_make(AF_INET, from, port);
	struct endpoint dst = endpoint_make(AF_INET, to, dst_port);
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	cr_assert_eq(conns_add(bench->conns, ends[1], &src, &dst), 0);
	bench->client = ends[0];
	return ends[0];
}

static inline void bench_turn(struct bench *bench)
{
	struct epoll_event event;

	while (epoll_wait(bench->epoll_fd, &event, 1, 0) == 1) {
		struct watch *watch = event.data.ptr;

		watch->ready(watch);
		conns_bury(bench->conns);
	}
}

static inline void bench_send(struct bench *bench, const void *bytes, size_t len, size_t piece)
{
	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		cr_assert_eq(send(bench->client, (const char *)bytes + at, n, MSG_NOSIGNAL),
			     (ssize_t)n);
		bench_turn(bench);
	}
}

static inline void bench_end(struct bench *bench)
{
	close(bench->client);
	bench_turn(bench);
}

static inline json_t *bench_read(struct bench *bench)
{
	static char text[1 << 20];
	char *line, *rest = text;
	ssize_t n;

	conns_flush(bench->conns);
	n = pread(bench->log.fd, text, sizeof(text) - 1, 0);
	cr_assert_geq(n, 0);
	text[n] = '\0';
	bench->records = json_array();
	while ((line = strsep(&rest, "\n")) && *line)
		json_array_append_new(bench->records,
				      json_loads(line, JSON_REJECT_DUPLICATES, NULL));
	return bench->records;
}

static inline void bench_close(struct bench *bench)
{
	json_decref(bench->records);
	conns_free(bench->conns);
	names_free(bench->resolver.names);
	decoys_free(bench->decoys);
	close(bench->log.fd);
	close(bench->epoll_fd);
}

/* The record of index @at has every member of the JSON object in @expected. */
static inline void expect_record(json_t *records, size_t at, const char *expected)
{
	json_t *wanted = json_loads(expected, 0, NULL), *value;
	json_t *record = json_array_get(records, at);
	const char *key;

	cr_assert_not_null(wanted, "%s", expected);
	cr_assert_not_null(record, "no record %zu", at);
	json_object_foreach (wanted, key, value)
		cr_expect(json_equal(json_object_get(record, key), value), "%s of %s", key,
			  json_dumps(record, JSON_COMPACT | JSON_SORT_KEYS));
	json_decref(wanted);
}

#endif
