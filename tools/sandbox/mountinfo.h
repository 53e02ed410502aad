/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /proc/<pid>/mountinfo (proc_pid_mountinfo(5)). */
#ifndef QP_TOOLS_SANDBOX_MOUNTINFO_H
#define QP_TOOLS_SANDBOX_MOUNTINFO_H

/* One mount; the strings live until the callback returns. */
struct mount_entry {
	const char *root;	   /* the folder of the file system that is mounted */
	const char *path;	   /* where, as the process sees it */
	const char *options;	   /* of this mount, "ro,nosuid" */
	const char *type;	   /* "tmpfs" */
	const char *super_options; /* of the file system, "rw,size=65536k" */
};

/* Returns 0 to go on, anything else to end with that result. */
typedef int (*mount_func)(const struct mount_entry *entry, void *context);

/* Calls @func for each mount of the file @path, in the kernel's order. 0, what @func ended
 * with, -EBADMSG for a line that is none, or -errno. */
int mountinfo_each(const char *path, mount_func func, void *context);

/* The value of option @name in a comma-separated list: "" for one without a value, NULL when
 * it is not there. Points into @options, and ends at a comma or a NUL. */
const char *mount_option(const char *options, const char *name);

#endif
