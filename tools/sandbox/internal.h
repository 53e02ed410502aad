/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef QP_TOOLS_SANDBOX_INTERNAL_H
#define QP_TOOLS_SANDBOX_INTERNAL_H

#include "tools/sandbox/cgroup.h"
#include "tools/sandbox/sandbox.h"

#include <limits.h>

#define CONTAINER_PREFIX "qp-"
#define CONTAINER_SIZE	 64
#define TEMP_PARENT	 "/tmp"
#define RUNTIME_FOLDER	 "state" /* in a sandbox's temporary folder: the runtime's own root */

enum sandbox_tmpfs { TMPFS_WORK, TMPFS_TMP, TMPFS_HOME, TMPFS_CNT };

/* One private mount inside that the package may write to. */
struct tmpfs_mount {
	char path[64];
	uint64_t bytes; /* 0: not there */
	int fd;		/* O_PATH; keeps the file system readable after PID 1 ended; -1 */
};

struct sandbox_source {
	char *source, *destination;
	bool writable;
};

struct sandbox {
	char container[CONTAINER_SIZE];
	char *runtime; /* path of the program */
	char *folder;  /* temporary, on the host */
	char *rootfs;  /* as configured; NULL for the host's /usr */
	struct cgroups cgroups;
	struct tmpfs_mount tmpfs[TMPFS_CNT];
	struct sandbox_source *binds;
	size_t binds_cnt;
	/* what was asked for, to compare with */
	uint32_t uid, gid;
	uint64_t pids, memory_bytes, cpus_milli;
	bool host_network, has_swap_limit;
	/* what the runtime made */
	pid_t init_tgid; /* 0 before */
	int init_pidfd, root_fd, cgroup_fd, output_fd;
	bool memory_hit, pids_hit, tmpfs_hit; /* once seen they stay */
	json_t *decoys, *decoy_values;
};

/* ---- spec.c ------------------------------------------------------------------------- */

/* The OCI configuration of the container. NULL when out of memory. */
json_t *spec_make(const struct sandbox *sandbox, const struct sandbox_config *config);

/* ---- rootfs.c ----------------------------------------------------------------------- */

/* Builds the root at @folder/rootfs, in the calling process's mount namespace, which must be
 * its own: mounts stay there. @decoys as decoys_make made them, or NULL. */
int rootfs_build(const struct sandbox *sandbox, const struct sandbox_config *config,
		 const json_t *decoys, struct qp_error *err);

/* The path of the node below @root_fd that a process with the environment @envp finds. 0 or
 * -ENOENT. */
int node_find(int root_fd, const char *const *envp, char path[static PATH_MAX]);

/* ---- etc.c -------------------------------------------------------------------------- */

/* Fills /etc below @root_fd; of an image (@image) only what must be this task's. */
int etc_write(int root_fd, const struct sandbox_config *config, bool image);

/* ---- decoys.c ----------------------------------------------------------------------- */

/* Makes up a home: {"files": [{"path" (below the home), "text", "mode", "age" (seconds),
 * "secret": whether it holds a credential}], "values": {label: value}}. 0 or -errno. */
int decoys_make(const struct persona *persona, json_t **ret_decoys);

/* Writes those files into the folder @home_fd, owned by the persona. 0 or -errno. */
int decoys_write(int home_fd, const struct persona *persona, const json_t *decoys);

/* ---- scan.c ------------------------------------------------------------------------- */

/* Whether a variable of that name is likely to hold a credential: by the words in it. */
bool env_name_is_key_like(const char *name);

/* ---- runtime.c ---------------------------------------------------------------------- */

/* Runs the runtime with @args, which end with NULL; what it printed is in @err on failure.
 * *ret_output, if wanted, is its standard output. */
int runtime_call(const char *runtime, const char *const *args, char **ret_output,
		 struct qp_error *err);

/* Waits for the child @pid at most @seconds, then kills it. *ret_status as wait(2) has it;
 * 0, -ETIMEDOUT or -errno. */
int child_wait(pid_t pid, unsigned int seconds, int *ret_status);

/* ---- create.c ----------------------------------------------------------------------- */

/* Builds the bundle and the container in sandbox->folder. What it made so far stays when it
 * fails. */
int sandbox_make(struct sandbox *sandbox, const struct sandbox_config *config, const json_t *decoys,
		 struct qp_error *err);

/* The runtime's own words about a failure, from its log file or what it printed. */
void runtime_complaint(const char *folder, const char *printed, struct qp_error *err, int code,
		       const char *what);

/* ---- teardown.c --------------------------------------------------------------------- */

/* Frees without touching the host. */
void sandbox_free(struct sandbox *sandbox);

/* Kills and removes the groups called @group, and @folder with what is mounted below. */
void container_remove(const struct cgroups *cgroups, const char *group, const char *folder,
		      json_t *teardown);

#endif
