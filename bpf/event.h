/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The wire format between the kernel programs and userspace, and, verbatim, the kernel
 * records of the evidence log. The only header that both sides share.
 *
 * A record is a struct qp_event, a fixed body that its type names, then fields: each a
 * struct qp_field and its data, padded with zero bytes to 8. Little-endian on every
 * supported machine. Types, kinds and flags are only ever appended.
 */
#ifndef QP_BPF_EVENT_H
#define QP_BPF_EVENT_H

#ifndef __BPF__
#include <stdint.h>
#endif

#define QP_EVENT_VERSION 1

#define QP_PATH_BYTES_MAX     4096 /* of a path's names, as PATH_MAX */
#define QP_PATH_LEVELS_MAX    256
#define QP_NAME_BYTES_MAX     255
#define QP_ARGV_BYTES_MAX     16384
#define QP_PAYLOAD_BYTES_MAX  256 /* of what a send or write call carried */
#define QP_SOCKADDR_BYTES_MAX 128
#define QP_EVENT_BYTES_MAX    32768

enum qp_event_type {
	QP_EVENT_FORK = 1,     /* body: qp_fork */
	QP_EVENT_EXEC = 2,     /* body: qp_exec; an exec that took place */
	QP_EVENT_EXIT = 3,     /* body: qp_exit; of a thread */
	QP_EVENT_CALL = 4,     /* body: qp_call; a system call that returned */
	QP_EVENT_ENTER = 5,    /* body: qp_call; the entry of a call that acts by path */
	QP_EVENT_SOCKADDR = 6, /* body: qp_sockaddr; the kernel's copy, from a cgroup hook */
	/* No body; the field is the name (QP_FIELD_STRING, role 0) that the process asked getenv
	 * or secure_getenv for. Once for each name, process and exec. */
	QP_EVENT_ENV = 7,
	QP_EVENT_OBJECT = 8, /* body: qp_object; what a call by path acts on */
	QP_EVENT_MOVE = 9,   /* body: qp_move; the header is of who moved the task */
};

/* qp_event.flags */
#define QP_EVENT_TRUNCATED 0x01 /* a field did not fit whole */

struct qp_event {
	uint32_t len; /* bytes of the whole record, a multiple of 8 */
	uint16_t type;
	uint8_t version;
	uint8_t flags;
	uint64_t time_ns; /* CLOCK_BOOTTIME */
	uint64_t seq;	  /* of this CPU, from 1; lost events leave a gap */
	uint64_t cgroup_id;
	uint32_t cpu;
	uint32_t tgid; /* in the initial pid namespace */
	uint32_t tid;
	uint32_t ns_tgid; /* in the task's own pid namespace */
	uint32_t ns_tid;
	uint32_t uid; /* in the initial user namespace */
};

/* The new task; the header is of its parent. */
struct qp_fork {
	uint32_t child_tgid;
	uint32_t child_tid;
	uint32_t child_ns_tgid;
	uint32_t child_ns_tid;
	uint64_t child_start_ns; /* CLOCK_BOOTTIME */
};

/*
 * After the exec: fields are the path of the file the kernel runs (QP_ROLE_EXE, for a
 * script its interpreter), the cwd (QP_ROLE_CWD), the file name as asked
 * (QP_FIELD_STRING, QP_ROLE_ASKED: bprm->filename, for a script the script), the
 * interpreter as named (QP_ROLE_INTERP: bprm->interp) and the arguments (QP_FIELD_ARGV).
 */
struct qp_exec {
	uint32_t old_tid; /* of the thread that called: not the leader in a threaded process */
	uint32_t parent_tgid;
	uint32_t parent_ns_tgid;
	uint32_t flags; /* QP_EXEC_* */
};

#define QP_EXEC_MEMFD 0x01 /* the file has no link: a memfd or a deleted file */

struct qp_exit {
	int32_t code;	     /* as wait(2) gives it: status << 8 | signal */
	uint32_t group_dead; /* 1: the last thread of its process */
};

/*
 * A task that came into a tracked group or left it by other ways than birth and death. Fields,
 * of one that came: the file it runs (QP_ROLE_EXE) and its cwd (QP_ROLE_CWD).
 */
struct qp_move {
	uint64_t start_ns; /* of the process, CLOCK_BOOTTIME */
	uint32_t tgid;
	uint32_t tid;
	uint32_t ns_tgid;
	uint32_t ns_tid;
	uint32_t flags; /* QP_MOVE_* */
	uint32_t pad;
};

#define QP_MOVE_IN     0x01
#define QP_MOVE_OUT    0x02
#define QP_MOVE_LAUNCH 0x04 /* it moved itself, or its parent moved it: how groups are filled */

enum qp_abi {
	QP_ABI_NATIVE = 0, /* x86_64 or aarch64: the log's preamble says which */
	QP_ABI_I386 = 1,
	QP_ABI_X32 = 2,
	QP_ABI_ARM = 3,
};

/* qp_call.flags */
#define QP_CALL_BLOCKED 0x01 /* left without an entry: seccomp denied it */
#define QP_CALL_KILLED	0x02 /* the task died inside the call; ret means nothing */
/* A request of io_uring that does what the call does: nr is its opcode, request its number. An
 * entry is of its submission; the header is of who submitted it, whoever did the work. */
#define QP_CALL_IO_URING 0x04
#define QP_CALL_SILENT	 0x08 /* it asked for no result when it succeeds, so there may be none */

#define QP_WRITTEN_NO_NUMBER 0xffffffffU /* of qp_call.written: they are in none */

/* In a QP_EVENT_ENTER, ret is 0 and means nothing. */
struct qp_call {
	uint32_t call; /* enum qp_call_id of syscalls.def */
	uint32_t nr;   /* as the task's ABI numbers it */
	uint8_t abi;
	uint8_t flags;
	uint16_t pad;
	uint32_t written; /* of a write: the number of the sum its bytes are in, else 0 */
	int64_t ret;	  /* negative errno on failure */
	uint64_t args[6];
	uint64_t entered_ns; /* time of the entry, 0 where it was not kept */
	uint32_t request;    /* ties the two records of a request of io_uring; 0: a system call */
	uint32_t pad2;
};

/*
 * Between the entry and the exit of a call that acts by path, where the kernel's own check
 * of that act is watched: fields are the path of each of its path arguments (QP_FIELD_PATH,
 * the role is the argument), as the kernel had found it and before anything changed. Not
 * there when the call failed before. When there are several of one call, the kernel began
 * anew: the last one counts.
 */
struct qp_object {
	uint32_t call; /* these are the call's own, as in its qp_call */
	uint32_t pad;
	uint64_t entered_ns;
};

/* Which cgroup hook saw the address. */
enum qp_hook {
	QP_HOOK_CONNECT = 1,
	QP_HOOK_SENDMSG = 2,
	QP_HOOK_BIND = 3,
};

struct qp_sockaddr {
	uint8_t hook;
	uint8_t family; /* AF_INET, AF_INET6 */
	uint8_t protocol;
	uint8_t type;
	uint16_t dport;	  /* host byte order */
	uint16_t sport;	  /* host byte order, 0 while unbound */
	uint8_t addr[16]; /* network byte order; IPv4 in the first four bytes */
	uint64_t cookie;  /* of the socket */
};

enum qp_field_kind {
	QP_FIELD_PATH = 1,     /* struct qp_path, then the names */
	QP_FIELD_STRING = 2,   /* bytes copied from the task, no NUL at the end */
	QP_FIELD_ARGV = 3,     /* arguments, each with its NUL; empty ones are kept */
	QP_FIELD_SOCKADDR = 4, /* struct sockaddr as the task passed it */
	QP_FIELD_SOCK = 5,     /* struct qp_sock */
	/* The first bytes of what was sent or written; openat2's struct open_how (role 2); the
	 * flags, 8 bytes, of clone3's struct clone_args (role 0). Its end is never a cut. */
	QP_FIELD_PAYLOAD = 6,
	/* A pidfd's process: uint32_t, its number in the caller's pid namespace, 0: it has none */
	QP_FIELD_PID = 7,
};

/* Roles 0 to 5 are the argument the field was read for. */
enum qp_field_role {
	QP_ROLE_RET = 8, /* the file behind the descriptor that the call returned */
	QP_ROLE_CWD = 9, /* the task's working directory */
	QP_ROLE_EXE = 10,
	QP_ROLE_ASKED = 11,
	QP_ROLE_INTERP = 12,
	QP_ROLE_ROOT = 13, /* the task's root, sent when it is not its mount namespace's */
	/* 16 to 21: the file of the caller's descriptor N, when the text of argument 0 to 5 begins
	 * with /proc/self/fd/N, /proc/thread-self/fd/N or /dev/fd/N. For such a beginning with
	 * cwd in place of fd/N the record has QP_ROLE_CWD. */
	QP_ROLE_NAMED = 16,
};

/* qp_field.flags */
#define QP_FIELD_TRUNCATED 0x01 /* cut at a bound */
#define QP_FIELD_FAULT	   0x02 /* the task's memory could not be read */

struct qp_field {
	uint16_t kind;
	uint8_t role;
	uint8_t flags;
	uint32_t len; /* of the data, without padding */
};

/* qp_path.flags */
#define QP_PATH_TRUNCATED 0x01 /* deeper or longer than the bounds */
#define QP_PATH_DELETED	  0x02 /* the dentry is unlinked */
#define QP_PATH_DETACHED  0x04 /* not below the root of a mount namespace */
#define QP_PATH_NOT_A_FS  0x08 /* pipe, socket, anonymous inode: one name says what */
#define QP_PATH_CREATED	  0x10 /* this very call made the file (FMODE_CREATED) */
#define QP_PATH_OTHER_NS  0x20 /* below the root of another mount namespace than the task's */
#define QP_PATH_HELD	  0x40 /* of what an open returned: the task had it open before */

/*
 * A place in the file tree as the kernel holds it, up to the root of the mount
 * namespace. The names follow, from the leaf to the root, each with its NUL; none is
 * the root itself. The inode is the leaf's.
 */
struct qp_path {
	uint16_t flags;
	uint16_t levels; /* how many names follow */
	uint32_t mode;	 /* st_mode; 0 when there is no inode */
	uint64_t ino;
	uint32_t dev;	  /* the kernel's dev_t of the superblock */
	uint32_t fsmagic; /* s_magic */
};

/* A socket after the call. Ports are in host byte order, addresses in network order. */
struct qp_sock {
	uint16_t family;
	uint16_t type;
	uint16_t protocol;
	uint16_t state; /* TCP_* of the kernel */
	uint16_t sport;
	uint16_t dport;
	uint32_t pad;
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint64_t cookie; /* 0 while the kernel has given none */
};

/* Why an event that should have been delivered was not. */
enum qp_counter {
	QP_COUNTER_PRODUCED = 0,
	QP_COUNTER_DELIVERED = 1,
	QP_COUNTER_LOST = 2, /* the ring was full */
	QP_COUNTER_CNT = 3,
};

#ifdef __cplusplus
#define QP_STATIC_ASSERT static_assert
#else
#define QP_STATIC_ASSERT _Static_assert
#endif
QP_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are little-endian");
QP_STATIC_ASSERT(sizeof(struct qp_event) == 56, "qp_event is 56 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_fork) == 24, "qp_fork is 24 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_exec) == 16, "qp_exec is 16 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_exit) == 8, "qp_exit is 8 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_move) == 32, "qp_move is 32 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_call) == 88, "qp_call is 88 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_object) == 16, "qp_object is 16 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_sockaddr) == 32, "qp_sockaddr is 32 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_field) == 8, "qp_field is 8 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_path) == 24, "qp_path is 24 bytes");
QP_STATIC_ASSERT(sizeof(struct qp_sock) == 56, "qp_sock is 56 bytes");

#endif
