/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The identifiers that syscalls.def gives rise to. Values are in evidence logs: rows of
 * syscalls.def are only ever appended within an event version. */
#ifndef QP_BPF_SYSCALLS_H
#define QP_BPF_SYSCALLS_H

/* What a call means to those who decode it. */
enum qp_call_kind {
	QP_KIND_COUNT = 0, /* only counted */
	QP_KIND_OPEN = 1,
	QP_KIND_MEMFD,
	QP_KIND_REMOVE,
	QP_KIND_RENAME,
	QP_KIND_LINK,
	QP_KIND_SYMLINK,
	QP_KIND_MKDIR,
	QP_KIND_MKNOD,
	QP_KIND_META,
	QP_KIND_TRUNCATE,
	QP_KIND_WRITE,
	QP_KIND_MMAP, /* recorded when shared and writable, or writable and executable */
	QP_KIND_EXEC, /* recorded here only when it fails; QP_EVENT_EXEC says the rest */
	QP_KIND_CHDIR,
	QP_KIND_KILL,  /* recorded when the target is another process */
	QP_KIND_PRCTL, /* recorded when it is a heartbeat or PR_SET_PTRACER and the like */
	QP_KIND_SOCKET,
	QP_KIND_CONNECT,
	QP_KIND_BIND,
	QP_KIND_LISTEN, /* accept is recorded when it returns a connection */
	QP_KIND_SEND,
	QP_KIND_TAMPER,
	QP_KIND_IO_URING,
	QP_KIND_CLONE, /* recorded when it asks for a namespace, or is denied */
	QP_KIND_ONTO,  /* acts on the process it names; recorded when that may be another one */
	QP_KIND_COUNT_ENTRY, /* only counted; no exit, or also another's, bears its number */
};

/* What an argument is. */
enum qp_arg_role {
	QP_ARG_NONE = 0,
	QP_ARG_NUM,
	QP_ARG_FLAGS,
	QP_ARG_MODE,
	QP_ARG_LEN,
	QP_ARG_PTR,
	QP_ARG_FD,
	QP_ARG_DIRFD, /* the next argument is a path relative to it */
	QP_ARG_PATH,
	QP_ARG_STRING, /* text that names no file: a symlink's target, an attribute */
	QP_ARG_BUF,    /* the next argument is its length */
	QP_ARG_IOVEC,  /* the next argument is the number of elements */
	QP_ARG_MSGHDR,
	QP_ARG_MMSGHDR,	 /* the next argument is the number of elements */
	QP_ARG_SOCKADDR, /* the next argument is its length */
	QP_ARG_ARGV,
	QP_ARG_ENVP,
	QP_ARG_HOW, /* struct open_how; the next argument is its size */
	QP_ARG_PID, /* of a process or thread; 0: the caller */
	QP_ARG_PIDFD,
};

/*
 * Of a row: whether its call acts on what a path leads to, so that its entry is recorded
 * too. An open tells its file itself, and so does an exec.
 */
#define QP_ROW_BY_PATH(kind, a, b, c, d, e, f)                                                    \
	((kind) != QP_KIND_OPEN && (kind) != QP_KIND_EXEC &&                                      \
	 ((a) == QP_ARG_PATH || (b) == QP_ARG_PATH || (c) == QP_ARG_PATH || (d) == QP_ARG_PATH || \
	  (e) == QP_ARG_PATH || (f) == QP_ARG_PATH))

enum qp_call_id {
	QP_CALL_NONE = 0,
#define QP_CALL(name, ...) QP_CALL_ID_##name,
#include "bpf/syscalls.def"
#undef QP_CALL
	QP_CALL_ID_CNT
};

/*
 * prctl(QP_HEARTBEAT, nonce high, nonce low, phase, edge): the call by which PID 1 of the
 * sandbox marks where a phase begins (edge 0) and ends (edge 1). The kernel answers
 * EINVAL. The nonce halves are 48 bits each.
 */
#define QP_HEARTBEAT 0x71706862

#endif
