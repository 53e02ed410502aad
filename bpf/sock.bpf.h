/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets: constants of the UAPI, and the way from a file to its struct sock. */
#ifndef QP_BPF_SOCK_BPF_H
#define QP_BPF_SOCK_BPF_H

#include "bpf/core.bpf.h"
#include <bpf/bpf_endian.h>

#define AF_INET	 2
#define AF_INET6 10

#define S_IFMT	 0170000
#define S_IFSOCK 0140000
#define S_IFREG	 0100000
#define S_IFBLK	 0060000
#define S_IFCHR	 0020000

/* 0 when the file is no socket. */
u64 sock_of_file(u64 file);

#endif
