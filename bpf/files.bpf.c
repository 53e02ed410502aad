/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files: behind a descriptor, their path as a field, whether they were written before. */
#include "bpf/walk.bpf.h"
#include "bpf/written.bpf.h"

#define FMODE_WRITE   0x2
#define FMODE_CREATED 0x100000

int append_path(struct scratch *s, u64 vfsmount, u64 dentry, u32 role_flags)
{
	struct walk w = {.s = s, .dentry = dentry, .vfsmount = vfsmount};
	struct qp_field *field;
	struct qp_path *path;
	u32 start;
	bool root;

	if (!s || !dentry || !vfsmount)
		return 0;
	start = s->pos;
	if (start > QP_EVENT_BYTES_MAX - FIELD_ROOM - 8) {
		s->flags |= QP_EVENT_TRUNCATED;
		return 0;
	}
	field = (struct qp_field *)(s->data + start);
	path = (struct qp_path *)(field + 1);
	w.pos = start + FIELD_ROOM;
	w.limit = w.pos + QP_PATH_BYTES_MAX;
	if (w.limit > QP_EVENT_BYTES_MAX - 8)
		w.limit = QP_EVENT_BYTES_MAX - 8;
	w.mnt_root = FPTR(struct vfsmount, vfsmount, mnt_root);
	path_inode(path, dentry);
	root = FPTR(struct dentry, dentry, d_parent) == dentry;
	if (root && dentry != w.mnt_root) {
		w.flags = QP_PATH_DETACHED;
		walk_pseudo(&w, dentry, path->fsmagic);
	} else {
		if (!root && !FPTR(struct dentry, dentry, d_hash.pprev))
			w.flags = QP_PATH_DELETED;
		if (bpf_loop(PATH_STEPS_MAX, walk_step, &w, 0) == PATH_STEPS_MAX)
			w.flags |= QP_PATH_TRUNCATED;
	}
	if (w.flags & QP_PATH_TRUNCATED)
		s->flags |= QP_EVENT_TRUNCATED;
	path->flags = w.flags | role_flags >> 16;
	path->levels = w.levels;
	field->kind = QP_FIELD_PATH;
	field->role = role_flags;
	field->flags = (w.flags & QP_PATH_TRUNCATED ? QP_FIELD_TRUNCATED : 0) |
		       (w.fault ? QP_FIELD_FAULT : 0);
	field->len = w.pos - start - sizeof(*field);
	if (w.pos > QP_EVENT_BYTES_MAX - 8)
		return 0;
	*(u64 *)(s->data + w.pos) = 0;
	s->pos = (w.pos + 7) & ~7U;
	return 0;
}

u64 file_of_fd(u64 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct files_struct *files = task->files;
	struct fdtable *fdt;

	if (!files)
		return 0;
	fdt = files->fdt;
	if ((u32)fd >= fdt->max_fds)
		return 0;
	return FWORD(fdt->fd + (u32)fd);
}

int append_file(struct scratch *s, u64 file, u32 role_flags)
{
	if (!s || !file)
		return 0;
	return append_path(s, FPTR(struct file, file, f_path.mnt),
			   FPTR(struct file, file, f_path.dentry), role_flags);
}

int append_cwd(struct scratch *s)
{
	struct fs_struct *fs = bpf_get_current_task_btf()->fs;

	if (!s || !fs)
		return 0;
	return append_path(s, address_of(s, fs->pwd.mnt), address_of(s, fs->pwd.dentry),
			   QP_ROLE_CWD);
}

/* The task's root, unless it is its mount namespace's: the top of it, or what is mounted
 * on that. */
int append_root(struct scratch *s)
{
	struct fs_struct *fs = bpf_get_current_task_btf()->fs;
	u64 vfsmount, dentry, mount, parent;

	if (!s || !fs)
		return 0;
	vfsmount = address_of(s, fs->root.mnt);
	dentry = address_of(s, fs->root.dentry);
	mount = vfsmount - bpf_core_field_offset(struct mount, mnt);
	parent = FPTR(struct mount, mount, mnt_parent);
	if (dentry == FPTR(struct mount, mount, mnt.mnt_root) &&
	    (parent == mount || (FPTR(struct mount, mount, mnt_mountpoint) ==
					 FPTR(struct mount, parent, mnt.mnt_root) &&
				 FPTR(struct mount, parent, mnt_parent) == parent)))
		return 0;
	return append_path(s, vfsmount, dentry, QP_ROLE_ROOT);
}

/* The file that an open returned. It may be at the address of one that was closed: what
 * was remembered of that goes. */
int append_opened(struct scratch *s, u64 fd)
{
	u64 file = file_of_fd(fd);
	u32 mode;

	if (!s || !file)
		return 0;
	mode = FREAD(struct file, file, f_mode);
	if (mode & FMODE_WRITE)
		written_forget(file);
	return append_file(s, file,
			   QP_ROLE_RET | (mode & FMODE_CREATED ? QP_PATH_CREATED << 16 : 0));
}

int write_is_first(u64 fd, u32 failed)
{
	u64 file = file_of_fd(fd);

	return file && written_first(file, failed);
}
