// SPDX-License-Identifier: Apache-2.0
/* Kernel events in words: names for numbers, paths as text, addresses as people write them. */
#include "collector/log_print_event.h"

#include "collector/decode_call.h"
#include "collector/decode_json.h"
#include "collector/uring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define ADDRESS_TEXT_SIZE (INET6_ADDRSTRLEN + 16)

struct flag_name {
	uint32_t flag;
	const char *name;
};

static const struct flag_name path_flags[] = {
	{QP_PATH_TRUNCATED, "truncated"}, {QP_PATH_DELETED, "deleted"},
	{QP_PATH_DETACHED, "detached"},	  {QP_PATH_NOT_A_FS, "not-a-fs"},
	{QP_PATH_CREATED, "created"},	  {QP_PATH_OTHER_NS, "other-namespace"},
	{QP_PATH_HELD, "held"},		  {0, NULL},
};
static const struct flag_name field_flags[] = {
	{QP_FIELD_TRUNCATED, "truncated"}, {QP_FIELD_FAULT, "fault"}, {0, NULL}};
static const struct flag_name call_flags[] = {{QP_CALL_BLOCKED, "blocked"},
					      {QP_CALL_KILLED, "killed"},
					      {QP_CALL_SILENT, "silent"},
					      {0, NULL}};

static int add_flags(json_t *object, const struct flag_name *names, uint32_t flags)
{
	for (; names->name; names++)
		if (flags & names->flag &&
		    json_object_set_new(object, names->name, json_true()) < 0)
			return -ENOMEM;
	return 0;
}

static json_t *address_json(int family, const void *addr, unsigned int port)
{
	char host[INET6_ADDRSTRLEN], text[ADDRESS_TEXT_SIZE];

	if (!inet_ntop(family, addr, host, sizeof(host)))
		return json_null();
	snprintf(text, sizeof(text), family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, port);
	return json_string(text);
}

/* An address as the task passed it, which may be shorter than its family needs. */
static json_t *sockaddr_json(const struct event_field *field)
{
	struct sockaddr_in6 in6 = {0};
	struct sockaddr_in in = {0};
	sa_family_t family;

	if (field->len < sizeof(family))
		return json_escaped(field->data, field->len);
	memcpy(&family, field->data, sizeof(family));
	if (family == AF_INET && field->len >= sizeof(in)) {
		memcpy(&in, field->data, sizeof(in));
		return address_json(AF_INET, &in.sin_addr, ntohs(in.sin_port));
	}
	if (family == AF_INET6 && field->len >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
		memcpy(&in6, field->data, field->len < sizeof(in6) ? field->len : sizeof(in6));
		return address_json(AF_INET6, &in6.sin6_addr, ntohs(in6.sin6_port));
	}
	return json_pack("{s:i, s:o}", "family", family, "data",
			 json_escaped(field->data + sizeof(family), field->len - sizeof(family)));
}

static json_t *sock_json(const struct event_field *field)
{
	struct qp_sock sock = event_sock(field);
	bool inet = sock.family == AF_INET || sock.family == AF_INET6;
	json_t *object = json_pack("{s:i, s:i, s:i, s:i, s:I}", "family", sock.family, "type",
				   sock.type, "protocol", sock.protocol, "state", sock.state,
				   "cookie", (json_int_t)sock.cookie);

	if (inet && object) {
		json_object_set_new(object, "local",
				    address_json(sock.family, sock.saddr, sock.sport));
		json_object_set_new(object, "remote",
				    address_json(sock.family, sock.daddr, sock.dport));
	}
	return object;
}

static json_t *path_json(const struct event_field *field)
{
	struct qp_path path = event_path(field);
	_cleanup_free_ char *text = event_path_text(field);
	json_t *object = json_pack("{s:o, s:I, s:I, s:i, s:I}", "path", json_escaped_text(text),
				   "ino", (json_int_t)path.ino, "dev", (json_int_t)path.dev, "mode",
				   (int)path.mode, "fsmagic", (json_int_t)path.fsmagic);

	if (!text || !object || add_flags(object, path_flags, path.flags) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static const char *role_text(uint8_t role, char buf[static 8])
{
	static const char *const names[] = {
		[QP_ROLE_RET] = "ret",	   [QP_ROLE_CWD] = "cwd",	[QP_ROLE_EXE] = "exe",
		[QP_ROLE_ASKED] = "asked", [QP_ROLE_INTERP] = "interp", [QP_ROLE_ROOT] = "root",
	};

	if (role < sizeof(names) / sizeof(names[0]) && names[role])
		return names[role];
	if (role >= QP_ROLE_NAMED && role < QP_ROLE_NAMED + CALL_ARGS_CNT)
		snprintf(buf, 8, "fd of %u", role - QP_ROLE_NAMED);
	else
		snprintf(buf, 8, "%u", role);
	return buf;
}

static json_t *field_json(const struct event_field *field)
{
	static const char *const kinds[] = {
		[QP_FIELD_PATH] = "path", [QP_FIELD_STRING] = "string",
		[QP_FIELD_ARGV] = "argv", [QP_FIELD_SOCKADDR] = "sockaddr",
		[QP_FIELD_SOCK] = "sock", [QP_FIELD_PAYLOAD] = "payload",
		[QP_FIELD_PID] = "pid",
	};
	bool known = field->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[field->kind];
	char buf[8];
	json_t *value, *object;

	switch (field->kind) {
	case QP_FIELD_PATH:
		value = path_json(field);
		break;
	case QP_FIELD_ARGV:
		value = json_argv(field->data, field->len);
		break;
	case QP_FIELD_SOCKADDR:
		value = sockaddr_json(field);
		break;
	case QP_FIELD_SOCK:
		value = sock_json(field);
		break;
	case QP_FIELD_PID:
		value = json_integer(event_pid(field));
		break;
	default:
		value = json_escaped(field->data, field->len);
		break;
	}
	object = json_pack("{s:s, s:o}", "arg", role_text(field->role, buf),
			   known ? kinds[field->kind] : "unknown", value);
	if (object && add_flags(object, field_flags, field->flags) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

/* A request of io_uring: its number, and its opcode in place of a system call's. */
static int add_request(const struct qp_call *call, json_t *line)
{
	const char *name = uring_op_name(call->nr);

	return json_object_set_new(line, "request", json_integer(call->request)) < 0 ||
			       json_object_set_new(line, "opcode",
						   name ? json_string(name)
							: json_integer(call->nr)) < 0
		       ? -ENOMEM
		       : 0;
}

static int add_call(const struct kernel_event *event, json_t *line)
{
	static const char *const abis[] = {"native", "i386", "x32", "arm"};
	const struct qp_call *call = &event->call;
	json_t *args = json_array();

	for (int i = 0; i < CALL_ARGS_CNT; i++) {
		char text[24];

		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)call->args[i]);
		json_array_append_new(args, json_string(text));
	}
	if (json_object_set_new(line, "args", args) < 0 ||
	    json_object_set_new(line, "call", json_string(call_info_get(call->call)->name)) < 0 ||
	    json_object_set_new(line, "abi", json_string(abis[call->abi])) < 0)
		return -ENOMEM;
	if (call->flags & QP_CALL_IO_URING
		    ? add_request(call, line) < 0
		    : json_object_set_new(line, "nr", json_integer(call->nr)) < 0)
		return -ENOMEM;
	/* What ties an entry, an object and the call's end. */
	if (call->entered_ns &&
	    json_object_set_new(line, "enteredNs", json_integer((json_int_t)call->entered_ns)) < 0)
		return -ENOMEM;
	if (event->head.type == QP_EVENT_ENTER)
		return add_flags(line, call_flags, call->flags);
	if (json_object_set_new(line, "ret", json_integer(call->ret)) < 0)
		return -ENOMEM;
	if (call->ret < 0 && call->ret > -4096 && errno_name((int)-call->ret) &&
	    json_object_set_new(line, "errno", json_string(errno_name((int)-call->ret))) < 0)
		return -ENOMEM;
	if (call->written &&
	    json_object_set_new(line, "written", json_integer((json_int_t)call->written)) < 0)
		return -ENOMEM;
	return add_flags(line, call_flags, call->flags);
}

static int add_body(const struct kernel_event *event, json_t *line)
{
	static const char *const hooks[] = {"unknown", "connect", "sendmsg", "bind"};
	const struct qp_sockaddr *address = &event->sockaddr;
	_cleanup_json_ json_t *more = NULL;

	switch (event->head.type) {
	case QP_EVENT_FORK:
		more = json_pack("{s:I, s:I, s:I, s:I, s:I}", "childTgid",
				 (json_int_t)event->fork.child_tgid, "childTid",
				 (json_int_t)event->fork.child_tid, "childNsTgid",
				 (json_int_t)event->fork.child_ns_tgid, "childNsTid",
				 (json_int_t)event->fork.child_ns_tid, "childStartNs",
				 (json_int_t)event->fork.child_start_ns);
		break;
	case QP_EVENT_EXEC:
		more = json_pack("{s:I, s:I, s:I, s:b}", "oldTid", (json_int_t)event->exec.old_tid,
				 "parentTgid", (json_int_t)event->exec.parent_tgid, "parentNsTgid",
				 (json_int_t)event->exec.parent_ns_tgid, "memfd",
				 (int)(event->exec.flags & QP_EXEC_MEMFD));
		break;
	case QP_EVENT_EXIT:
		more = json_pack("{s:i, s:b}", "code", (int)event->exit.code, "groupDead",
				 (int)event->exit.group_dead);
		break;
	case QP_EVENT_SOCKADDR:
		more = json_pack("{s:s, s:i, s:i, s:o, s:i, s:I}", "hook",
				 address->hook < 4 ? hooks[address->hook] : hooks[0], "protocol",
				 address->protocol, "sockType", address->type, "address",
				 address_json(address->family, address->addr, address->dport),
				 "sport", address->sport, "cookie", (json_int_t)address->cookie);
		break;
	case QP_EVENT_OBJECT:
		more = json_pack("{s:s, s:I}", "call", call_info_get(event->object.call)->name,
				 "enteredNs", (json_int_t)event->object.entered_ns);
		break;
	case QP_EVENT_ENV:
		return 0; /* the field says all */
	case QP_EVENT_MOVE:
		more = json_pack("{s:I, s:I, s:I, s:I, s:b, s:b}", "movedTgid",
				 (json_int_t)event->move.tgid, "movedTid",
				 (json_int_t)event->move.tid, "movedNsTgid",
				 (json_int_t)event->move.ns_tgid, "movedStartNs",
				 (json_int_t)event->move.start_ns, "in",
				 (int)(event->move.flags & QP_MOVE_IN), "launch",
				 (int)(event->move.flags & QP_MOVE_LAUNCH));
		break;
	default:
		return add_call(event, line);
	}
	return more && json_object_update(line, more) == 0 ? 0 : -ENOMEM;
}

int log_print_event(const struct kernel_event *event, json_t *line)
{
	const struct qp_event *head = &event->head;
	_cleanup_json_ json_t *fields = json_array(), *members = NULL;

	members = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "event",
			    event_type_name(head->type), "time_ns", (json_int_t)head->time_ns,
			    "seq", (json_int_t)head->seq, "cpu", (json_int_t)head->cpu, "cgroup",
			    (json_int_t)head->cgroup_id, "tgid", (json_int_t)head->tgid, "tid",
			    (json_int_t)head->tid, "pid", (json_int_t)head->ns_tgid, "nsTid",
			    (json_int_t)head->ns_tid, "uid", (json_int_t)head->uid);
	if (!members || json_object_update(line, members) < 0 || add_body(event, line) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < event->fields_cnt; i++)
		if (json_array_append_new(fields, field_json(&event->fields[i])) < 0)
			return -ENOMEM;
	if (head->flags & QP_EVENT_TRUNCATED)
		json_object_set_new(line, "truncated", json_true());
	return json_object_set(line, "fields", fields) < 0 ? -ENOMEM : 0;
}
