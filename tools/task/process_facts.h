/* SPDX-License-Identifier: Apache-2.0 */
/* How a helper process of qp is confined, read from the kernel. */
#ifndef QP_TOOLS_TASK_PROCESS_FACTS_H
#define QP_TOOLS_TASK_PROCESS_FACTS_H

#include <jansson.h>
#include <sys/types.h>

/*
 * The `hardening` object of a process that is no container: the keys of a container's, null
 * where they mean nothing for a process. Source: /proc/PID/status and /proc/PID/ns. NULL
 * when the process is gone or memory is short; the caller's.
 */
json_t *process_hardening(pid_t pid);

#endif
