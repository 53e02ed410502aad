/* SPDX-License-Identifier: Apache-2.0 */
/* The system call filter of a sandbox, as an OCI `linux.seccomp` object. */
#ifndef QP_TOOLS_SANDBOX_SECCOMP_H
#define QP_TOOLS_SANDBOX_SECCOMP_H

#include <jansson.h>

/*
 * A list of what is denied; the rest is allowed. That is enough because no process inside
 * has a capability or can gain one: the list closes what the kernel offers to anyone (user
 * namespaces, ptrace, bpf, keyrings, io_uring, vsock), and each denial is an errno that
 * programs cope with and that the observer sees. A list of what is allowed would refuse
 * calls newer than this program, which libraries probe for, and would make packages behave
 * unlike on a real machine.
 *
 * Every architecture the kernel runs is named, since an unnamed one would be killed. NULL
 * when out of memory or on a machine that is none of x86_64 and aarch64.
 */
json_t *seccomp_profile(void);

#endif
