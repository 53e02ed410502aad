/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a function in a child of a cgroup of its own while a collector records it, and
 * hands back what the evidence log holds. For the live tests of capture.
 */
#ifndef QP_TESTS_COLLECTOR_CAPTURE_RUN_H
#define QP_TESTS_COLLECTOR_CAPTURE_RUN_H

#include "base/cleanup.h"
#include "bpf/event.h"
#include "bpf/syscalls.h"
#include "collector/collector.h"
#include "collector/fields.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct capture {
	char dir[64];	 /* a scratch folder, the child's first argument; removed after */
	char group[512]; /* the cgroup's folder */
	char log_path[96];
	uint32_t ring_bytes; /* 0: the default */
	const char *tier;    /* NULL: the best the kernel allows */
	bool refused;	     /* the kernel does not allow it: there is nothing else here */
	bool watch_env;	     /* the reads of variables through the host's C library too */
	bool late_drain;     /* nothing is read before the child has ended */
	uint32_t *drains;    /* shared with the child: how often was read */
	pid_t child;
	int status; /* the child's, as wait(2) gives it */
	struct qp_event **events;
	size_t cnt;
	json_t **resolved;
	size_t resolved_cnt;
	json_t *sums; /* of what was written, [[number, bytes], ...] */
	json_t *counters;
};

/* Skips the test where programs cannot be loaded, or fails it when that is not allowed. */
static inline bool capture_possible(void)
{
	if (geteuid() == 0 && access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		return true;
	cr_assert(!getenv("QP_MUST_RUN"), "root and BTF are needed");
	cr_skip("needs root and a kernel with BTF");
	return false;
}

static inline void capture_write(const char *folder, const char *name, const char *text)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s", path);
	close(fd);
}

static inline void capture_group_make(struct capture *c)
{
	struct qp_error err = {0};
	char *mount_point;

	cr_assert_eq(cgroup2_mount_point(&mount_point, &err), 0, "%s", err.text);
	snprintf(c->group, sizeof(c->group), "%s/qp-test-%d", mount_point, getpid());
	cr_assert(mkdir(c->group, 0755) == 0 || errno == EEXIST, "%s", c->group);
	free(mount_point);
	snprintf(c->dir, sizeof(c->dir), "/tmp/qp-test-XXXXXX");
	cr_assert_not_null(mkdtemp(c->dir));
	snprintf(c->log_path, sizeof(c->log_path), "%s.qplog", c->dir);
}

/* For the child: waits until all that it did so far was read, and its paths looked up. Of two
 * reads that end from now on, the second one began after now. */
static inline void capture_await_drain(const struct capture *c)
{
	uint32_t now = __atomic_load_n(c->drains, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(c->drains, __ATOMIC_SEQ_CST) - now < 2)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The child waits for its cue in a read that is not recorded, then becomes @work. */
static inline void capture_child(struct capture *c, void (*work)(const struct capture *))
{
	char number[16];
	int cue[2];

	cr_assert_eq(pipe2(cue, O_CLOEXEC), 0);
	c->child = fork();
	cr_assert(c->child >= 0);
	if (c->child == 0) {
		char byte;

		if (chdir(c->dir) < 0 || read(cue[0], &byte, 1) != 1)
			_exit(99);
		work(c);
		_exit(0);
	}
	snprintf(number, sizeof(number), "%d", c->child);
	capture_write(c->group, "cgroup.procs", number);
	cr_assert_eq(write(cue[1], "x", 1), 1);
	close(cue[0]);
	close(cue[1]);
}

static inline void capture_read_back(struct capture *c)
{
	struct log_reader *reader;
	struct log_record record;
	struct qp_error err = {0};

	c->sums = json_array();
	cr_assert_eq(log_reader_open(c->log_path, &reader, &err), 0, "%s", err.text);
	while (log_reader_next(reader, &record) == 1) {
		if (record.type == LOG_RECORD_EVENT) {
			c->events = realloc(c->events, (c->cnt + 1) * sizeof(*c->events));
			c->events[c->cnt] = malloc(record.len);
			memcpy(c->events[c->cnt++], record.payload, record.len);
		} else if (record.type == LOG_RECORD_RESOLVED) {
			c->resolved =
				realloc(c->resolved, (c->resolved_cnt + 1) * sizeof(*c->resolved));
			c->resolved[c->resolved_cnt++] =
				json_loads((const char *)record.payload, 0, NULL);
		} else if (record.type == LOG_RECORD_WRITTEN) {
			json_t *object = json_loads((const char *)record.payload, 0, NULL);

			json_array_extend(c->sums, json_object_get(object, "sums"));
			json_decref(object);
		}
	}
	log_reader_free(reader);
}

static inline void capture_wait(struct capture *c, struct collector *collector,
				struct log_writer *log)
{
	struct pollfd ready = {.fd = collector_fd(collector), .events = POLLIN};

	while (waitpid(c->child, &c->status, WNOHANG) == 0) {
		poll(&ready, 1, 100);
		if (c->late_drain)
			continue;
		cr_assert_eq(collector_drain(collector, log), 0);
		__atomic_add_fetch(c->drains, 1, __ATOMIC_SEQ_CST);
	}
	cr_assert_eq(collector_drain(collector, log), 0);
}

/* The host's own C library must be among those that are found. */
static inline void capture_watch_env(struct collector *collector)
{
	struct qp_error err = {0};
	json_t *libraries;
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	cr_assert_eq(collector_watch_env(collector, root, &libraries, &err), 0, "%s", err.text);
	cr_assert_geq(json_array_size(libraries), 1);
	json_decref(libraries);
	close(root);
}

/*
 * The whole run. capture_free() when done. QP_TIER in the environment says that this host has
 * the tier of that name; else it may refuse what is asked for, with the reason.
 */
static inline void capture_run(struct capture *c, void (*work)(const struct capture *))
{
	struct collector_options options = {.ring_bytes = c->ring_bytes, .tier = c->tier};
	struct collector *collector;
	struct log_writer *log;
	struct qp_error err = {0};
	char sha256[SHA256_HEX_SIZE];
	uint64_t id, bytes;
	json_t *trailer;
	int fd, rc;

	capture_group_make(c);
	rc = collector_open(&options, &collector, &err);
	if (rc == -ENOTSUP && c->tier && !getenv("QP_TIER")) {
		cr_assert(strstr(err.text, "the kernel-object tier is not to be had here: "), "%s",
			  err.text);
		c->refused = true;
		return;
	}
	cr_assert_eq(rc, 0, "%s", err.text);
	if (c->tier)
		cr_assert_str_eq(collector_tier(collector), c->tier);
	fd = open(c->group, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(collector_track(collector, fd, &id, &err), 0, "%s", err.text);
	close(fd);
	if (c->watch_env)
		capture_watch_env(collector);
	cr_assert_eq(log_writer_open(c->log_path, &log, &err), 0, "%s", err.text);
	c->drains = mmap(NULL, sizeof(*c->drains), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(c->drains, MAP_FAILED);
	capture_child(c, work);
	capture_wait(c, collector, log);
	cr_assert_eq(collector_stop(collector, log), 0);
	cr_assert_eq(collector_counters(collector, &trailer), 0);
	c->counters = json_incref(json_object_get(trailer, "counters"));
	json_decref(trailer);
	cr_assert_eq(log_writer_close_take(log, sha256, &bytes), 0);
	collector_free(collector);
	capture_read_back(c);
}

static inline void capture_free(struct capture *c)
{
	char command[128];

	for (size_t i = 0; i < c->cnt; i++)
		free(c->events[i]);
	for (size_t i = 0; i < c->resolved_cnt; i++)
		json_decref(c->resolved[i]);
	free(c->events);
	free(c->resolved);
	json_decref(c->counters);
	json_decref(c->sums);
	snprintf(command, sizeof(command), "rm -rf %s", c->dir);
	cr_expect_eq(system(command), 0);
	unlink(c->log_path);
	/* The kernel empties a group a little after its last task was waited for. */
	for (int i = 0; rmdir(c->group) < 0 && i < 100; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* How often the counters say that the call was made. */
static inline json_int_t capture_calls(const struct capture *c, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(c->counters, "calls"), name));
}

/* The @nth record, from 0, of @type and, for calls, of @call. NULL when there are fewer. */
static inline const struct qp_event *capture_event(const struct capture *c, unsigned int type,
						   unsigned int call, size_t nth)
{
	for (size_t i = 0; i < c->cnt; i++) {
		const struct qp_call *body = event_body(c->events[i], sizeof(*body));

		if (c->events[i]->type != type || (call && (!body || body->call != call)))
			continue;
		if (nth-- == 0)
			return c->events[i];
	}
	return NULL;
}

/* A path field's text into @buf; its flags, or -1 when there is no such field. */
static inline int capture_path(const struct qp_event *event, size_t body_size, unsigned int role,
			       char *buf, size_t size)
{
	const struct qp_field *field = event_find(event, body_size, QP_FIELD_PATH, role);
	const struct qp_path *path;
	const char *name, *end;
	size_t pos = size - 1;

	if (!field)
		return -1;
	path = (const struct qp_path *)(field + 1);
	name = (const char *)(path + 1);
	end = (const char *)path + field->len;
	buf[pos] = '\0';
	for (; name < end; name += strlen(name) + 1) {
		cr_assert(pos > strlen(name) + 1);
		pos -= strlen(name);
		memcpy(buf + pos, name, strlen(name));
		buf[--pos] = '/';
	}
	memmove(buf, buf + pos, size - pos);
	return path->flags;
}

/* Expects the field of a call to name @relative below the child's folder; "" is the folder itself.
 */
static inline void expect_path(const struct capture *c, const struct qp_event *event,
			       unsigned int role, const char *relative)
{
	char path[8192];

	cr_assert_not_null(event);
	cr_assert_geq(capture_path(event, sizeof(struct qp_call), role, path, sizeof(path)), 0);
	cr_assert_eq(strncmp(path, c->dir, strlen(c->dir)), 0, "%s", path);
	cr_expect_str_eq(path + strlen(c->dir), relative);
}

/* A text field with a NUL behind it, valid until the next call; NULL when there is none. */
static inline const char *capture_text(const struct qp_event *event, size_t body_size,
				       unsigned int kind, unsigned int role)
{
	static char text[QP_EVENT_BYTES_MAX];
	const struct qp_field *field = event_find(event, body_size, kind, role);

	if (!field)
		return NULL;
	memcpy(text, field + 1, field->len);
	text[field->len] = '\0';
	return text;
}

/* The path of the @nth `resolved` record, borrowed; NULL when there is none. */
static inline const char *capture_resolved(const struct capture *c, size_t nth)
{
	return nth < c->resolved_cnt ? json_string_value(json_object_get(c->resolved[nth], "path"))
				     : NULL;
}

/* The bytes in the sum that the record of a write names; -1: there is none. */
static inline json_int_t capture_sum(const struct capture *c, const struct qp_event *event)
{
	const struct qp_call *body = event_body(event, sizeof(*body));
	json_int_t bytes = -1;
	json_t *pair;
	size_t i;

	cr_assert(body->written && body->written != QP_WRITTEN_NO_NUMBER);
	json_array_foreach (c->sums, i, pair) {
		if (json_integer_value(json_array_get(pair, 0)) != body->written)
			continue;
		bytes = (bytes < 0 ? 0 : bytes) + json_integer_value(json_array_get(pair, 1));
	}
	return bytes;
}

#endif
