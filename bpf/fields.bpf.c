/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields that are read from the task's memory: strings, arguments, addresses, payloads. */
#include "bpf/record.bpf.h"

#define ARGS_MAX 1024 /* arguments of a failed exec; more are cut, and flagged */

#define PROC_BEGIN	  0x6f72702f /* "/pro", little-endian */
#define DEV_BEGIN	  0x7665642f /* "/dev" */
#define MAGIC_BYTES	  40	     /* the longest of them, a number, and what ends it */
#define DESCRIPTOR_DIGITS 10

/* Where the data of a field that may take @room bytes goes; 0 when there is no room. One
 * comparison with a constant: from a sum or a range Linux 6.1 learns no bound. */
static __always_inline u32 field_begin(struct scratch *s, u32 room)
{
	u32 start = s->pos;

	if (start > QP_EVENT_BYTES_MAX - 8 - sizeof(struct qp_field) - room) {
		s->flags |= QP_EVENT_TRUNCATED;
		return 0;
	}
	return start + sizeof(struct qp_field);
}

/* Ends the field whose data begins at @data: its header and its padding. */
static __always_inline void field_end(struct scratch *s, u32 data, u32 len, u32 kind_role,
				      u32 flags)
{
	struct qp_field *field;
	u32 end = data + len;

	/* The compiler must keep the bound on the very register that is used below. */
	barrier_var(end);
	if (data < sizeof(*field) || data > QP_EVENT_BYTES_MAX - 8 || end > QP_EVENT_BYTES_MAX - 8)
		return;
	field = (struct qp_field *)(s->data + data - sizeof(*field));
	field->kind = kind_role & 0xff;
	field->role = kind_role >> 8;
	field->flags = flags;
	field->len = len;
	*(u64 *)(s->data + end) = 0;
	s->pos = (end + 7) & ~7U;
	if (flags & QP_FIELD_TRUNCATED)
		s->flags |= QP_EVENT_TRUNCATED;
}

/*
 * Room for one byte more than a path may have tells a name of that length from a longer
 * one. A page that is not there fails the whole read, also behind the string's first part.
 */
int append_user_string(struct scratch *s, u64 user, u32 role)
{
	u32 kind_role = KIND_ROLE(QP_FIELD_STRING, role);
	u32 data, len, flags = 0;
	long n;

	if (!s || !user)
		return -1;
	data = field_begin(s, STRING_BYTES_MAX + 1);
	if (!data || data > QP_EVENT_BYTES_MAX)
		return -1;
	n = bpf_probe_read_user_str(s->data + data, STRING_BYTES_MAX + 1, (void *)user);
	if (n <= 0) {
		field_end(s, data, 0, kind_role, QP_FIELD_FAULT);
		return -1;
	}
	len = n - 1;
	if (n > STRING_BYTES_MAX) {
		len = STRING_BYTES_MAX - 1;
		flags = QP_FIELD_TRUNCATED;
	}
	field_end(s, data, len & 0x1fff, kind_role, flags);
	if (!len || s->data[data] != '/')
		return 0;
	/* Behind a shorter string are bytes of this scratch space: what follows looks closer. */
	if (*(u32 *)(s->data + data) == PROC_BEGIN || *(u32 *)(s->data + data) == DEV_BEGIN)
		return STRING_MAGIC;
	return STRING_ABSOLUTE;
}

static __always_inline bool begins_with(const char *text, const char *with, u32 len)
{
	for (u32 i = 0; i < len; i++)
		if (text[i] != with[i])
			return false;
	return true;
}

#define BEGINS(text, with) begins_with(text, with, sizeof(with) - 1)

/* The descriptor whose number @text begins with, when nothing else is in its name. */
static __always_inline int parse_descriptor(const char *text)
{
	u32 fd = 0;

	for (int i = 0; i < DESCRIPTOR_DIGITS + 1; i++) {
		char c = text[i];

		if (c < '0' || c > '9')
			return i && (!c || c == '/') ? (int)(fd & OWN_FD_MASK) : OWN_NONE;
		fd = fd * 10 + (c - '0');
	}
	return OWN_NONE;
}

/*
 * "self" is the process: its first thread's folder and descriptors, which another thread
 * may have parted from.
 */
int own_link(u64 user)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *leader = task->group_leader;
	char text[MAGIC_BYTES] = {};

	if (bpf_probe_read_user_str(text, sizeof(text), (void *)user) < 0)
		return OWN_NONE;
	if (BEGINS(text, "/proc/self/cwd"))
		return (!text[14] || text[14] == '/') && task->fs == leader->fs ? OWN_CWD
										: OWN_NONE;
	if (BEGINS(text, "/proc/thread-self/cwd"))
		return !text[21] || text[21] == '/' ? OWN_CWD : OWN_NONE;
	if (BEGINS(text, "/proc/thread-self/fd/"))
		return parse_descriptor(text + 21);
	if (task->files != leader->files)
		return OWN_NONE;
	if (BEGINS(text, "/proc/self/fd/"))
		return parse_descriptor(text + 14);
	return BEGINS(text, "/dev/fd/") ? parse_descriptor(text + 8) : OWN_NONE;
}

int append_kernel_string(struct scratch *s, u64 addr, u32 role)
{
	u32 kind_role = KIND_ROLE(QP_FIELD_STRING, role);
	u32 data;
	long n;

	if (!s || !addr)
		return 0;
	data = field_begin(s, STRING_BYTES_MAX + 1);
	if (!data || data > QP_EVENT_BYTES_MAX)
		return 0;
	n = bpf_probe_read_kernel_str(s->data + data, STRING_BYTES_MAX + 1, (void *)addr);
	if (n <= 0)
		field_end(s, data, 0, kind_role, QP_FIELD_FAULT);
	else if (n > STRING_BYTES_MAX)
		field_end(s, data, STRING_BYTES_MAX - 1, kind_role, QP_FIELD_TRUNCATED);
	else
		field_end(s, data, (n - 1) & 0x1fff, kind_role, 0);
	return 0;
}

/*
 * An address, or the beginning of a payload: of a payload more is not wanted, so that only
 * an address can be called truncated.
 */
int append_user_bytes(struct scratch *s, u64 user, u64 len, u32 kind_role)
{
	bool is_address = (kind_role & 0xff) == QP_FIELD_SOCKADDR;
	u32 max = is_address ? QP_SOCKADDR_BYTES_MAX : QP_PAYLOAD_BYTES_MAX;
	u32 data, n = len < max ? len : max;

	barrier_var(n); /* or the bound below is seen to hold always, and left out */
	if (!s || !user || !len)
		return 0;
	data = field_begin(s, QP_PAYLOAD_BYTES_MAX);
	if (!data || data > QP_EVENT_BYTES_MAX || n > QP_PAYLOAD_BYTES_MAX)
		return 0;
	if (bpf_probe_read_user(s->data + data, n, (void *)user))
		field_end(s, data, 0, kind_role, QP_FIELD_FAULT);
	else
		field_end(s, data, n, kind_role, is_address && len > max ? QP_FIELD_TRUNCATED : 0);
	return 0;
}

/* The arguments as the kernel laid them out for the new program. */
int append_argv_area(struct scratch *s, u64 start, u64 end)
{
	u32 kind_role = KIND_ROLE(QP_FIELD_ARGV, 0);
	u32 data, room, n, flags = 0;
	u64 len = end - start;

	if (!s || !start || end < start)
		return 0;
	data = field_begin(s, 8);
	if (!data || data > QP_EVENT_BYTES_MAX - 8)
		return 0;
	room = QP_EVENT_BYTES_MAX - 8 - data;
	if (room > QP_ARGV_BYTES_MAX)
		room = QP_ARGV_BYTES_MAX;
	n = len;
	if (len > room) {
		n = room;
		flags = QP_FIELD_TRUNCATED;
	}
	barrier_var(n); /* as above */
	if (n > QP_ARGV_BYTES_MAX)
		return 0;
	if (bpf_probe_read_user(s->data + data, n, (void *)start))
		field_end(s, data, 0, kind_role, QP_FIELD_FAULT);
	else
		field_end(s, data, n, kind_role, flags);
	return 0;
}

struct argv_walk {
	struct scratch *s;
	u64 user;
	u32 pointer_bytes;
	u32 pos;
	u32 limit;
	u32 flags;
};

static long argv_step(u32 index, struct argv_walk *w)
{
	struct scratch *s = w->s;
	u64 pointer = 0;
	u32 pos = w->pos;
	long n;

	if (bpf_probe_read_user(&pointer, w->pointer_bytes == 4 ? 4 : 8,
				(void *)(w->user + (u64)index * w->pointer_bytes))) {
		w->flags |= QP_FIELD_FAULT;
		return 1;
	}
	if (!pointer)
		return 1;
	if (index == ARGS_MAX || !s || pos >= w->limit || pos > QP_EVENT_BYTES_MAX) {
		w->flags |= QP_FIELD_TRUNCATED;
		return 1;
	}
	n = bpf_probe_read_user_str(s->data + pos, STRING_BYTES_MAX, (void *)pointer);
	if (n <= 0) {
		w->flags |= QP_FIELD_FAULT;
		s->data[pos] = 0;
		n = 1;
	} else if (n == STRING_BYTES_MAX) {
		w->flags |= QP_FIELD_TRUNCATED;
	}
	w->pos = pos + n;
	return 0;
}

int append_argv_array(struct scratch *s, u64 user, u32 role, u32 pointer_bytes)
{
	struct argv_walk w = {.s = s, .user = user, .pointer_bytes = pointer_bytes};
	u32 data;

	if (!s || !user)
		return 0;
	data = field_begin(s, STRING_BYTES_MAX);
	if (!data)
		return 0;
	w.pos = data;
	w.limit = QP_EVENT_BYTES_MAX - 8 - STRING_BYTES_MAX;
	if (w.limit > data + QP_ARGV_BYTES_MAX - STRING_BYTES_MAX)
		w.limit = data + QP_ARGV_BYTES_MAX - STRING_BYTES_MAX;
	bpf_loop(ARGS_MAX + 1, argv_step, &w, 0);
	field_end(s, data, w.pos - data, KIND_ROLE(QP_FIELD_ARGV, role), w.flags);
	return 0;
}

/* An element of an iovec array: what it points to, as payload. */
int append_iovec(struct scratch *s, u64 user, u32 role, u32 pointer_bytes)
{
	u64 base = 0, len = 0;

	if (!s || !user)
		return 0;
	if (pointer_bytes == 4) {
		u32 v[2] = {};

		bpf_probe_read_user(v, sizeof(v), (void *)user);
		base = v[0];
		len = v[1];
	} else {
		u64 v[2] = {};

		bpf_probe_read_user(v, sizeof(v), (void *)user);
		base = v[0];
		len = v[1];
	}
	return append_user_bytes(s, base, len, KIND_ROLE(QP_FIELD_PAYLOAD, role));
}

/* A struct msghdr: the address it names, and the beginning of its first iovec. */
int append_message(struct scratch *s, u64 user, u32 role, u32 pointer_bytes)
{
	u64 name, iov, cnt, name_len;

	if (!s || !user)
		return 0;
	if (pointer_bytes == 4) {
		u32 v[4] = {};

		bpf_probe_read_user(v, sizeof(v), (void *)user);
		name = v[0];
		name_len = v[1];
		iov = v[2];
		cnt = v[3];
	} else {
		u64 v[4] = {};

		bpf_probe_read_user(v, sizeof(v), (void *)user);
		name = v[0];
		name_len = (u32)v[1];
		iov = v[2];
		cnt = v[3];
	}
	append_user_bytes(s, name, name_len, KIND_ROLE(QP_FIELD_SOCKADDR, role));
	if (cnt)
		append_iovec(s, iov, role, pointer_bytes);
	return 0;
}
