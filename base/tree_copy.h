/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying a folder's content: everything is opened beneath a held folder, no link is
 * followed, and what is neither file, folder nor link is left out.
 */
#ifndef QP_BASE_TREE_COPY_H
#define QP_BASE_TREE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tree_copy {
	/* Asked for. */
	uint64_t bytes_max; /* of all files; 0: no bound */
	bool give_away;	    /* to @uid and @gid */
	uid_t uid;
	gid_t gid;
	/* Called for each entry that could not be copied; the others still are. */
	void (*on_error)(const char *name, int error);
	/* What came of it. */
	uint64_t bytes;
	size_t entries, errors, left_out;
};

/*
 * Copies what the folder @from_fd holds into the folder @to_fd; both stay the caller's.
 * Modes are kept, set-id bits aside. 0, also when single entries failed (@copy counts them);
 * -ENOSPC, -EDQUOT, -EFBIG (past bytes_max), -EOVERFLOW (past a million entries) or another
 * error that made going on senseless.
 */
int tree_copy(struct tree_copy *copy, int from_fd, int to_fd);

#endif
