/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a dentry is in the file tree: from the leaf over every mount to the root of the
 * mount namespace, as d_path() goes, but without its lock. A rename meanwhile is noticed
 * by the sequence count of the dentry that it changes, and the name read again.
 */
#include "bpf/record.bpf.h"

/*
 * One use in one object file: libbpf 1.1 cannot link two that name the same kfunc.
 * Elsewhere the helper call of KREAD does not matter.
 */
extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym __weak;

/* As KREAD and KPTR, by a plain load where the kernel allows it. */
#define WREAD(type, addr, field)                                                      \
	({                                                                            \
		typeof(((type *)0)->field) w_;                                        \
		u64 addr_ = (u64)(addr);                                              \
		if (have_rdonly_cast)                                                 \
			w_ = ((type *)bpf_rdonly_cast((void *)addr_,                  \
						      bpf_core_type_id_kernel(type))) \
				     ->field;                                         \
		else                                                                  \
			w_ = KREAD(type, addr_, field);                               \
		w_;                                                                   \
	})
#define WPTR(type, addr, field) ((u64)WREAD(type, addr, field))

#define PATH_STEPS_MAX	    (2 * QP_PATH_LEVELS_MAX) /* names and mount points */
#define PATH_NAME_TRIES	    3
#define PIPEFS_MAGIC	    0x50495045
#define SOCKFS_MAGIC	    0x534f434b
#define PIPE_NAME	    0x65706970ULL     /* "pipe", little-endian */
#define SOCKET_NAME	    0x74656b636f73ULL /* "socket" */
#define MNT_NS_INTERNAL_MIN (-4095LL)	      /* an ERR_PTR marks mounts of the kernel itself */
#define FIELD_ROOM	    (sizeof(struct qp_field) + sizeof(struct qp_path))

struct walk {
	struct scratch *s;
	u64 dentry;
	u64 vfsmount;
	u64 mnt_root;
	u32 pos;   /* where the next name goes */
	u32 limit; /* where names end at the latest */
	u16 levels;
	u16 flags;
	u32 fault;
};

/* Copies the name of @dentry to the walk's end. False when there is no room. */
static __always_inline bool walk_name(struct walk *w, u64 dentry)
{
	struct scratch *s = w->s;
	u32 pos = w->pos;

	if (!s || pos > QP_EVENT_BYTES_MAX - 8)
		return false;
	for (int i = 0; i < PATH_NAME_TRIES; i++) {
		u32 before = WREAD(struct dentry, dentry, d_seq.seqcount.sequence);
		u32 len = WREAD(struct dentry, dentry, d_name.len);
		u64 name = WPTR(struct dentry, dentry, d_name.name);

		if (len > QP_NAME_BYTES_MAX) {
			w->flags |= QP_PATH_TRUNCATED;
			len = QP_NAME_BYTES_MAX;
		}
		if (pos + len + 1 > w->limit)
			return false;
		if (bpf_probe_read_kernel(s->data + pos, len & 255, (void *)name)) {
			w->fault = 1;
			return false;
		}
		s->data[pos + (len & 255)] = 0;
		w->pos = pos + len + 1;
		w->fault = before & 1 ||
			   WREAD(struct dentry, dentry, d_seq.seqcount.sequence) != before;
		if (!w->fault)
			break;
	}
	w->levels++;
	return true;
}

/* At the root of a mount: goes on at its mount point. 1 ends the walk. */
static __always_inline long walk_mount(struct walk *w)
{
	u64 mount = w->vfsmount - bpf_core_field_offset(struct mount, mnt);
	u64 parent = WPTR(struct mount, mount, mnt_parent);

	if (parent == mount || !parent) {
		u64 ns = WPTR(struct mount, mount, mnt_ns);

		if (!ns || (s64)ns >= MNT_NS_INTERNAL_MIN)
			w->flags |= QP_PATH_DETACHED;
		else if (WPTR(struct mnt_namespace, ns, root) != mount)
			w->flags |= QP_PATH_DETACHED;
		else if (ns != (u64)bpf_get_current_task_btf()->nsproxy->mnt_ns)
			w->flags |= QP_PATH_OTHER_NS;
		return 1;
	}
	w->dentry = WPTR(struct mount, mount, mnt_mountpoint);
	w->vfsmount = parent + bpf_core_field_offset(struct mount, mnt);
	w->mnt_root = WPTR(struct vfsmount, w->vfsmount, mnt_root);
	return 0;
}

static long walk_step(u32 index, struct walk *w)
{
	u64 dentry = w->dentry;
	u64 parent;

	if (dentry == w->mnt_root)
		return walk_mount(w);
	parent = WPTR(struct dentry, dentry, d_parent);
	if (w->levels >= QP_PATH_LEVELS_MAX) {
		w->flags |= QP_PATH_TRUNCATED;
		return 1;
	}
	if (parent == dentry) {
		/* A pseudo file, or a dentry that its mount does not reach any more. */
		w->flags |= QP_PATH_DETACHED;
		return 1;
	}
	if (!walk_name(w, dentry)) {
		w->flags |= QP_PATH_TRUNCATED;
		return 1;
	}
	w->dentry = parent;
	return 0;
}

/* The one name of what lives in no file system. */
static __always_inline void walk_pseudo(struct walk *w, u64 dentry, u64 magic)
{
	struct scratch *s = w->s;
	u32 pos = w->pos;

	w->flags |= QP_PATH_NOT_A_FS;
	if (!s || pos > QP_EVENT_BYTES_MAX - 8)
		return;
	if (magic == PIPEFS_MAGIC) {
		*(u64 *)(s->data + pos) = PIPE_NAME;
		w->pos = pos + 5;
		w->levels = 1;
	} else if (magic == SOCKFS_MAGIC) {
		*(u64 *)(s->data + pos) = SOCKET_NAME;
		w->pos = pos + 7;
		w->levels = 1;
	} else if (!walk_name(w, dentry)) {
		w->flags |= QP_PATH_TRUNCATED;
	}
}

/* Fills what is known of the leaf's inode; its file system's magic is the answer. */
static __always_inline u64 path_inode(struct qp_path *path, u64 dentry)
{
	u64 inode = WPTR(struct dentry, dentry, d_inode);
	u64 sb = WPTR(struct dentry, dentry, d_sb);

	path->mode = inode ? WREAD(struct inode, inode, i_mode) : 0;
	path->ino = inode ? WREAD(struct inode, inode, i_ino) : 0;
	path->dev = WREAD(struct super_block, sb, s_dev);
	path->fsmagic = WREAD(struct super_block, sb, s_magic);
	return path->fsmagic;
}

int append_path(struct scratch *s, u64 vfsmount, u64 dentry, u32 role_flags)
{
	struct walk w = {.s = s, .dentry = dentry, .vfsmount = vfsmount};
	struct qp_field *field;
	struct qp_path *path;
	u32 start, magic;
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
	w.mnt_root = WPTR(struct vfsmount, vfsmount, mnt_root);
	magic = path_inode(path, dentry);
	root = WPTR(struct dentry, dentry, d_parent) == dentry;
	if (root && dentry != w.mnt_root) {
		w.flags = QP_PATH_DETACHED;
		walk_pseudo(&w, dentry, magic);
	} else {
		if (!root && !WPTR(struct dentry, dentry, d_hash.pprev))
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
	u64 file = 0;

	if (!files)
		return 0;
	fdt = files->fdt;
	if ((u32)fd >= fdt->max_fds)
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), fdt->fd + (u32)fd);
	return file;
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
	parent = WPTR(struct mount, mount, mnt_parent);
	if (dentry == WPTR(struct mount, mount, mnt.mnt_root) &&
	    (parent == mount || (WPTR(struct mount, mount, mnt_mountpoint) ==
					 WPTR(struct mount, parent, mnt.mnt_root) &&
				 WPTR(struct mount, parent, mnt_parent) == parent)))
		return 0;
	return append_path(s, vfsmount, dentry, QP_ROLE_ROOT);
}
