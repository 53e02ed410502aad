/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that a task's receipt goes to. Files in it are never overwritten. */
#ifndef QP_TOOLS_TASK_FOLDER_H
#define QP_TOOLS_TASK_FOLDER_H

#include "tools/task/task.h"

/* Chooses the name of the temporary folder, which the janitor must know before it is made. */
int folder_name_temporary(struct task *task);

/*
 * Makes the receipt's folder, or takes an empty one, and the temporary one of the fetch.
 * -EEXIST when it holds files already, -ENOTDIR, -EROFS, -EACCES, ...
 */
int folder_make(struct task *task, struct qp_error *err);

/* Copies the folder of --in to the temporary one, as the sandbox's user may read it. -EFBIG
 * when it does not fit into /work. */
int folder_take_in(const struct task *task, struct qp_error *err);

/* Writes a new file into it. The system's error, with the mend. */
int folder_write(const struct task *task, const char *name, const char *bytes, size_t len,
		 struct qp_error *err);

/* Removes what the task put there, and the folder if the task made it. */
void folder_undo(const struct task *task);

#endif
