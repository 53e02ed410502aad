/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* syscalls.def as tables: from an ABI's number to the row, and what the row says. */
#ifndef QP_BPF_CALLS_BPF_H
#define QP_BPF_CALLS_BPF_H

#include "bpf/core.bpf.h"
#include "bpf/counters.h"
#include "bpf/syscalls.h"

#define CALL_ARGS 6

#define I386_SOCKETCALL 102
#define I386_IPC	117

#define ROW_BY_PATH 0x01 /* QP_ROW_BY_PATH */

struct call_row {
	u8 kind;
	u8 flags;
	u8 roles[CALL_ARGS];
};

static const struct call_row call_rows[QP_CALL_ID_CNT] = {
#define QP_CALL(name, kind, x86_64, aarch64, i386, a, b, c, d, e, f)                           \
	[QP_CALL_ID_##name] = {                                                                \
		QP_KIND_##kind,                                                                \
		QP_ROW_BY_PATH(QP_KIND_##kind, QP_ARG_##a, QP_ARG_##b, QP_ARG_##c, QP_ARG_##d, \
			       QP_ARG_##e, QP_ARG_##f)                                         \
			? ROW_BY_PATH                                                          \
			: 0,                                                                   \
		{QP_ARG_##a, QP_ARG_##b, QP_ARG_##c, QP_ARG_##d, QP_ARG_##e, QP_ARG_##f}},
#include "bpf/syscalls.def"
#undef QP_CALL
};

/* Numbers of -1 share the last slot, which no number reaches. */
/* A call that is only counted is left at its entry, before its row is looked at. */
#define RECORDED(kind, name) (QP_KIND_##kind == QP_KIND_COUNT ? QP_CALL_NONE : QP_CALL_ID_##name)
#define SLOT(nr)	     ((nr) < 0 ? QP_NR_CNT - 1 : (nr))

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winitializer-overrides"

static const u16 native_calls[QP_NR_CNT] = {
#ifdef __TARGET_ARCH_x86
#define QP_CALL(name, kind, x86_64, aarch64, i386, ...) [SLOT(x86_64)] = RECORDED(kind, name),
#else
#define QP_CALL(name, kind, x86_64, aarch64, i386, ...) [SLOT(aarch64)] = RECORDED(kind, name),
#endif
#include "bpf/syscalls.def"
#undef QP_CALL
	[QP_NR_CNT - 1] = QP_CALL_NONE,
};

#ifdef __TARGET_ARCH_x86
static const u16 i386_calls[QP_NR_CNT] = {
#define QP_CALL(name, kind, x86_64, aarch64, i386, ...) [SLOT(i386)] = RECORDED(kind, name),
#include "bpf/syscalls.def"
#undef QP_CALL
	[QP_NR_CNT - 1] = QP_CALL_NONE,
};

/* Numbers that x32 has for itself (arch/x86/entry/syscalls/syscall_64.tbl). */
static const u16 x32_calls[] = {
	[513 - 512] = QP_CALL_ID_rt_sigreturn,
	[516 - 512] = QP_CALL_ID_writev,
	[518 - 512] = QP_CALL_ID_sendmsg,
	[520 - 512] = QP_CALL_ID_execve,
	[521 - 512] = QP_CALL_ID_ptrace,
	[524 - 512] = QP_CALL_ID_rt_sigqueueinfo,
	[528 - 512] = QP_CALL_ID_kexec_load,
	[532 - 512] = QP_CALL_ID_vmsplice,
	[535 - 512] = QP_CALL_ID_pwritev,
	[536 - 512] = QP_CALL_ID_rt_tgsigqueueinfo,
	[538 - 512] = QP_CALL_ID_sendmmsg,
	[539 - 512] = QP_CALL_ID_process_vm_readv,
	[540 - 512] = QP_CALL_ID_process_vm_writev,
	[545 - 512] = QP_CALL_ID_execveat,
	[547 - 512] = QP_CALL_ID_pwritev2,
};

/* Numbers of x86_64 by name. */
enum {
#define QP_CALL(name, kind, x86_64, ...) NR_##name = (x86_64),
#include "bpf/syscalls.def"
#undef QP_CALL
};

/* What is behind i386's socketcall(2) and ipc(2) by their second number (linux/net.h,
 * linux/ipc.h): numbers of x86_64, for i386 has none of its own for send, recv and semop. */
static const u16 socketcall_numbers[] = {
	[1] = NR_socket,    [2] = NR_bind,	  [3] = NR_connect,	[4] = NR_listen,
	[5] = NR_accept,    [6] = NR_getsockname, [7] = NR_getpeername, [8] = NR_socketpair,
	[9] = NR_sendto,    [10] = NR_recvfrom,	  [11] = NR_sendto,	[12] = NR_recvfrom,
	[13] = NR_shutdown, [14] = NR_setsockopt, [15] = NR_getsockopt, [16] = NR_sendmsg,
	[17] = NR_recvmsg,  [18] = NR_accept4,	  [19] = NR_recvmmsg,	[20] = NR_sendmmsg,
};
static const u16 ipc_numbers[] = {
	[1] = NR_semop,	  [2] = NR_semget,  [3] = NR_semctl,  [4] = NR_semtimedop,
	[11] = NR_msgsnd, [12] = NR_msgrcv, [13] = NR_msgget, [14] = NR_msgctl,
	[21] = NR_shmat,  [22] = NR_shmdt,  [23] = NR_shmget, [24] = NR_shmctl,
};
#endif

#pragma clang diagnostic pop

static __always_inline u32 call_of(u8 abi, u32 nr)
{
	if (nr >= QP_NR_CNT - 1)
		return QP_CALL_NONE;
	barrier_var(nr);     /* or the mask is seen to change nothing, and left out */
	nr &= QP_NR_CNT - 1; /* Linux 6.1 forgets the bound of what was on the stack */
#ifdef __TARGET_ARCH_x86
	if (abi == QP_ABI_I386)
		return i386_calls[nr];
	if (abi == QP_ABI_X32 && nr >= 512)
		return nr < 512 + sizeof(x32_calls) / sizeof(x32_calls[0]) ? x32_calls[nr - 512]
									   : QP_CALL_NONE;
#else
	if (abi == QP_ABI_ARM)
		return QP_CALL_NONE;
#endif
	return native_calls[nr];
}

#ifdef __TARGET_ARCH_x86
/* The x86_64 number of the call that is meant by one of i386 that shares its number with
 * others; 0, which no such call has, for any other. */
static __noinline u32 shared_number(u32 nr, u32 second)
{
	barrier_var(second); /* Linux 6.1 learns no bound from what is compared in parts */
	if (nr == I386_SOCKETCALL &&
	    second < sizeof(socketcall_numbers) / sizeof(socketcall_numbers[0]))
		return socketcall_numbers[second];
	second &= 0xffff; /* above is a version */
	if (nr == I386_IPC && second < sizeof(ipc_numbers) / sizeof(ipc_numbers[0]))
		return ipc_numbers[second];
	return 0;
}
#endif

#endif
