/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a dentry is in the file tree: from the leaf over every mount to the root of the
 * mount namespace, as d_path() goes, but without its lock. A rename meanwhile is noticed
 * by the sequence count of the dentry that it changes, and the name read again.
 */
#ifndef QP_BPF_WALK_BPF_H
#define QP_BPF_WALK_BPF_H

#include "bpf/core.bpf.h"
#include "bpf/record.bpf.h"

#define PATH_STEPS_MAX	    (2 * QP_PATH_LEVELS_MAX) /* names and mount points */
#define PATH_NAME_TRIES	    3
#define PIPEFS_MAGIC	    0x50495045
#define SOCKFS_MAGIC	    0x534f434b
#define PIPE_NAME	    0x65706970ULL     /* "pipe", little-endian */
#define SOCKET_NAME	    0x74656b636f73ULL /* "socket" */
#define MNT_NS_INTERNAL_MIN (-4095LL)	      /* an ERR_PTR marks mounts of the kernel itself */
#define FIELD_ROOM	    (sizeof(struct qp_field) + sizeof(struct qp_path))

/*
 * Copies a name, by plain loads where the kernel allows them: up to 31 bytes behind its
 * end come along, which the next name overwrites. 0 on a fault. A global function, for
 * the verifier to look at it once and not at each step of each walk.
 */
int name_copy(struct scratch *s, u32 pos, u64 name, u32 len)
{
	u8 *to;

	if (!s || pos > QP_EVENT_BYTES_MAX - 8)
		return 0;
	to = s->data + pos;
	if (!have_rdonly_cast)
		return bpf_probe_read_kernel(to, len & 255, (void *)name) == 0;
	for (u32 i = 0; i < 256; i += 32) {
		*(u64 *)(to + i) = KWORD(name + i);
		*(u64 *)(to + i + 8) = KWORD(name + i + 8);
		*(u64 *)(to + i + 16) = KWORD(name + i + 16);
		*(u64 *)(to + i + 24) = KWORD(name + i + 24);
		if (i + 32 >= len)
			break;
	}
	return to[0];
}

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
	u32 tries = PATH_NAME_TRIES;

	if (!s || pos > QP_EVENT_BYTES_MAX - 8)
		return false;
	/* Linux before 6.3 wants a loop to end in a conditional jump to its begin. */
	do {
		u32 before = KREAD(struct dentry, dentry, d_seq.seqcount.sequence);
		u32 len = KREAD(struct dentry, dentry, d_name.len);
		u64 name = KPTR(struct dentry, dentry, d_name.name);

		if (len > QP_NAME_BYTES_MAX) {
			w->flags |= QP_PATH_TRUNCATED;
			len = QP_NAME_BYTES_MAX;
		}
		if (pos + len + 1 > w->limit)
			return false;
		if (!name_copy(s, pos, name, len)) {
			w->fault = 1;
			return false;
		}
		s->data[pos + (len & 255)] = 0;
		w->pos = pos + len + 1;
		w->fault = before & 1 ||
			   KREAD(struct dentry, dentry, d_seq.seqcount.sequence) != before;
	} while (w->fault && --tries);
	w->levels++;
	return true;
}

/* At the root of a mount: goes on at its mount point. 1 ends the walk. Not inline, and so
 * below: all frames of a chain of calls share 512 bytes in kernels before 6.13. */
static __noinline long walk_mount(struct walk *w)
{
	u64 mount = w->vfsmount - bpf_core_field_offset(struct mount, mnt);
	u64 parent = KPTR(struct mount, mount, mnt_parent);

	if (parent == mount || !parent) {
		u64 ns = KPTR(struct mount, mount, mnt_ns);

		if (!ns || (s64)ns >= MNT_NS_INTERNAL_MIN)
			w->flags |= QP_PATH_DETACHED;
		else if (KPTR(struct mnt_namespace, ns, root) != mount)
			w->flags |= QP_PATH_DETACHED;
		else if (ns != (u64)current_task()->nsproxy->mnt_ns)
			w->flags |= QP_PATH_OTHER_NS;
		return 1;
	}
	w->dentry = KPTR(struct mount, mount, mnt_mountpoint);
	w->vfsmount = parent + bpf_core_field_offset(struct mount, mnt);
	w->mnt_root = KPTR(struct vfsmount, w->vfsmount, mnt_root);
	return 0;
}

static long walk_step(u32 index, struct walk *w)
{
	u64 dentry = w->dentry;
	u64 parent;

	if (dentry == w->mnt_root)
		return walk_mount(w);
	parent = KPTR(struct dentry, dentry, d_parent);
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
static __noinline void walk_pseudo(struct walk *w, u64 dentry, u64 magic)
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

/* Fills what is known of the leaf's inode. */
static __noinline void path_inode(struct qp_path *path, u64 dentry)
{
	u64 inode = KPTR(struct dentry, dentry, d_inode);
	u64 sb = KPTR(struct dentry, dentry, d_sb);

	if (!path)
		return;
	path->mode = inode ? KREAD(struct inode, inode, i_mode) : 0;
	path->ino = inode ? KREAD(struct inode, inode, i_ino) : 0;
	path->dev = KREAD(struct super_block, sb, s_dev);
	path->fsmagic = KREAD(struct super_block, sb, s_magic);
}

#endif
