/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * KREAD by plain loads, where the kernel has the kfunc for it: a helper call costs 20 ns
 * and more, for each return in the kernel is a guarded one. To be included by one object
 * file only: libbpf 1.1 cannot link two that name the same kfunc.
 */
#ifndef QP_BPF_FAST_BPF_H
#define QP_BPF_FAST_BPF_H

#include "bpf/core.bpf.h"

extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym __weak;

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

/* A number of up to eight bytes; by the helper, what lies behind it is read and cut off. */
#define FREAD(type, addr, field)                                                      \
	({                                                                            \
		typeof(((type *)0)->field) f_;                                        \
		u64 addr_ = (u64)(addr);                                              \
		if (have_rdonly_cast)                                                 \
			f_ = ((type *)bpf_rdonly_cast((void *)addr_,                  \
						      bpf_core_type_id_kernel(type))) \
				     ->field;                                         \
		else                                                                  \
			f_ = word_read((u64) & ((type *)addr_)->field);               \
		f_;                                                                   \
	})

/*
 * The eight bytes at @addr. As a member of a type without pointers, so that the verifier
 * sees a number: it would not let a pointer pass to a global function.
 */
#define FWORD(addr) ((u64)FREAD(struct timespec64, addr, tv_sec))

/* The pointer member @field of the struct @type at @addr, as a number. */
#define FPTR(type, addr, field) FWORD((u64)(addr) + bpf_core_field_offset(type, field))

#endif
