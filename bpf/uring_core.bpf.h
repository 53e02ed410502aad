/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_uring's requests in the kernel's memory, and every difference of them between kernels
 * that the programs have to know, with the change that made it. One more is the collector's,
 * which gives a program the name of its tracepoint: kernel commit "io_uring: rename
 * trace_io_uring_submit_sqe() tracepoint" (6.4).
 */
#ifndef QP_BPF_URING_CORE_BPF_H
#define QP_BPF_URING_CORE_BPF_H

#include "bpf/core.bpf.h"
#include "io_uring.h"

#define REQUEST_FIXED_FILE 0x01 /* REQ_F_FIXED_FILE: the descriptor is an index */
#define REQUEST_SILENT	   0x40 /* REQ_F_CQE_SKIP: IOSQE_CQE_SKIP_SUCCESS */

#define FILE_INDEX_ALLOC ((u32)-1) /* IORING_FILE_INDEX_ALLOC */
#define FILE_FLAG_BITS	 7ULL	   /* of a registered file's address */

/* A member that not every kernel has; 0 without it. Also for what all known ones have: the
 * programs must load where it is gone, and what is not known shows in the record. */
#define UREAD(type, addr, field)                                                                 \
	(bpf_core_field_exists(((struct type *)0)->field) ? (u64)KREAD(struct type, addr, field) \
							  : 0)

/* The same for a pointer. */
#define UPTR(type, addr, field) \
	(bpf_core_field_exists(((struct type *)0)->field) ? KPTR(struct type, addr, field) : 0)

/*
 * Kernel commit "io_uring/net: move connect to always using async data" and those beside it
 * (6.10): a request to connect or to send has its address copied when it is submitted. Before,
 * the task's memory is looked at, as the kernel does once it begins the request.
 */
static __always_inline bool has_address_copy(void)
{
	return !bpf_core_type_exists(struct io_async_connect);
}

/*
 * The copy of the address to connect or bind a socket of @family to. It is in a struct
 * io_async_msghdr, or, in the later releases of 6.12 and 6.18, by itself, which BTF does not tell:
 * there it begins with the family, where the other has a pointer, of which that is no beginning.
 */
static __always_inline u64 address_copy(u64 async_data, u16 family)
{
	u16 first = 0;

	bpf_probe_read_kernel(&first, sizeof(first), (void *)async_data);
	if (first && first == family)
		return async_data;
	return async_data + bpf_core_field_offset(struct io_async_msghdr, addr);
}

/*
 * The file that the ring has registered as number @index; 0 for none. Kernel commit
 * "io_uring/rsrc: unify file and buffer resource tables" (6.13): the table is one of pointers
 * to nodes, no more one of files.
 */
static __always_inline u64 registered_file(u64 ring, u32 index)
{
	u64 table = ring + bpf_core_field_offset(struct io_ring_ctx, file_table);
	u64 word = 0;

	if (bpf_core_field_exists(((struct io_file_table *)0)->files)) {
		u64 files = UPTR(io_file_table, table, files);

		if (files)
			word = UREAD(io_fixed_file,
				     files + (u64)index * bpf_core_type_size(struct io_fixed_file),
				     file_ptr);
	} else {
		u64 nodes = UPTR(io_file_table, table, data.nodes), node = 0;

		if (!nodes || index >= UREAD(io_file_table, table, data.nr))
			return 0;
		bpf_probe_read_kernel(&node, sizeof(node), (void *)(nodes + (u64)index * 8));
		if (node)
			word = UREAD(io_rsrc_node, node, file_ptr);
	}
	return word & ~FILE_FLAG_BITS;
}

#endif
