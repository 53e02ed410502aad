/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers and arguments of a call in the task's registers, by ABI. */
#ifndef QP_BPF_ABI_BPF_H
#define QP_BPF_ABI_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/core.bpf.h"

#define I386_OLD_MMAP	90
#define SOCKETCALL_SEND 9 /* sendto without an address */

#define TS_COMPAT 0x0002     /* arch/x86/include/asm/thread_info.h: a 32-bit call */
#define X32_BIT	  0x40000000 /* __X32_SYSCALL_BIT */
#define TIF_32BIT 22	     /* arch/arm64/include/asm/thread_info.h */

#ifdef __TARGET_ARCH_x86

static __always_inline u8 abi_of_call(struct task_struct *task, s64 id)
{
	if (task->thread_info.status & TS_COMPAT)
		return QP_ABI_I386;
	return id >= 0 && (id & X32_BIT) ? QP_ABI_X32 : QP_ABI_NATIVE;
}

static __always_inline s64 abi_number_at_exit(struct pt_regs *regs)
{
	return (s32)regs->orig_ax;
}

static __always_inline void abi_arguments(struct pt_regs *regs, u8 abi, u64 *args)
{
	if (abi == QP_ABI_I386) {
		args[0] = (u32)regs->bx;
		args[1] = (u32)regs->cx;
		args[2] = (u32)regs->dx;
		args[3] = (u32)regs->si;
		args[4] = (u32)regs->di;
		args[5] = (u32)regs->bp;
		return;
	}
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

#else

static __always_inline u8 abi_of_call(struct task_struct *task, s64 id)
{
	return task->thread_info.flags >> TIF_32BIT & 1 ? QP_ABI_ARM : QP_ABI_NATIVE;
}

static __always_inline s64 abi_number_at_exit(struct pt_regs *regs)
{
	return regs->syscallno;
}

/* The first argument's register holds the result by the time of the exit. */
static __always_inline void abi_arguments(struct pt_regs *regs, u8 abi, u64 *args)
{
	args[0] = regs->orig_x0;
	args[1] = regs->regs[1];
	args[2] = regs->regs[2];
	args[3] = regs->regs[3];
	args[4] = regs->regs[4];
	args[5] = regs->regs[5];
}

#endif

/*
 * Whether a call is only counted, and at its exit: the entry then leaves nothing behind, and
 * the exit need not look for it. One that seccomp denies has an exit too, and counts alike.
 */
static __always_inline bool counted_at_exit(u8 abi, u32 nr, u32 call)
{
#ifdef __TARGET_ARCH_x86
	return !call && !(abi == QP_ABI_I386 && nr == I386_SOCKETCALL);
#else
	return !call && abi != QP_ABI_ARM; /* without a table: which of them come back? */
#endif
}

/*
 * Two calls of i386 have their arguments in memory: old mmap as a struct, socketcall as an
 * array behind its own number. Gives the row of the call that is meant.
 */
static __always_inline u32 abi_unwrap(u8 abi, u32 nr, u32 call, u64 *args)
{
#ifdef __TARGET_ARCH_x86
	u32 in[CALL_ARGS] = {};
	u32 cnt = CALL_ARGS;

	if (abi != QP_ABI_I386)
		return call;
	if (nr == I386_SOCKETCALL) {
		call = call_of(QP_ABI_NATIVE, shared_number(nr, args[0]));
		if (!call)
			return call;
		cnt = args[0] == SOCKETCALL_SEND ? 4 : CALL_ARGS;
		bpf_probe_read_user(in, cnt * sizeof(u32), (void *)args[1]);
	} else if (nr == I386_OLD_MMAP) {
		bpf_probe_read_user(in, sizeof(in), (void *)args[0]);
	} else {
		return call;
	}
	for (int i = 0; i < CALL_ARGS; i++)
		args[i] = in[i];
#endif
	return call;
}

/*
 * Under which ABI and number a call is counted. Those that share one of i386's numbers count
 * as x86_64's calls of their names.
 */
static __always_inline void abi_counted(struct pt_regs *regs, u8 *abi, u32 *nr)
{
#ifdef __TARGET_ARCH_x86
	u32 meant;

	if (*abi != QP_ABI_I386)
		return;
	meant = shared_number(*nr, regs->bx);
	if (!meant)
		return;
	*abi = QP_ABI_NATIVE;
	*nr = meant;
#endif
}

/* Bytes of a pointer in the task's structures. */
static __always_inline u32 abi_pointer_bytes(u8 abi)
{
	return abi == QP_ABI_NATIVE ? 8 : 4;
}

#endif
