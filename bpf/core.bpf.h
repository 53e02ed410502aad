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
 * of our own arithmetic can be read with plain loads. Before, each read is a helper call.
 */
const volatile bool have_rdonly_cast __weak = false;

/* Kernel commit "exit: move and extend sched_process_exit() tracepoint" (6.16): the
 * second argument says whether the whole process ended. */
const volatile bool have_group_dead __weak = false;

/* The member @field of the struct @type at the kernel address @addr; zero on a fault. */
#define KREAD(type, addr, field)                                                       \
	({                                                                             \
		typeof(((type *)0)->field) v_;                                         \
		bpf_probe_read_kernel(&v_, sizeof(v_), &((type *)(u64)(addr))->field); \
		v_;                                                                    \
	})

/* The same for a pointer member, as an address. */
#define KPTR(type, addr, field) ((u64)KREAD(type, addr, field))

#endif
