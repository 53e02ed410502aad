/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One OCI container in a cgroup of its own, made so that nothing inside can do harm:
 * created first, observed from outside, then started. What is reported of it is read back
 * from the kernel and the runtime, never repeated from what was asked for.
 */
#ifndef QP_TOOLS_SANDBOX_SANDBOX_H
#define QP_TOOLS_SANDBOX_SANDBOX_H

#include "base/error.h"

#include "tools/sandbox/trust.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TASK_ID_SIZE 11 /* ten lowercase hex digits and a NUL */

struct limits {
	uint64_t download_seconds, download_max_bytes, download_max_packages;
	uint64_t sandbox_seconds, pids, memory_bytes, cpus_milli;
	uint64_t tmpfs_work_bytes, tmpfs_tmp_bytes, tmpfs_home_bytes;
};

/* The seeds' values, with one whole CPU. */
void limits_default(struct limits *ret_limits);

/* As the receipt has them. */
json_t *limits_json(const struct limits *limits);

/* Who the sandboxed code believes to be; made up per task, plausible, alike for both
 * containers of a task. */
struct persona {
	char user[33];
	char host[65];
	char home[64];
	uint32_t uid, gid;
	char address4[16], gateway4[16]; /* in a /24 */
	char address6[46], gateway6[46]; /* in a /64 */
};

int persona_make(struct persona *ret_persona);

/*
 * The host's @source, a file or folder, at @destination. So that the mount table inside does
 * not tell the host's paths, a read-only file of up to 16 MiB is copied when the container is
 * made, and a read-only folder is the lower layer of an overlay where the host has overlayfs;
 * otherwise it is a bind mount. The file that is argv[0] gets mode 0711: it can be run, not
 * read.
 */
struct sandbox_bind {
	const char *source;
	const char *destination;
	bool writable;
};

struct sandbox_config {
	const char *task_id;
	const char *role;    /* "download" or "sandbox": names container and cgroup,
			      * qp-<role>-<taskId> */
	const char *runtime; /* a program's name or path, or NULL to try runc and crun */
	const char *rootfs;  /* an unpacked image, or NULL for the host's /usr */
	const struct limits *limits;
	const struct persona *persona;
	uint64_t home_bytes, tmp_bytes, work_bytes; /* tmpfs sizes; 0: no such mount */
	int netns_fd; /* -1: the host's network, with its resolv.conf and hosts */
	bool decoys;  /* home with history, git config and decoy credentials */
	const struct sandbox_bind *binds;
	size_t binds_cnt;
	const char *const *argv;	   /* PID 1; its first word is a path inside */
	const char *const *envp;	   /* whole environment */
	int control_fd;			   /* becomes descriptor 3 of PID 1; -1: none */
	bool without_node;		   /* do not insist on a node below the root */
	const struct sandbox_trust *trust; /* an authority to be trusted inside; or NULL */
};

struct sandbox;

/*
 * Takes the calling process out of the host's mount table, so that no mount made from here
 * on outlives it. Call it once, at start, before there are threads. sandbox_create does not
 * need it: its own mounts are made in a namespace of a process that ends with the create.
 */
int sandbox_isolate_mounts(struct qp_error *err);

/* "runc" or "crun", whichever can create a container here (tried, then remembered for this
 * process); @wanted limits the choice. *ret_path is the caller's. -ENOENT with the mend. */
int runtime_find(const char *wanted, char **ret_path, struct qp_error *err);

/*
 * Builds bundle and cgroup and lets the runtime create the container: it exists, its
 * first program has not begun. On failure nothing is left behind. -ENOENT when there is no
 * node below the root, -EINVAL for a configuration that cannot be, others with the cause.
 *
 * With the host's network (@netns_fd -1) the host's npmrc files stay readable, since the
 * download is to honour them; otherwise they are masked.
 *
 * Makes the caller the reaper of orphaned descendants (PR_SET_CHILD_SUBREAPER): that is how
 * the exit status of PID 1 comes to it. The caller must not wait for any child but its own.
 */
int sandbox_create(const struct sandbox_config *config, struct sandbox **ret_sandbox,
		   struct qp_error *err);

/* Lets the first program begin. */
int sandbox_start(struct sandbox *sandbox, struct qp_error *err);

const char *sandbox_container(const struct sandbox *sandbox); /* name; lives as it does */
int sandbox_cgroup_fd(const struct sandbox *sandbox);	      /* cgroup v2 folder; stays its own */
pid_t sandbox_init_pid(const struct sandbox *sandbox);	      /* in the caller's pid namespace */
int sandbox_init_pidfd(const struct sandbox *sandbox);	      /* readable when PID 1 ended */
int sandbox_root_fd(const struct sandbox *sandbox);	      /* O_PATH of its root */
int sandbox_output_fd(const struct sandbox *sandbox);	      /* stdout and stderr, non-blocking */

/* The `hardening` object, read back from the kernel (/proc of PID 1, the cgroup's files,
 * mountinfo) and the runtime's state. Call it between create and the end. */
int sandbox_hardening(struct sandbox *sandbox, json_t **ret_hardening, struct qp_error *err);

/*
 * Whether the running PID 1 is confined as asked: uid and gid, no capability in any set,
 * no_new_privs, a seccomp filter, a read-only root, its own namespaces, the limits. Seccomp
 * is in force only once the first program runs, so call it after start. -EPERM with @err
 * naming what is weaker than asked; other errors when it could not be read.
 */
int sandbox_verify(struct sandbox *sandbox, struct qp_error *err);

/*
 * What a process inside starts with, read from outside while PID 1 runs: the log's `scan`
 * record (names of environment variables, mounts, sockets of container engines). -ESRCH
 * when PID 1 is gone.
 */
int sandbox_scan(const struct sandbox *sandbox, json_t **ret_scan);

/* Which stores, and whether the node that a process with @envp finds, trust the authority
 * @pem: as trust_read has it, read from the container's root. NULL when out of memory. */
json_t *sandbox_trusted(const struct sandbox *sandbox, const char *pem, const char *const *envp);

/* Decoys as the `decoys` record has them, and their secret values, as
 * {"label": "value"}; NULL for none. Both stay the sandbox's. */
const json_t *sandbox_decoys(const struct sandbox *sandbox);
const json_t *sandbox_decoy_values(const struct sandbox *sandbox);

/* Kills every process of the group. */
int sandbox_kill(struct sandbox *sandbox);

/* The limits that were reached so far: an array of "memory", "pids", "tmpfs". Call it
 * before PID 1 ended and once after; a limit once seen stays. */
int sandbox_limits_hit(struct sandbox *sandbox, json_t **ret_limits);

/* How PID 1 ended, once its pidfd is readable: {"exitCode": N|null, "signal": N|null,
 * "oomKilled": bool}. */
int sandbox_exit_status(struct sandbox *sandbox, json_t **ret_status);

/* Kills, deletes container, cgroups, mounts and folders, and frees. Appends what was
 * removed to @teardown's "removed" ("containers", "cgroups", "folders", "networks",
 * "volumes"), what would not go to its "leftoversForTask". NULL sandbox or teardown is
 * fine. */
void sandbox_destroy(struct sandbox *sandbox, json_t *teardown);

/* The same by name alone, for what a crashed qp left of @task_id. Idempotent. */
void sandbox_sweep(const char *task_id, json_t *teardown);

/* A new network namespace with nothing in it; the descriptor is all that holds it. */
int netns_create(int *ret_fd, struct qp_error *err);

#endif
