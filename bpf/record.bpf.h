/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Building records. A record is built in a scratch space of the CPU, then copied into the
 * ring whole. The functions are global: the verifier checks each once, by itself.
 */
#ifndef QP_BPF_RECORD_BPF_H
#define QP_BPF_RECORD_BPF_H

#include "bpf/maps.bpf.h"

#define STRING_BYTES_MAX QP_PATH_BYTES_MAX /* of a string from the task, with its NUL */

/* One record that could not be built: of the current task, or of a slot. */
int record_lost(u32 type);
int record_lost_in(u32 slot, u32 type);

/* Who a record is of. */
struct record_owner {
	u64 cgroup_id;
	u32 tgid;
	u32 tid;
	u32 uid;
	u32 pad;
};

/* Writes the header, copies the record to the ring, gives the scratch space back. The record
 * is of the current task, or of the owner. */
int record_emit(struct scratch *s, u32 type);
int record_emit_of(struct scratch *s, u32 type, struct record_owner *owner);

/*
 * Each appends one field. A field that does not fit any more is left out and the record
 * flagged. @role_flags: the role, and QP_PATH_* flags to add shifted left by 16.
 * Addresses are the kernel's, save those named user.
 */
int append_path(struct scratch *s, u64 vfsmount, u64 dentry, u32 role_flags);
int append_file(struct scratch *s, u64 file, u32 role_flags);
/* 1 when the task may have come by the file only over /proc: a name says more then. */
int append_opened(struct scratch *s, u64 fd);
/* The same for the open file that has that descriptor, or NO_DESCRIPTOR. */
#define NO_DESCRIPTOR ((u32)-1)
int append_opened_file(struct scratch *s, u64 file, u64 fd);
/* The process of the pidfd @fd. */
int append_pidfd(struct scratch *s, u64 fd, u32 role);
int append_cwd(struct scratch *s);
int append_root(struct scratch *s);

#define STRING_ABSOLUTE 1 /* begins with a slash */
#define STRING_MAGIC	2 /* begins with /proc/ or /dev/fd/ */

/* One of these; 0 for any other string, -1 when it is not readable. */
int append_user_string(struct scratch *s, u64 user, u32 role);
int append_kernel_string(struct scratch *s, u64 addr, u32 role);
int append_user_bytes(struct scratch *s, u64 user, u64 len, u32 kind_role);
int append_argv_area(struct scratch *s, u64 start, u64 end);
int append_argv_array(struct scratch *s, u64 user, u32 role, u32 pointer_bytes);
int append_sock(struct scratch *s, u64 file, u32 role);
int append_message(struct scratch *s, u64 user, u32 role, u32 pointer_bytes);
int append_iovec(struct scratch *s, u64 user, u32 role, u32 pointer_bytes);

/* N of a string that begins with /proc/self/fd/N and the like, or one of these. */
#define OWN_FD_MASK 0x7fffffff
#define OWN_NONE    (-1)
#define OWN_CWD	    (-2) /* it begins with /proc/self/cwd or the like */
int own_link(u64 user);

/* kind in the low byte, role above, for append_user_bytes */
#define KIND_ROLE(kind, role) ((u32)(kind) | (u32)(role) << 8)

/* The file of the current task's descriptor @fd, 0 when it is not open. */
u64 file_of_fd(u64 fd);

/* Adds what a write to @fd returned to what the process wrote to the file. Not 0 when the call
 * is to be recorded: see qp_call.written. Pipes, terminals and local sockets have no sum. */
u32 write_sum(u64 fd, s64 ret);
u32 file_write_sum(u64 file, s64 ret);

/* Whether @fd was opened for writing. */
int fd_is_writable(u64 fd);

/* A write whose bytes are in no sum. */
int unsummed_count(void);

static __always_inline struct scratch *scratch_slot(u32 index)
{
	return bpf_map_lookup_elem(&scratches, &index);
}

static __always_inline struct qp_event *scratch_event(struct scratch *s)
{
	return (struct qp_event *)s->data;
}

static __always_inline void *scratch_body(struct scratch *s)
{
	return s->data + sizeof(struct qp_event);
}

/* The address in a pointer that the verifier knows the type of: a global function takes
 * numbers only, and a number comes out of plain memory. */
static __always_inline u64 address_of(struct scratch *s, const void *pointer)
{
	*(const void *volatile *)&s->address = pointer;
	return *(volatile u64 *)&s->address;
}

/* From a struct pid to its number in its own namespace. Namespaces nest 32 deep
 * (MAX_PID_NS_LEVEL); the mask is for the verifier of Linux 6.1, which loses sight of a
 * product's size. */
static __always_inline u64 upid_offset(struct pid *pid)
{
	u64 numbers = (u64)pid->level * bpf_core_type_size(struct upid);

	return bpf_core_field_offset(struct pid, numbers) + (numbers & 1023);
}

static __always_inline u32 pid_in_own_namespace(struct pid *pid)
{
	u64 upid = (u64)pid + upid_offset(pid);

	return KREAD(struct upid, upid, nr);
}

#endif
