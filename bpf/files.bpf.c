/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files: behind a descriptor, their path as a field, what is written to them. */
#include "bpf/walk.bpf.h"
#include "bpf/written.bpf.h"

#define FMODE_WRITE   0x2
#define FMODE_CREATED 0x100000

#define ANON_INODE_FS_MAGIC 0x09041934
#define PID_FS_MAGIC	    0x50494446
#define PIDFD_NAME	    0x5d64666469705bULL /* "[pidfd]", little-endian, with its NUL */
#define DESCRIPTORS_MAX	    4096		/* that are looked at */

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
	w.mnt_root = KPTR(struct vfsmount, vfsmount, mnt_root);
	path_inode(path, dentry);
	root = KPTR(struct dentry, dentry, d_parent) == dentry;
	if (root && dentry != w.mnt_root) {
		w.flags = QP_PATH_DETACHED;
		walk_pseudo(&w, dentry, path->fsmagic);
	} else {
		if (!root && !KPTR(struct dentry, dentry, d_hash.pprev))
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
	struct files_struct *files = current_task()->files;
	struct fdtable *fdt;

	if (!files)
		return 0;
	fdt = files->fdt;
	if ((u32)fd >= fdt->max_fds)
		return 0;
	return KWORD(fdt->fd + (u32)fd);
}

int append_file(struct scratch *s, u64 file, u32 role_flags)
{
	if (!s || !file)
		return 0;
	return append_path(s, KPTR(struct file, file, f_path.mnt),
			   KPTR(struct file, file, f_path.dentry), role_flags);
}

int append_cwd(struct scratch *s)
{
	struct fs_struct *fs = current_task()->fs;

	if (!s || !fs)
		return 0;
	return append_path(s, address_of(s, fs->pwd.mnt), address_of(s, fs->pwd.dentry),
			   QP_ROLE_CWD);
}

/* The task's root, unless it is its mount namespace's: the top of it, or what is mounted
 * on that. */
int append_root(struct scratch *s)
{
	struct fs_struct *fs = current_task()->fs;
	u64 vfsmount, dentry, mount, parent;

	if (!s || !fs)
		return 0;
	vfsmount = address_of(s, fs->root.mnt);
	dentry = address_of(s, fs->root.dentry);
	mount = vfsmount - bpf_core_field_offset(struct mount, mnt);
	parent = KPTR(struct mount, mount, mnt_parent);
	if (dentry == KPTR(struct mount, mount, mnt.mnt_root) &&
	    (parent == mount || (KPTR(struct mount, mount, mnt_mountpoint) ==
					 KPTR(struct mount, parent, mnt.mnt_root) &&
				 KPTR(struct mount, parent, mnt_parent) == parent)))
		return 0;
	return append_path(s, vfsmount, dentry, QP_ROLE_ROOT);
}

struct holder {
	u64 table; /* of pointers to files */
	u64 inode;
	u32 opened;
	u32 cnt;
	u32 found;
};

static long holder_step(u32 index, struct holder *h)
{
	u64 file;

	if (index >= h->cnt)
		return 1;
	if (index == h->opened)
		return 0;
	file = KWORD(h->table + (u64)index * sizeof(file));
	h->found = file && KPTR(struct file, file, f_inode) == h->inode;
	return h->found;
}

/* Whether the current task has the file of @inode open by another descriptor than @fd. All
 * anonymous inodes are one. */
static __noinline u32 is_held(u64 inode, u64 fd)
{
	struct files_struct *files = bpf_get_current_task_btf()->files;
	struct holder h = {.inode = inode, .opened = fd};
	struct fdtable *fdt;

	if (!files || KREAD(struct super_block, KPTR(struct inode, inode, i_sb), s_magic) ==
			      ANON_INODE_FS_MAGIC)
		return 0;
	fdt = files->fdt;
	h.cnt = fdt->max_fds;
	h.table = KPTR(struct fdtable, (u64)fdt, fd);
	bpf_loop(DESCRIPTORS_MAX, holder_step, &h, 0);
	return h.found;
}

/* The file that an open returned. */
static __always_inline int opened_append(struct scratch *s, u64 file, u64 fd)
{
	u32 mode, nameless, flags = 0;
	u64 dentry;

	if (!s || !file)
		return 0;
	mode = KREAD(struct file, file, f_mode);
	if (mode & FMODE_CREATED)
		flags |= QP_PATH_CREATED;
	/* What has no name in a file system any more, or never had, was opened over /proc. */
	dentry = KPTR(struct file, file, f_path.dentry);
	if (KPTR(struct dentry, dentry, d_parent) == dentry)
		nameless = dentry !=
			   KPTR(struct vfsmount, KPTR(struct file, file, f_path.mnt), mnt_root);
	else
		nameless = !KPTR(struct dentry, dentry, d_hash.pprev);
	if (nameless && is_held(KPTR(struct file, file, f_inode), fd))
		flags |= QP_PATH_HELD;
	append_file(s, file, QP_ROLE_RET | flags << 16);
	return nameless;
}

/* The struct pid of a pidfd's file, 0 when it is none. */
static __noinline u64 pid_of_file(u64 file)
{
	u64 inode = KPTR(struct file, file, f_inode);
	u64 magic = KREAD(struct super_block, KPTR(struct inode, inode, i_sb), s_magic);

	/* Kernel commit cb12fd8e0dab ("pidfd: add pidfs", 6.9): before, it was an anonymous
	 * inode that only its name tells from others. */
	if (magic == PID_FS_MAGIC)
		return KPTR(struct inode, inode, i_private);
	if (magic != ANON_INODE_FS_MAGIC ||
	    KWORD(KPTR(struct dentry, KPTR(struct file, file, f_path.dentry), d_name.name)) !=
		    PIDFD_NAME)
		return 0;
	return KPTR(struct file, file, private_data);
}

int append_pidfd(struct scratch *s, u64 fd, u32 role)
{
	struct pid *own = bpf_get_current_task_btf()->thread_pid;
	u64 file = file_of_fd(fd), offset = upid_offset(own);
	u64 pid = file ? pid_of_file(file) : 0;
	struct qp_field *field;
	u32 start, number = 0;

	if (!s || !pid)
		return 0;
	start = s->pos;
	if (start > QP_EVENT_BYTES_MAX - 8 - sizeof(*field) - 8) {
		s->flags |= QP_EVENT_TRUNCATED;
		return 0;
	}
	if (KREAD(struct pid, pid, level) >= own->level &&
	    KPTR(struct upid, pid + offset, ns) == KPTR(struct upid, (u64)own + offset, ns))
		number = KREAD(struct upid, pid + offset, nr);
	field = (struct qp_field *)(s->data + start);
	field->kind = QP_FIELD_PID;
	field->role = role;
	field->flags = 0;
	field->len = sizeof(number);
	*(u64 *)(field + 1) = number;
	s->pos = start + sizeof(*field) + 8;
	return 0;
}

/* Twice in full, for the frames of a chain of calls are only eight. */
int append_opened(struct scratch *s, u64 fd)
{
	return opened_append(s, file_of_fd(fd), fd);
}

int append_opened_file(struct scratch *s, u64 file, u64 fd)
{
	return opened_append(s, file, fd);
}

u32 file_write_sum(u64 file, s64 ret)
{
	return file ? written_note(file, ret) : 0;
}

u32 write_sum(u64 fd, s64 ret)
{
	return file_write_sum(file_of_fd(fd), ret);
}

int fd_is_writable(u64 fd)
{
	u64 file = file_of_fd(fd);

	return file && KREAD(struct file, file, f_mode) & FMODE_WRITE;
}
