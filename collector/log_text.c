// SPDX-License-Identifier: Apache-2.0
/* Records as lines: who, when, and what of a kernel event; all else as comments. */
#include "collector/log_text.h"

#include "base/cleanup.h"
#include "collector/decode_call.h"
#include "collector/decode_json.h"
#include "collector/log_text_call.h"
#include "collector/log_text_value.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Threads within a call by path, by a hash of their number; io_uring's requests by theirs. One that
 * another pushes out is only printed in full at its exit. */
#define PENDING_SLOTS 4096
#define NS_PER_S      1000000000
#define NS_PER_US     1000

struct pending {
	uint32_t tid, call, request;
	uint64_t texts[CALL_ARGS_CNT]; /* hashes of the strings read at the entry */
};

struct text_log {
	FILE *out;
	uint64_t started_ns;
	enum text_machine machine;
	struct pending pending[PENDING_SLOTS];
};

/* FNV-1a. */
static uint64_t hash(const unsigned char *bytes, size_t len)
{
	uint64_t value = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		value = (value ^ bytes[i]) * 0x100000001b3;
	return value;
}

static struct pending *slot(struct text_log *log, const struct kernel_event *event)
{
	uint32_t number = event->call.request ? event->call.request : event->head.tid;

	return &log->pending[number % PENDING_SLOTS];
}

static void head_print(const struct text_log *log, const struct qp_event *head)
{
	bool before = head->time_ns < log->started_ns;
	uint64_t ns = before ? log->started_ns - head->time_ns : head->time_ns - log->started_ns;

	fprintf(log->out, "%-5" PRIu32 " %s%" PRIu64 ".%06" PRIu64 " ", head->ns_tid,
		before ? "-" : "", ns / NS_PER_S, ns % NS_PER_S / NS_PER_US);
}

static int enter_print(struct text_log *log, const struct kernel_event *event)
{
	struct pending *pending = slot(log, event);
	int r = text_call(log->out, event, log->machine);

	*pending = (struct pending){
		.tid = event->head.tid, .call = event->call.call, .request = event->call.request};
	for (size_t i = 0; i < event->fields_cnt; i++) {
		const struct event_field *field = &event->fields[i];

		if (field->kind == QP_FIELD_STRING && field->role < CALL_ARGS_CNT)
			pending->texts[field->role] = hash(field->data, field->len);
	}
	fputs(" <unfinished ...>", log->out);
	text_request(log->out, event);
	return r;
}

/* What the task's memory held at the exit, where that is not what it held at the entry. */
static void changes_print(const struct text_log *log, const struct pending *pending,
			  const struct kernel_event *event)
{
	for (size_t i = 0; i < event->fields_cnt; i++) {
		const struct event_field *field = &event->fields[i];

		if (field->kind != QP_FIELD_STRING || field->role >= CALL_ARGS_CNT ||
		    pending->texts[field->role] == hash(field->data, field->len))
			continue;
		fprintf(log->out, " /* argument %u at the exit: ", field->role);
		text_quote(log->out, field->data, field->len, field->flags & QP_FIELD_TRUNCATED);
		fputs(" */", log->out);
	}
}

static int call_print(struct text_log *log, const struct kernel_event *event)
{
	struct pending *pending = slot(log, event);
	bool resumed = pending->tid == event->head.tid && pending->call == event->call.call &&
		       pending->request == event->call.request && pending->call != QP_CALL_NONE;
	int r = 0;

	if (resumed)
		fprintf(log->out, "<... %s resumed>", call_info_get(event->call.call)->name);
	else
		r = text_call(log->out, event, log->machine);
	fputs(") ", log->out);
	if (!r)
		r = text_result(log->out, event);
	if (resumed) {
		changes_print(log, pending, event);
		*pending = (struct pending){0};
	}
	return r;
}

/* The call that failed to exec is an event of its own; this is of one that did not. */
static int exec_print(struct text_log *log, const struct kernel_event *event)
{
	const struct event_field *asked = event_field_find(event, QP_FIELD_STRING, QP_ROLE_ASKED);
	const struct event_field *exe = event_field_find(event, QP_FIELD_PATH, QP_ROLE_EXE);
	const struct event_field *argv = event_field_find(event, QP_FIELD_ARGV, 0);
	int r = 0;

	fputs("execve(", log->out);
	if (asked)
		text_quote(log->out, asked->data, asked->len, asked->flags & QP_FIELD_TRUNCATED);
	else
		fputs("NULL", log->out);
	if (exe)
		r = text_path(log->out, exe);
	fputs(", ", log->out);
	if (argv)
		text_argv(log->out, argv);
	else
		fputs("NULL", log->out);
	fputs(") = 0", log->out);
	if (event->exec.flags & QP_EXEC_MEMFD)
		fputs(" /* a file without a name */", log->out);
	return r;
}

/* The same event for fork, vfork and clone: what was asked for is not told. */
static void fork_print(const struct text_log *log, const struct kernel_event *event)
{
	bool is_thread = event->fork.child_tgid == event->head.tgid;

	fprintf(log->out, "%s = %" PRIu32, is_thread ? "clone(CLONE_THREAD)" : "fork()",
		event->fork.child_ns_tid);
}

static void exit_print(const struct text_log *log, const struct kernel_event *event)
{
	int status = event->exit.code, number = WTERMSIG(status);
	const char *name = sigabbrev_np(number);

	if (!WIFSIGNALED(status))
		fprintf(log->out, "+++ exited with %d +++", WEXITSTATUS(status));
	else if (name)
		fprintf(log->out, "+++ killed by SIG%s%s +++", name,
			WCOREDUMP(status) ? " (core dumped)" : "");
	else
		fprintf(log->out, "+++ killed by SIG_%d +++", number);
}

static void sockaddr_print(const struct text_log *log, const struct kernel_event *event)
{
	static const char *const hooks[] = {[QP_HOOK_CONNECT] = "connect",
					    [QP_HOOK_SENDMSG] = "sendmsg",
					    [QP_HOOK_BIND] = "bind"};
	const struct qp_sockaddr *address = &event->sockaddr;
	bool known = address->hook < sizeof(hooks) / sizeof(hooks[0]) && hooks[address->hook];

	fprintf(log->out, "%s, protocol %u: the kernel has ", known ? hooks[address->hook] : "hook",
		address->protocol);
	text_endpoint(log->out, address->family, address->addr, address->dport);
}

static void env_print(const struct text_log *log, const struct kernel_event *event)
{
	const struct event_field *name = event_field_find(event, QP_FIELD_STRING, 0);

	fputs("getenv: ", log->out);
	if (name && !(name->flags & QP_FIELD_FAULT))
		text_quote(log->out, name->data, name->len, name->flags & QP_FIELD_TRUNCATED);
	else
		fputs("a name that could not be read", log->out);
}

/* What a call by path acts on: one path, or two of a rename or a link. */
static int object_print(const struct text_log *log, const struct kernel_event *event)
{
	const char *before = " ";
	int r = 0;

	fprintf(log->out, "%s: the kernel acts on", call_info_get(event->object.call)->name);
	for (size_t i = 0; r == 0 && i < event->fields_cnt; i++) {
		if (event->fields[i].kind != QP_FIELD_PATH)
			continue;
		fputs(before, log->out);
		r = text_path(log->out, &event->fields[i]);
		before = " and ";
	}
	return r;
}

static bool is_remark(const struct kernel_event *event)
{
	return event->head.type == QP_EVENT_SOCKADDR || event->head.type == QP_EVENT_ENV ||
	       event->head.type == QP_EVENT_OBJECT || event->head.type == QP_EVENT_MOVE;
}

static int event_print(struct text_log *log, const struct kernel_event *event)
{
	if (is_remark(event))
		fputs("# ", log->out);
	head_print(log, &event->head);
	switch (event->head.type) {
	case QP_EVENT_FORK:
		fork_print(log, event);
		return 0;
	case QP_EVENT_EXEC:
		return exec_print(log, event);
	case QP_EVENT_EXIT:
		exit_print(log, event);
		return 0;
	case QP_EVENT_SOCKADDR:
		sockaddr_print(log, event);
		return 0;
	case QP_EVENT_ENV:
		env_print(log, event);
		return 0;
	case QP_EVENT_OBJECT:
		return object_print(log, event);
	case QP_EVENT_MOVE:
		fprintf(log->out, "process %u was moved %s the group", event->move.ns_tgid,
			event->move.flags & QP_MOVE_IN ? "into" : "out of");
		return 0;
	case QP_EVENT_ENTER:
		return enter_print(log, event);
	default:
		return call_print(log, event);
	}
}

static void bytes_print(FILE *out, const char *what, const char *why,
			const struct log_record *record)
{
	fprintf(out, "# %s, %s: ", what, why);
	text_quote(out, record->payload, record->len, false);
}

static void phase_print(FILE *out, const char *phase, const char *edge)
{
	text_quote(out, phase, strlen(phase), false);
	fputc(' ', out);
	text_quote(out, edge, strlen(edge), false);
	fputc(' ', out);
}

static void preamble_take(struct text_log *log, const json_t *object)
{
	log->started_ns = (uint64_t)json_member_int(object, "started_ns", 0);
	log->machine =
		text_machine_of(json_member_text(json_object_get(object, "kernel"), "machine"));
}

/* A phase's edges are marks to look for; of other records all members are told. */
static int json_print(struct text_log *log, const char *name, const struct log_record *record)
{
	_cleanup_json_ json_t *object = NULL;
	json_error_t error;
	const char *phase, *edge;
	char *text;

	object = json_loadb((const char *)record->payload, record->len, JSON_REJECT_DUPLICATES,
			    &error);
	if (!object) {
		bytes_print(log->out, name, "no JSON", record);
		return 0;
	}
	if (record->type == LOG_RECORD_PREAMBLE)
		preamble_take(log, object);
	phase = record->type == LOG_RECORD_PHASE ? json_member_text(object, "phase") : NULL;
	edge = phase ? json_member_text(object, "edge") : NULL;
	fprintf(log->out, "# %s ", name);
	if (edge)
		phase_print(log->out, phase, edge);
	/* Beyond ASCII there are characters that reorder a line. */
	text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!text)
		return -ENOMEM;
	fputs(text, log->out);
	free(text);
	return 0;
}

static int record_print(struct text_log *log, const struct log_record *record)
{
	const char *name = log_record_name(record->type);
	struct kernel_event event;
	char number[32];
	const char *why;

	if (!name) {
		snprintf(number, sizeof(number), "record of type %u", record->type);
		bytes_print(log->out, number, "not known here", record);
		return 0;
	}
	if (record->type != LOG_RECORD_EVENT)
		return json_print(log, name, record);
	if (event_parse(record->payload, record->len, &event, &why) < 0) {
		bytes_print(log->out, "event", why, record);
		return 0;
	}
	return event_print(log, &event);
}

int log_print_text(struct log_reader *reader, FILE *out, struct qp_error *err)
{
	_cleanup_free_ struct text_log *log = calloc(1, sizeof(*log));
	struct log_record record;

	if (!log)
		return qp_error_set(err, -ENOMEM, "out of memory");
	log->out = out;
	while (log_reader_next(reader, &record)) {
		errno = 0;
		if (record_print(log, &record) < 0)
			return qp_error_set(err, -ENOMEM, "out of memory");
		if (fputc('\n', out) == EOF || ferror(out)) {
			int r = errno ? -errno : -EIO;

			return qp_error_set(err, r, "cannot write: %s", strerror(-r));
		}
	}
	return 0;
}
