/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the paths of a call led: the kernel's record has the text that the task passed and
 * the folder it starts from; the file system beneath the task's root has the answer.
 */
#ifndef QP_COLLECTOR_RESOLVE_H
#define QP_COLLECTOR_RESOLVE_H

#include "bpf/event.h"
#include "collector/log.h"
#include "collector/roots.h"

/*
 * Appends a `resolved` record to @log for each path of @event, a QP_EVENT_CALL, that
 * changed something or was to. @enter is the call's QP_EVENT_ENTER or NULL.
 */
void resolve_event(const struct qp_event *event, const struct qp_event *enter, struct roots *roots,
		   struct log_writer *log);

/*
 * The real path that @path, absolute and beneath @root_fd, has there, as a new string: the folder
 * part resolved, the last name as it is; with @follow, what a symlink of that name leads
 * to, if that exists. *ret_exists: something has that name. 0 or -errno.
 */
int resolve_path(int root_fd, const char *path, int follow, char **ret_path, int *ret_exists);

#endif
