/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel-object tier: what a call by path acts on, from the kernel's own objects at the
 * moment when it asks its security modules about the act. The functions that ask are
 * watched, not hooked as a security module would: a hook is called only where "bpf" is among
 * the modules that the kernel was booted with, and behind a module that says no, not at all.
 *
 * The section's "?": none is loaded unless the collector finds that the kernel allows it.
 */
#include "bpf/calls.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/scratch.bpf.h"

#define KIND(kind) (1U << QP_KIND_##kind)

/* The current task's state while it is in a call of one of the @kinds that names by a path
 * what it acts on. */
static __always_inline struct task_state *state_in_call(u32 kinds)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state;
	u32 call;

	if (stopped || !task_is_tracked(task))
		return NULL;
	state = bpf_task_storage_get(&task_states, task, NULL, 0);
	if (!state || state->phase != PHASE_CALL)
		return NULL;
	call = state->call;
	if (call >= QP_CALL_ID_CNT || !(call_rows[call].flags & ROW_BY_PATH))
		return NULL;
	return 1U << call_rows[call].kind & kinds ? state : NULL;
}

/* Global, for the verifier to look at it once: it then takes any value for its result. */
int record_objects(struct task_state *state)
{
	const struct call_row *row;
	struct qp_object *body;
	struct scratch *s;
	u32 nth = 0;

	if (!state || state->call >= QP_CALL_ID_CNT)
		return 0;
	row = &call_rows[state->call];
	barrier_var(row); /* as in record_call() */
	s = scratch_take(QP_EVENT_OBJECT, sizeof(*body), state);
	if (!s)
		return 0;
	body = scratch_body(s);
	body->call = state->call;
	body->pad = 0;
	body->entered_ns = state->entered_ns;
	for (u32 i = 0; i < CALL_ARGS; i++) {
		if (row->roles[i] != QP_ARG_PATH)
			continue;
		append_path(s, state->objects[nth & 1].vfsmount, state->objects[nth & 1].dentry, i);
		nth++;
	}
	state->objects_told = 1;
	return record_emit(s, QP_EVENT_OBJECT);
}

/* An address as plain data: a pointer that the verifier knows the type of would not go as
 * one into a global function. */
static __always_inline void keep(u64 *to, const void *pointer)
{
	*(const void *volatile *)to = pointer;
}

static __always_inline int tell_one(u32 kinds, const struct vfsmount *mnt,
				    const struct dentry *dentry)
{
	struct task_state *state = state_in_call(kinds);

	if (!state)
		return 0;
	keep(&state->objects[0].vfsmount, mnt);
	keep(&state->objects[0].dentry, dentry);
	record_objects(state);
	return 0;
}

static __always_inline int tell_two(u32 kinds, const struct vfsmount *mnt,
				    const struct dentry *dentry, const struct vfsmount *mnt2,
				    const struct dentry *dentry2)
{
	struct task_state *state = state_in_call(kinds);

	if (!state)
		return 0;
	keep(&state->objects[0].vfsmount, mnt);
	keep(&state->objects[0].dentry, dentry);
	keep(&state->objects[1].vfsmount, mnt2);
	keep(&state->objects[1].dentry, dentry2);
	record_objects(state);
	return 0;
}

SEC("?fentry/security_path_unlink")
int BPF_PROG(on_path_unlink, const struct path *dir, struct dentry *dentry)
{
	return tell_one(KIND(REMOVE), dir->mnt, dentry);
}

SEC("?fentry/security_path_rmdir")
int BPF_PROG(on_path_rmdir, const struct path *dir, struct dentry *dentry)
{
	return tell_one(KIND(REMOVE), dir->mnt, dentry);
}

SEC("?fentry/security_path_mkdir")
int BPF_PROG(on_path_mkdir, const struct path *dir, struct dentry *dentry)
{
	return tell_one(KIND(MKDIR), dir->mnt, dentry);
}

SEC("?fentry/security_path_mknod")
int BPF_PROG(on_path_mknod, const struct path *dir, struct dentry *dentry)
{
	return tell_one(KIND(MKNOD), dir->mnt, dentry);
}

SEC("?fentry/security_path_symlink")
int BPF_PROG(on_path_symlink, const struct path *dir, struct dentry *dentry)
{
	return tell_one(KIND(SYMLINK), dir->mnt, dentry);
}

SEC("?fentry/security_path_rename")
int BPF_PROG(on_path_rename, const struct path *old_dir, struct dentry *old,
	     const struct path *new_dir, struct dentry *new)
{
	return tell_two(KIND(RENAME), old_dir->mnt, old, new_dir->mnt, new);
}

/* A link is made within one mount: the kernel has seen to that by then. */
SEC("?fentry/security_path_link")
int BPF_PROG(on_path_link, struct dentry *old, const struct path *new_dir, struct dentry *new)
{
	return tell_two(KIND(LINK), new_dir->mnt, old, new_dir->mnt, new);
}

SEC("?fentry/security_path_truncate")
int BPF_PROG(on_path_truncate, const struct path *path)
{
	return tell_one(KIND(TRUNCATE), path->mnt, path->dentry);
}

SEC("?fentry/security_path_chmod")
int BPF_PROG(on_path_chmod, const struct path *path)
{
	return tell_one(KIND(META), path->mnt, path->dentry);
}

SEC("?fentry/security_path_chown")
int BPF_PROG(on_path_chown, const struct path *path)
{
	return tell_one(KIND(META), path->mnt, path->dentry);
}

/*
 * Of times and attributes the checks are told no mount, but the mount was asked for write
 * access just before. The first one counts: what a stacked file system then asks of the
 * mounts below it is its own doing.
 */
SEC("?fentry/mnt_want_write")
int BPF_PROG(on_want_write, struct vfsmount *mnt)
{
	struct task_state *state = state_in_call(KIND(META));

	if (state && !state->objects[0].vfsmount)
		keep(&state->objects[0].vfsmount, mnt);
	return 0;
}

static __always_inline int tell_dentry(struct dentry *dentry)
{
	struct task_state *state = state_in_call(KIND(META));
	u64 mnt;

	if (!state || state->objects_told)
		return 0;
	mnt = state->objects[0].vfsmount;
	if (!mnt || KPTR(struct vfsmount, mnt, mnt_sb) != KPTR(struct dentry, dentry, d_sb))
		return 0;
	keep(&state->objects[0].dentry, dentry);
	record_objects(state);
	return 0;
}

/* The first parameter of the next five is a user namespace or, since 6.3, an id mapping. */
SEC("?fentry/security_inode_setattr")
int BPF_PROG(on_inode_setattr, const void *mapping, struct dentry *dentry)
{
	return tell_dentry(dentry);
}

SEC("?fentry/security_inode_setxattr")
int BPF_PROG(on_inode_setxattr, const void *mapping, struct dentry *dentry)
{
	return tell_dentry(dentry);
}

SEC("?fentry/security_inode_removexattr")
int BPF_PROG(on_inode_removexattr, const void *mapping, struct dentry *dentry)
{
	return tell_dentry(dentry);
}

SEC("?fentry/security_inode_set_acl")
int BPF_PROG(on_inode_set_acl, const void *mapping, struct dentry *dentry)
{
	return tell_dentry(dentry);
}

SEC("?fentry/security_inode_remove_acl")
int BPF_PROG(on_inode_remove_acl, const void *mapping, struct dentry *dentry)
{
	return tell_dentry(dentry);
}

SEC("?fentry/security_inode_file_setattr")
int BPF_PROG(on_inode_file_setattr, struct dentry *dentry)
{
	return tell_dentry(dentry);
}
