/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_uring: every request is counted by its opcode, and those of a shape are recorded as the
 * system call that does the same. What a request names is recorded when it is submitted, by
 * whoever did so; what it came to when its result is given, by whichever thread. In between
 * its task may have gone on, so the records of both are tied by a number, not by the thread.
 */
#include "bpf/uring_names.bpf.h"
#include "bpf/scratch.bpf.h"

#define REQUESTS_MAX 16384
#define COUNTS_MAX   16384
#define HOW_BYTES    24

/* Requests under way, and those whose result was never given. Key: the kernel's address of
 * the request, which is used again: who submits writes over what was left. The number of
 * those under way is bounded by memory only; when the map is full the request is lost. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, REQUESTS_MAX);
	__type(key, u64);
	__type(value, struct uring_request);
} uring_requests SEC(".maps");

/* Requests by QP_URING_KEY. The collector takes a slot's entries out when its log ends. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, COUNTS_MAX);
	__type(key, u32);
	__type(value, struct qp_uring_count);
} uring_counts SEC(".maps");

/* Set by the first request that is recorded: until then no result is looked up. Not static, or
 * the compiler makes it a byte, which its type in BTF is not. */
__u32 any_request = 0;
__u32 last_request = 0;
static const struct uring_request no_request;
static const struct qp_uring_count no_count;

static __always_inline struct qp_uring_count *count_of(u32 slot, u32 opcode)
{
	u32 key = QP_URING_KEY(slot, opcode);
	struct qp_uring_count *count = bpf_map_lookup_elem(&uring_counts, &key);

	if (count)
		return count;
	bpf_map_update_elem(&uring_counts, &key, &no_count, BPF_NOEXIST);
	return bpf_map_lookup_elem(&uring_counts, &key);
}

static __noinline int count_submitted(u32 slot, u32 opcode, bool silent)
{
	struct qp_uring_count *count = count_of(slot, opcode);

	if (!count)
		return record_lost_in(slot, QP_EVENT_CALL);
	__sync_fetch_and_add(&count->submitted, 1);
	if (silent)
		__sync_fetch_and_add(&count->silent, 1);
	return 0;
}

static __always_inline void count_finished(const struct uring_request *r)
{
	struct qp_uring_count *count = count_of(r->slot, r->opcode);

	if (count && !(r->flags & QP_CALL_SILENT))
		__sync_fetch_and_add(&count->finished, 1);
}

/* Whatever was left at a request's address by one before it has nothing to do with the result
 * that will be given there. */
static __always_inline void forget(u64 req)
{
	if (any_request)
		bpf_map_delete_elem(&uring_requests, &req);
}

static __always_inline struct scratch *record_begin(const struct uring_request *r, u32 type,
						    s64 ret)
{
	struct task_state numbers = {.ns_tgid = r->ns_tgid, .ns_tid = r->ns_tid};
	struct scratch *s = scratch_take_in(r->slot, type, sizeof(struct qp_call), &numbers);
	struct qp_call *body;

	if (!s)
		return NULL;
	body = scratch_body(s);
	body->call = r->call;
	body->nr = r->opcode;
	body->abi = r->abi;
	body->flags = r->flags;
	body->pad = 0;
	body->written = 0;
	body->request = r->serial;
	body->pad2 = 0;
	body->ret = ret;
	body->entered_ns = r->entered_ns;
	return s;
}

/* The arguments come last: a path's address is known once its name is. */
static __always_inline int record_end(struct scratch *s, u32 type, struct uring_request *r)
{
	struct qp_call *body = scratch_body(s);

	for (int i = 0; i < URING_ARGS; i++)
		body->args[i] = r->args[i];
	return record_emit_of(s, type, &r->owner);
}

/* What a descriptor stands for: a socket by its addresses, all else by its path. */
static __noinline void append_request_file(struct scratch *s, u64 file, u32 role)
{
	if (sock_of_file(file))
		append_sock(s, file, role);
	else
		append_file(s, file, role);
}

static __always_inline void request_fill(struct uring_request *r, u64 req, u32 opcode, u32 slot)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct uring_row *row = &uring_rows[opcode];
	u32 flags = KREAD(struct io_kiocb, req, flags);

	r->owner.cgroup_id = task_cgroup_id(task);
	r->owner.tgid = task->tgid;
	r->owner.tid = task->pid;
	r->owner.uid = task->cred->uid.val;
	r->ns_tid = pid_in_own_namespace(task->thread_pid);
	r->ns_tgid = pid_in_own_namespace(task->group_leader->thread_pid);
	r->entered_ns = bpf_ktime_get_boot_ns();
	r->serial = __sync_fetch_and_add(&last_request, 1) + 1;
	r->slot = slot;
	r->call = row->call;
	r->opcode = opcode;
	r->shape = row->shape;
	r->flags = QP_CALL_IO_URING | (flags & REQUEST_SILENT ? QP_CALL_SILENT : 0);
	r->fixed = flags & REQUEST_FIXED_FILE;
	r->abi = QP_ABI_NATIVE;
#ifdef __TARGET_ARCH_x86
	if (BPF_CORE_READ_BITFIELD_PROBED((struct io_ring_ctx *)KPTR(struct io_kiocb, req, ctx),
					  compat))
		r->abi = QP_ABI_I386;
#endif
	r->args[0] = (s64)KREAD(struct io_kiocb, req, cqe.fd);
}

/* Whether anything is to be recorded before the result is known. */
static __always_inline bool is_recorded_early(const struct uring_request *r)
{
	switch (r->shape) {
	case URING_WRITE:
	case URING_WRITEV:
	case URING_SPLICE:
	case URING_TEE:
	case URING_FALLOCATE:
	case URING_FTRUNCATE:
	case URING_LISTEN:
	case URING_ACCEPT:
	case URING_SOCKET:
	case URING_COMMAND:
		return r->flags & QP_CALL_SILENT;
	}
	return true;
}

static __noinline int record_submission(struct uring_request *r, u64 req)
{
	struct scratch *s = record_begin(r, QP_EVENT_ENTER, 0);
	u32 shape = r->shape;
	u32 role;

	if (!s)
		return 0;
	append_names(s, req, r);
	if (shape == URING_CONNECT || shape == URING_BIND || shape == URING_SEND ||
	    shape == URING_SENDMSG)
		append_address(s, req, r);
	if (shape == URING_SENDMSG)
		append_message(s, r->args[1], 1, r->abi == QP_ABI_NATIVE ? 8 : 4);
	if (shape < URING_SHAPE_CNT && r->flags & QP_CALL_SILENT) {
		role = uring_file_roles[shape];
		barrier_var(role); /* or the verifier sees a test of the shape instead */
		if (role < URING_ARGS)
			append_request_file(s, request_file(req, r, r->args[role]), role);
	}
	return record_end(s, QP_EVENT_ENTER, r);
}

/* The program is attached to the tracepoint that the kernel has. */
SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(on_uring_submit, struct io_kiocb *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 slot = task_slot(task);
	struct uring_request *r;
	u64 req = (u64)request;
	u32 opcode = request->opcode;

	if (slot && !stopped)
		count_submitted(slot, opcode, KREAD(struct io_kiocb, req, flags) & REQUEST_SILENT);
	if (!slot || stopped || opcode >= QP_URING_OP_CNT ||
	    uring_rows[opcode].shape == URING_NONE) {
		forget(req);
		return 0;
	}
	any_request = 1;
	if (bpf_map_update_elem(&uring_requests, &req, &no_request, BPF_ANY))
		return record_lost_in(slot, QP_EVENT_CALL);
	r = bpf_map_lookup_elem(&uring_requests, &req);
	if (!r)
		return record_lost_in(slot, QP_EVENT_CALL);
	request_fill(r, req, opcode, slot);
	path_arguments(req, r->shape, r->args);
	file_arguments(req, r->shape, r->args);
	socket_arguments(req, r->shape, r->args);
	return is_recorded_early(r) ? record_submission(r, req) : 0;
}

/* The file that a request has opened or accepted. Where another process's thread gives the
 * result, its descriptors are not those meant. */
static __always_inline u64 returned_file(const struct uring_request *r, u64 req, s32 res,
					 u32 *ret_fd)
{
	u32 index = r->shape == URING_OPEN ? UREAD(io_open, req, file_slot)
					   : UREAD(io_accept, req, file_slot);

	*ret_fd = index ? NO_DESCRIPTOR : (u32)res;
	if (index)
		return registered_file(KPTR(struct io_kiocb, req, ctx),
				       index == FILE_INDEX_ALLOC ? (u32)res : index - 1);
	if ((u32)bpf_get_current_task_btf()->tgid != r->owner.tgid)
		return 0;
	return file_of_fd(res);
}

/* What was sent or written; as the task's memory has it now, if it is this task's. */
static __always_inline void append_sent(struct scratch *s, const struct uring_request *r, u64 req)
{
	u32 pointer = r->abi == QP_ABI_NATIVE ? 8 : 4;
	u64 buf = r->args[1];

	if ((u32)bpf_get_current_task_btf()->tgid != r->owner.tgid)
		return;
	switch (r->shape) {
	case URING_SEND:
		if (!buf) /* one of a group that the ring has been given */
			buf = UPTR(io_sr_msg, req, buf);
		append_user_bytes(s, buf, r->args[2], KIND_ROLE(QP_FIELD_PAYLOAD, 1));
		break;
	case URING_SENDMSG:
		append_message(s, buf, 1, pointer);
		break;
	case URING_WRITE:
		append_user_bytes(s, buf, r->args[2], KIND_ROLE(QP_FIELD_PAYLOAD, 1));
		break;
	case URING_WRITEV:
		append_iovec(s, buf, 1, pointer);
		break;
	}
}

static __always_inline void append_results(struct scratch *s, struct uring_request *r, u64 req,
					   s32 res)
{
	u32 shape = r->shape;
	u32 role, fd;
	u64 file;

	if (shape >= URING_SHAPE_CNT)
		return;
	role = uring_file_roles[shape];
	if (role != NO_ROLE)
		append_request_file(s, KPTR(struct io_kiocb, req, file), role);
	if (shape == URING_OPEN && res >= 0) {
		file = returned_file(r, req, res, &fd);
		append_opened_file(s, file, fd);
	}
	if (shape == URING_OPEN && r->call == QP_CALL_ID_openat2)
		append_kernel_bytes(s, req + bpf_core_field_offset(struct io_open, how), HOW_BYTES,
				    KIND_ROLE(QP_FIELD_PAYLOAD, 2));
	if (shape == URING_ACCEPT && res >= 0)
		append_sock(s, returned_file(r, req, res, &fd), QP_ROLE_RET);
	append_sent(s, r, req);
}

/* A thread of another process polls for it: that process has sums of its own. */
static __always_inline u32 request_sum(const struct uring_request *r, u64 req, s32 res)
{
	if ((u32)bpf_get_current_task_btf()->tgid == r->owner.tgid)
		return file_write_sum(KPTR(struct io_kiocb, req, file), res);
	unsummed_count();
	return QP_WRITTEN_NO_NUMBER;
}

static __always_inline bool is_result_wanted(const struct uring_request *r, u64 req, s32 res,
					     u32 *ret_written)
{
	*ret_written = 0;
	switch (r->shape) {
	case URING_WRITE:
	case URING_WRITEV:
	case URING_SPLICE:
	case URING_TEE:
	case URING_FALLOCATE:
		*ret_written = request_sum(r, req, res);
		return *ret_written;
	case URING_ACCEPT:
		return res >= 0;
	}
	return true;
}

static __noinline int record_result(struct uring_request *r, u64 req, s32 res)
{
	struct qp_call *body;
	struct scratch *s;
	u32 written;

	if (!is_result_wanted(r, req, res, &written))
		return 0;
	s = record_begin(r, QP_EVENT_CALL, res);
	if (!s)
		return 0;
	body = scratch_body(s);
	body->written = written;
	append_results(s, r, req, res);
	/* The collector looks at once where the path led. */
	s->wake = res == 0 && r->shape <= URING_SETXATTR;
	return record_end(s, QP_EVENT_CALL, r);
}

/* The result is the request's own copy: the one in the ring is the task's to change. */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(on_uring_complete, void *ring, void *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 req = (u64)request;
	struct uring_request *r;

	if (!any_request || stopped || !req)
		return 0;
	r = bpf_map_lookup_elem(&uring_requests, &req);
	if (!r)
		return 0;
	/* Its group's log may be another by now. */
	if ((u32)task->tgid == r->owner.tgid && task_slot(task))
		r->slot = task_slot(task);
	count_finished(r);
	record_result(r, req, KREAD(struct io_kiocb, req, cqe.res));
	bpf_map_delete_elem(&uring_requests, &req);
	return 0;
}

/* A request that the kernel did not take: its result is of no effect. */
SEC("tp_btf/io_uring_req_failed")
int BPF_PROG(on_uring_refused, const void *sqe, struct io_kiocb *request)
{
	forget((u64)request);
	return 0;
}
