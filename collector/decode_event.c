// SPDX-License-Identifier: Apache-2.0
/* Strict parsing of kernel records (bpf/event.h). The bytes may be anyone's. */
#include "collector/decode_event.h"

#include "collector/decode_call.h"
#include "collector/uring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_ALIGN 8

static const struct {
	const char *name;
	size_t body_bytes;
} types[] = {
	[QP_EVENT_FORK] = {"fork", sizeof(struct qp_fork)},
	[QP_EVENT_EXEC] = {"exec", sizeof(struct qp_exec)},
	[QP_EVENT_EXIT] = {"exit", sizeof(struct qp_exit)},
	[QP_EVENT_CALL] = {"call", sizeof(struct qp_call)},
	[QP_EVENT_ENTER] = {"enter", sizeof(struct qp_call)},
	[QP_EVENT_SOCKADDR] = {"sockaddr", sizeof(struct qp_sockaddr)},
	[QP_EVENT_ENV] = {"env", 0},
	[QP_EVENT_OBJECT] = {"object", sizeof(struct qp_object)},
	[QP_EVENT_MOVE] = {"move", sizeof(struct qp_move)},
};

const char *event_type_name(uint16_t type)
{
	return type < sizeof(types) / sizeof(types[0]) ? types[type].name : NULL;
}

static int malformed(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EBADMSG;
}

/* Names from the leaf to the root, each with its NUL, as many as the head says. */
static const char *path_check(const struct event_field *field)
{
	/* Only where nothing leads to a file may its name be more than one name. */
	const unsigned int nameless = QP_PATH_NOT_A_FS | QP_PATH_DETACHED | QP_PATH_DELETED;
	size_t at = sizeof(struct qp_path);
	struct qp_path path;

	if (field->len < sizeof(path))
		return "a path is shorter than its head";
	path = event_path(field);
	if (path.levels > QP_PATH_LEVELS_MAX)
		return "a path has too many levels";
	for (unsigned int i = 0; i < path.levels; i++) {
		const unsigned char *name = field->data + at;
		const unsigned char *end = memchr(name, '\0', field->len - at);

		if (!end)
			return "a name of a path has no end";
		if (end == name)
			return "a name of a path is empty";
		if (!(path.flags & nameless) && memchr(name, '/', (size_t)(end - name)))
			return "a name of a path has a slash";
		at += (size_t)(end - name) + 1;
	}
	return at == field->len ? NULL : "a path has bytes behind its names";
}

static const char *field_check(const struct event_field *field)
{
	switch (field->kind) {
	case QP_FIELD_PATH:
		return path_check(field);
	case QP_FIELD_STRING:
		return field->len > QP_PATH_BYTES_MAX ? "a string is too long" : NULL;
	case QP_FIELD_ARGV:
		return field->len > QP_ARGV_BYTES_MAX ? "arguments are too long" : NULL;
	case QP_FIELD_SOCKADDR:
		return field->len > QP_SOCKADDR_BYTES_MAX ? "a socket address is too long" : NULL;
	case QP_FIELD_SOCK:
		return field->len != sizeof(struct qp_sock) ? "a socket has a wrong length" : NULL;
	case QP_FIELD_PAYLOAD:
		return field->len > QP_PAYLOAD_BYTES_MAX ? "a payload is too long" : NULL;
	case QP_FIELD_PID:
		return field->len != sizeof(uint32_t) ? "a process number has a wrong length"
						      : NULL;
	default:
		return NULL; /* of a later version: kept, and read by nobody here */
	}
}

static int fields_parse(const unsigned char *p, size_t len, struct kernel_event *event,
			const char **ret_why)
{
	while (len) {
		struct event_field *out = &event->fields[event->fields_cnt];
		struct qp_field field;
		const char *why;
		size_t padded;

		if (event->fields_cnt == EVENT_FIELDS_MAX)
			return malformed(ret_why, "too many fields");
		if (len < sizeof(field))
			return malformed(ret_why, "a field is cut");
		memcpy(&field, p, sizeof(field));
		p += sizeof(field);
		len -= sizeof(field);
		padded = ((size_t)field.len + EVENT_ALIGN - 1) / EVENT_ALIGN * EVENT_ALIGN;
		if (padded > len)
			return malformed(ret_why, "a field is longer than its record");
		*out = (struct event_field){(uint8_t)field.kind, field.role, field.flags, field.len,
					    p};
		if (field.kind > UINT8_MAX)
			return malformed(ret_why, "a field has an unknown kind");
		why = field_check(out);
		if (why)
			return malformed(ret_why, why);
		event->fields_cnt++;
		p += padded;
		len -= padded;
	}
	return 0;
}

static int body_check(const struct kernel_event *event, const char **ret_why)
{
	if (event->head.type == QP_EVENT_CALL || event->head.type == QP_EVENT_ENTER) {
		if (!call_info_get(event->call.call))
			return malformed(ret_why, "a call has an unknown identifier");
		if (event->call.abi > QP_ABI_ARM)
			return malformed(ret_why, "a call has an unknown ABI");
		if (!(event->call.flags & QP_CALL_IO_URING) != !event->call.request)
			return malformed(ret_why, "a request of io_uring has no number");
		if (event->call.flags & QP_CALL_SILENT && !event->call.request)
			return malformed(ret_why, "a call that is no request says it is silent");
		if (event->call.request ? uring_op_call(event->call.nr) != event->call.call
					: !call_number_fits(&event->call))
			return malformed(ret_why, "a call's number is not its identifier's");
	}
	if (event->head.type == QP_EVENT_OBJECT && !call_info_get(event->object.call))
		return malformed(ret_why, "an object is of an unknown call");
	return 0;
}

int event_parse(const void *bytes, size_t len, struct kernel_event *ret_event, const char **ret_why)
{
	const unsigned char *p = bytes;
	size_t body;
	int r;

	ret_event->fields_cnt = 0;
	if (len < sizeof(ret_event->head))
		return malformed(ret_why, "a record is shorter than its head");
	if (len > QP_EVENT_BYTES_MAX)
		return malformed(ret_why, "a record is too long");
	memcpy(&ret_event->head, p, sizeof(ret_event->head));
	if (ret_event->head.len != len || len % EVENT_ALIGN)
		return malformed(ret_why, "a record's length is wrong");
	if (ret_event->head.version != QP_EVENT_VERSION)
		return malformed(ret_why, "a record has an unknown version");
	if (!event_type_name(ret_event->head.type)) {
		*ret_why = "a record has an unknown type";
		return -ENOTSUP;
	}
	body = types[ret_event->head.type].body_bytes;
	if (len - sizeof(ret_event->head) < body)
		return malformed(ret_why, "a record is shorter than its body");
	/* The bodies are the members of one union. */
	memcpy(&ret_event->call, p + sizeof(ret_event->head), body);
	r = body_check(ret_event, ret_why);
	if (r < 0)
		return r;
	body += sizeof(ret_event->head);
	return fields_parse(p + body, len - body, ret_event, ret_why);
}

const struct event_field *event_field_find(const struct kernel_event *event,
					   enum qp_field_kind kind, unsigned int role)
{
	for (size_t i = 0; i < event->fields_cnt; i++)
		if (event->fields[i].kind == kind && event->fields[i].role == role)
			return &event->fields[i];
	return NULL;
}

struct qp_path event_path(const struct event_field *field)
{
	struct qp_path path;

	memcpy(&path, field->data, sizeof(path));
	return path;
}

struct qp_sock event_sock(const struct event_field *field)
{
	struct qp_sock sock;

	memcpy(&sock, field->data, sizeof(sock));
	return sock;
}

uint32_t event_pid(const struct event_field *field)
{
	uint32_t pid;

	memcpy(&pid, field->data, sizeof(pid));
	return pid;
}

char *event_path_text(const struct event_field *field)
{
	struct qp_path path = event_path(field);
	size_t names = field->len - sizeof(path);
	bool bare = path.flags & QP_PATH_NOT_A_FS;
	const char *name = (const char *)field->data + sizeof(path);
	/* Each name's NUL makes room for its slash; one more byte for the end, one for "/". */
	char *text = malloc(names + 2), *at;

	if (!text)
		return NULL;
	at = text + names + 1;
	*at = '\0';
	for (unsigned int i = 0; i < path.levels; i++) {
		size_t len = strlen(name);

		at -= len;
		memcpy(at, name, len);
		if (!bare)
			*--at = '/';
		name += len + 1;
	}
	if (!path.levels)
		*--at = '/';
	memmove(text, at, strlen(at) + 1);
	return text;
}

char *event_string_text(const struct event_field *field)
{
	return strndup((const char *)field->data, field->len);
}
