/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading kernel memory, and every difference between kernels that the programs have to
 * know, with the change that made it. The settings are filled in by the collector
 * between open and load, so the verifier removes what does not fit the kernel.
 */
#ifndef QP_BPF_CORE_BPF_H
#define QP_BPF_CORE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/syscalls.h"

/*
 * Kernel commit a35b9af4ec2c ("bpf: Add a kfunc for generic type cast", 6.2): a pointer
 * of our own arithmetic can be read with plain loads. Before, each read is a helper call,
 * which costs 20 ns and more, for each return in the kernel is a guarded one.
 */
const volatile bool have_rdonly_cast = false;
extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym __weak;

/* Kernel commit "exit: move and extend sched_process_exit() tracepoint" (6.16): the
 * second argument says whether the whole process ended. */
const volatile bool have_group_dead = false;

/*
 * A pointer that the kernel gave, as one that is only read through. At each load of a
 * pointer through a trusted one the verifier looks by name in all of the kernel's BTF
 * whether what it points to is trusted too: half of the time that loading takes.
 */
#define PLAIN(pointer)                                                                      \
	(have_rdonly_cast ? (typeof(pointer))bpf_rdonly_cast(                               \
				    (pointer), bpf_core_type_id_kernel(typeof(*(pointer)))) \
			  : (pointer))

/* The current task, for reading only; task storage wants bpf_get_current_task_btf() itself. */
static __always_inline struct task_struct *current_task(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return PLAIN(task);
}

/*
 * The eight bytes at @addr by a helper; zero on a fault. Not inline: what each of many reads
 * would keep on the stack adds up.
 */
static __noinline u64 word_read(u64 addr)
{
	u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)addr);
	return word;
}

/* The member @field, a number of up to eight bytes, of the struct @type at the kernel address
 * @addr; zero on a fault. By the helper, what lies behind it is read and cut off. */
#define KREAD(type, addr, field)                                                      \
	({                                                                            \
		typeof(((type *)0)->field) v_;                                        \
		u64 addr_ = (u64)(addr);                                              \
		if (have_rdonly_cast)                                                 \
			v_ = ((type *)bpf_rdonly_cast((void *)addr_,                  \
						      bpf_core_type_id_kernel(type))) \
				     ->field;                                         \
		else                                                                  \
			v_ = word_read((u64) & ((type *)addr_)->field);               \
		v_;                                                                   \
	})

/*
 * The eight bytes at @addr. As a member of a type without pointers, so that the verifier
 * sees a number: it would not let a pointer pass to a global function.
 */
#define KWORD(addr) ((u64)KREAD(struct timespec64, addr, tv_sec))

/* The pointer member @field of the struct @type at @addr, as a number. */
#define KPTR(type, addr, field) KWORD((u64)(addr) + bpf_core_field_offset(type, field))

#endif
