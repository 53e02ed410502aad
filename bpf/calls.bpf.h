/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* syscalls.def as tables: from an ABI's number to the row, and what the row says. */
#ifndef QP_BPF_CALLS_BPF_H
#define QP_BPF_CALLS_BPF_H

#include "bpf/core.bpf.h"
#include "bpf/counters.h"
#include "bpf/syscalls.h"

#define CALL_ARGS 6

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

/* The second number of socketcall(2) (linux/net.h), which i386 has for socket calls. */
static const u16 socketcalls[] = {
	[1] = QP_CALL_ID_socket,    [2] = QP_CALL_ID_bind,     [3] = QP_CALL_ID_connect,
	[4] = QP_CALL_ID_listen,    [5] = QP_CALL_ID_accept,   [9] = QP_CALL_ID_sendto,
	[11] = QP_CALL_ID_sendto,   [16] = QP_CALL_ID_sendmsg, [18] = QP_CALL_ID_accept4,
	[20] = QP_CALL_ID_sendmmsg,
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

#endif
