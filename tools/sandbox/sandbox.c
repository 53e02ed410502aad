// SPDX-License-Identifier: Apache-2.0
/* The sandbox as its users have it: made, started, watched, killed. */
#include "tools/sandbox/sandbox.h"

#include "base/cleanup.h"
#include "tools/sandbox/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>

DEFINE_CLEANUP(sandboxp, struct sandbox *, sandbox_free);

static int config_check(const struct sandbox_config *config, struct qp_error *err)
{
	size_t role = strspn(config->role, "abcdefghijklmnopqrstuvwxyz");

	if (strlen(config->task_id) != TASK_ID_SIZE - 1 ||
	    strspn(config->task_id, "0123456789abcdef") != TASK_ID_SIZE - 1)
		return qp_error_set(err, -EINVAL, "a task's id is ten lowercase hex digits");
	if (!role || config->role[role] || role > 16)
		return qp_error_set(err, -EINVAL, "a container's role is a short word");
	if (!config->argv || !config->argv[0])
		return qp_error_set(err, -EINVAL, "the container has no first program");
	for (size_t i = 0; i < config->binds_cnt; i++) {
		if (config->binds[i].source[0] != '/' || config->binds[i].destination[0] != '/')
			return qp_error_set(err, -EINVAL, "a bind needs absolute paths: %s to %s",
					    config->binds[i].source, config->binds[i].destination);
	}
	return 0;
}

static int binds_keep(struct sandbox *sandbox, const struct sandbox_config *config)
{
	sandbox->binds = calloc(config->binds_cnt + 1, sizeof(*sandbox->binds));
	if (!sandbox->binds)
		return -ENOMEM;
	for (size_t i = 0; i < config->binds_cnt; i++) {
		struct sandbox_source *bind = &sandbox->binds[sandbox->binds_cnt++];

		bind->source = strdup(config->binds[i].source);
		bind->destination = strdup(config->binds[i].destination);
		bind->writable = config->binds[i].writable;
		if (!bind->source || !bind->destination)
			return -ENOMEM;
	}
	return 0;
}

static void tmpfs_set(struct tmpfs_mount *tmpfs, const char *path, uint64_t bytes)
{
	*tmpfs = (struct tmpfs_mount){.bytes = bytes, .fd = -1};
	snprintf(tmpfs->path, sizeof(tmpfs->path), "%s", path);
}

/* What the configuration says, kept for as long as the sandbox lives. */
static int sandbox_fill(struct sandbox *sandbox, const struct sandbox_config *config)
{
	uint64_t swap;
	int r;

	snprintf(sandbox->container, sizeof(sandbox->container), CONTAINER_PREFIX "%s-%s",
		 config->role, config->task_id);
	sandbox->uid = config->persona->uid;
	sandbox->gid = config->persona->gid;
	sandbox->pids = config->limits->pids;
	sandbox->memory_bytes = config->limits->memory_bytes;
	sandbox->cpus_milli = config->limits->cpus_milli;
	sandbox->host_network = config->netns_fd < 0;
	tmpfs_set(&sandbox->tmpfs[TMPFS_WORK], "/work", config->work_bytes);
	tmpfs_set(&sandbox->tmpfs[TMPFS_TMP], "/tmp", config->tmp_bytes);
	tmpfs_set(&sandbox->tmpfs[TMPFS_HOME], config->persona->home, config->home_bytes);
	if (config->rootfs) {
		sandbox->rootfs = realpath(config->rootfs, NULL);
		if (!sandbox->rootfs)
			return -errno;
	}
	r = cgroups_find(&sandbox->cgroups);
	if (r)
		return r;
	/* Version 1 has swap accounting or not; in version 2 runtimes cope by themselves. */
	sandbox->has_swap_limit = cgroups_controller(&sandbox->cgroups, "memory")->v2 ||
				  !cgroup_limit(&sandbox->cgroups, "", &cgroup_memory_swap, &swap);
	return binds_keep(sandbox, config);
}

static int sandbox_new(const struct sandbox_config *config, struct sandbox **ret_sandbox)
{
	_cleanup_(sandboxp) struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
	int r;

	if (!sandbox)
		return -ENOMEM;
	sandbox->init_pidfd = sandbox->root_fd = sandbox->cgroup_fd = sandbox->output_fd = -1;
	for (size_t i = 0; i < TMPFS_CNT; i++)
		sandbox->tmpfs[i].fd = -1;
	r = sandbox_fill(sandbox, config);
	if (!r)
		*ret_sandbox = steal_ptr(sandbox);
	return r;
}

/* Makes the decoys of the configuration, and keeps what is told about them. */
static int decoys_prepare(struct sandbox *sandbox, const struct sandbox_config *config,
			  json_t **ret_decoys)
{
	json_t *files, *file;
	size_t i;
	int r;

	if (!config->decoys)
		return 0;
	r = decoys_make(config->persona, ret_decoys);
	if (r)
		return r;
	files = json_array();
	json_array_foreach (json_object_get(*ret_decoys, "files"), i, file) {
		/* Only credentials are decoys; the rest is furniture. */
		if (json_is_true(json_object_get(file, "secret")))
			json_array_append_new(
				files,
				json_sprintf("%s%s", config->persona->home,
					     json_string_value(json_object_get(file, "path"))));
	}
	sandbox->decoys = json_pack("{s:o, s:[]}", "files", files, "envNames");
	sandbox->decoy_values = json_incref(json_object_get(*ret_decoys, "values"));
	return sandbox->decoys ? 0 : -ENOMEM;
}

int sandbox_create(const struct sandbox_config *config, struct sandbox **ret_sandbox,
		   struct qp_error *err)
{
	_cleanup_(sandboxp) struct sandbox *sandbox = NULL;
	json_auto_t *decoys = NULL;
	char folder[64];
	int r = config_check(config, err);

	if (r)
		return r;
	r = sandbox_new(config, &sandbox);
	if (!r)
		r = decoys_prepare(sandbox, config, &decoys);
	if (r)
		return qp_error_set(err, r, "cannot prepare the sandbox: %s", strerror(-r));
	if (config->runtime && strchr(config->runtime, '/'))
		r = (sandbox->runtime = strdup(config->runtime)) ? 0 : -ENOMEM;
	else
		r = runtime_find(config->runtime, &sandbox->runtime, err);
	if (r)
		return r;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return qp_error_set(err, -errno, "prctl: %s", strerror(errno));
	snprintf(folder, sizeof(folder), TEMP_PARENT "/" CONTAINER_PREFIX "%s-XXXXXX",
		 config->task_id);
	if (!mkdtemp(folder))
		return qp_error_set(err, -errno, "%s: %s", folder, strerror(errno));
	sandbox->folder = strdup(folder);
	if (!sandbox->folder) {
		rmdir(folder);
		return -ENOMEM;
	}
	r = sandbox_make(sandbox, config, decoys, err);
	if (r) {
		sandbox_destroy(steal_ptr(sandbox), NULL);
		return r;
	}
	*ret_sandbox = steal_ptr(sandbox);
	return 0;
}

int sandbox_start(struct sandbox *sandbox, struct qp_error *err)
{
	char state[PATH_MAX];
	const char *const args[] = {"--root", state, "start", sandbox->container, NULL};

	snprintf(state, sizeof(state), "%s/" RUNTIME_FOLDER, sandbox->folder);
	return runtime_call(sandbox->runtime, args, NULL, err);
}

const char *sandbox_container(const struct sandbox *sandbox)
{
	return sandbox->container;
}

int sandbox_cgroup_fd(const struct sandbox *sandbox)
{
	return sandbox->cgroup_fd;
}

pid_t sandbox_init_pid(const struct sandbox *sandbox)
{
	return sandbox->init_tgid;
}

int sandbox_init_pidfd(const struct sandbox *sandbox)
{
	return sandbox->init_pidfd;
}

int sandbox_root_fd(const struct sandbox *sandbox)
{
	return sandbox->root_fd;
}

int sandbox_output_fd(const struct sandbox *sandbox)
{
	return sandbox->output_fd;
}

json_t *sandbox_trusted(const struct sandbox *sandbox, const char *pem, const char *const *envp)
{
	char node[PATH_MAX];
	int r = node_find(sandbox->root_fd, envp, node);

	return trust_read(sandbox->root_fd, pem, r ? NULL : node);
}

const json_t *sandbox_decoys(const struct sandbox *sandbox)
{
	return sandbox->decoys;
}

const json_t *sandbox_decoy_values(const struct sandbox *sandbox)
{
	return sandbox->decoy_values;
}

int sandbox_kill(struct sandbox *sandbox)
{
	return cgroups_kill(&sandbox->cgroups, sandbox->container);
}

/* A tmpfs is at its limit when not one block, or not one inode, is left. */
static bool tmpfs_is_full(const struct tmpfs_mount *tmpfs)
{
	struct statfs st;

	return tmpfs->fd >= 0 && !fstatfs(tmpfs->fd, &st) && (!st.f_bavail || !st.f_ffree);
}

int sandbox_limits_hit(struct sandbox *sandbox, json_t **ret_limits)
{
	const struct {
		const char *name;
		const bool *hit;
	} limits[] = {
		{"memory", &sandbox->memory_hit},
		{"pids", &sandbox->pids_hit},
		{"tmpfs", &sandbox->tmpfs_hit},
	};
	bool memory, pids;
	json_t *list;
	int r = cgroup_memory_hit(&sandbox->cgroups, sandbox->container, &memory);

	if (!r)
		r = cgroup_pids_hit(&sandbox->cgroups, sandbox->container, &pids);
	if (r)
		return r;
	sandbox->memory_hit |= memory;
	sandbox->pids_hit |= pids;
	for (size_t i = 0; i < TMPFS_CNT; i++)
		sandbox->tmpfs_hit |= tmpfs_is_full(&sandbox->tmpfs[i]);
	list = json_array();
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		if (*limits[i].hit)
			json_array_append_new(list, json_string(limits[i].name));
	}
	*ret_limits = list;
	return list ? 0 : -ENOMEM;
}

int sandbox_exit_status(struct sandbox *sandbox, json_t **ret_status)
{
	bool oom = sandbox->memory_hit;
	siginfo_t info = {0};

	/* Kept waitable, so that asking again gives the same answer. */
	if (waitid(P_PIDFD, (id_t)sandbox->init_pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return -errno;
	if (!info.si_pid)
		return -EAGAIN;
	if (!oom && cgroup_memory_hit(&sandbox->cgroups, sandbox->container, &oom))
		oom = false;
	*ret_status = json_pack(
		"{s:o, s:o, s:b}", "exitCode",
		info.si_code == CLD_EXITED ? json_integer(info.si_status) : json_null(), "signal",
		info.si_code == CLD_EXITED ? json_null() : json_integer(info.si_status),
		"oomKilled", oom);
	return *ret_status ? 0 : -ENOMEM;
}
