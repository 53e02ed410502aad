// SPDX-License-Identifier: Apache-2.0
/* The observed sandbox: made, watched until it ends, its last words collected. */
#include "tools/task/task.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "tools/derive.h"
#include "tools/sandbox/control.h"
#include "tools/self.h"
#include "tools/task/decoy_watch.h"
#include "tools/task/folder.h"
#include "tools/task/loop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define ENV_MAX	      16
#define ENV_TEXT_SIZE 128

/* What every process inside starts with: an ordinary login's environment. */
struct environment {
	char text[ENV_MAX][ENV_TEXT_SIZE];
	const char *list[ENV_MAX + 1];
	size_t cnt;
};

static void environment_add(struct environment *env, const char *name, const char *value)
{
	snprintf(env->text[env->cnt], ENV_TEXT_SIZE, "%s=%s", name, value);
	env->list[env->cnt] = env->text[env->cnt];
	env->list[++env->cnt] = NULL;
}

static void environment_make(struct environment *env, const struct persona *persona)
{
	*env = (struct environment){0};
	environment_add(env, "PATH",
			"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	environment_add(env, "HOME", persona->home);
	environment_add(env, "USER", persona->user);
	environment_add(env, "LOGNAME", persona->user);
	environment_add(env, "SHELL", "/bin/bash");
	environment_add(env, "LANG", "C.UTF-8");
	environment_add(env, "TERM", "xterm-256color");
}

static int container_create(struct task *task, const struct environment *env, int control_fd,
			    const struct sandbox_trust *trust, struct qp_error *err)
{
	static const char *const argv[] = {"/init", NULL};
	_cleanup_free_ char *init = NULL, *stage = NULL;
	const struct task_options *options = task->options;
	const char *in = options->spec || options->in ? task->temp : NULL;
	struct sandbox_bind binds[3];
	struct sandbox_config config = {
		.task_id = task->id,
		.role = "sandbox",
		.runtime = task->runtime,
		.rootfs = options->rootfs,
		.limits = &options->limits,
		.persona = &task->persona,
		.home_bytes = options->limits.tmpfs_home_bytes,
		.tmp_bytes = options->limits.tmpfs_tmp_bytes,
		.work_bytes = options->limits.tmpfs_work_bytes,
		.netns_fd = task->netns_fd,
		.decoys = true,
		.without_node = options->command != NULL,
		.binds = binds,
		.argv = argv,
		.envp = env->list,
		.control_fd = control_fd,
		.trust = trust->pem ? trust : NULL,
	};
	int r;

	r = self_file("qp-init", &init, err);
	if (!r)
		r = self_file("stage", &stage, err);
	if (r)
		return r;
	binds[config.binds_cnt++] = (struct sandbox_bind){init, "/init", false};
	binds[config.binds_cnt++] = (struct sandbox_bind){stage, "/opt/app", false};
	if (in)
		binds[config.binds_cnt++] = (struct sandbox_bind){in, "/in", false};
	return sandbox_create(&config, &task->sandbox, err);
}

static int sinkhole_begin(struct task *task, struct qp_error *err)
{
	const struct sinkhole_config config = {
		.netns_fd = task->netns_fd,
		.persona = &task->persona,
		.decoys = sandbox_decoy_values(task->sandbox),
		.authority = task->authority,
	};

	return sinkhole_start(&config, &task->sinkhole, err);
}

int task_collector_wait(struct task *task, struct qp_error *err)
{
	struct loader *loader = steal_ptr(task->loader);
	int r;

	if (!loader)
		return 0;
	r = loader_finish_take(loader, &task->collector, err);
	return r ? r : task_record_preamble(task);
}

/* All that must stand before the first program inside begins. */
static int observation_prepare(struct task *task, const struct environment *env,
			       uint64_t *ret_cgroup_id, struct qp_error *err)
{
	__attribute__((cleanup(task_tls_clear))) struct sandbox_trust trust = {0};
	_cleanup_close_ int theirs = -1;
	int r;

	r = task->options->in ? folder_take_in(task, err) : 0;
	if (!r)
		r = netns_create(&task->netns_fd, err);
	if (!r && control_pair(&task->control_fd, &theirs))
		r = qp_error_set(err, -errno, "socketpair: %s", strerror(errno));
	if (!r)
		r = task_tls_prepare(task, &trust, err);
	if (!r)
		r = container_create(task, env, theirs, &trust, err);
	/* Nothing runs in the container yet; what it holds is known now. */
	if (!r)
		r = sinkhole_begin(task, err);
	if (!r)
		r = task_tls_finish(task, &trust, env->list);
	if (!r)
		r = task_collector_wait(task, err);
	if (!r)
		r = decoy_watch_begin(task, err);
	if (!r)
		r = collector_set_root(task->collector, sandbox_root_fd(task->sandbox));
	if (!r)
		r = collector_track(task->collector, sandbox_cgroup_fd(task->sandbox),
				    ret_cgroup_id, err);
	if (!r)
		r = collector_watch_env(task->collector, sandbox_root_fd(task->sandbox),
					&task->env_libraries, err);
	return r;
}

/* What is left to say once nothing runs any more. */
static int observation_end(struct task *task, uint64_t begun_ns)
{
	uint64_t sandbox_ns = clock_boot_ns() - begun_ns;
	_cleanup_json_ json_t *status = NULL, *limits = NULL, *sinkhole = NULL;
	struct qp_error err = {0};
	int r;

	sandbox_exit_status(task->sandbox, &status);
	if (!sandbox_limits_hit(task->sandbox, &limits))
		limits_merge(task->limits_hit, limits);
	if (json_is_true(json_object_get(status, "oomKilled")) && !strcmp(task->ended_by, "exit"))
		task->ended_by = "memory";
	else if (json_is_integer(json_object_get(status, "signal")) &&
		 !strcmp(task->ended_by, "exit"))
		task->ended_by = "signal";
	sandbox_kill(task->sandbox);
	r = collector_drain(task->collector, task->log);
	if (r)
		return r;
	r = sinkhole_stop(task->sinkhole, task->log);
	if (r) {
		qp_error_set(&err, r, "the sinkhole did not flush: %s", strerror(-r));
		r = task_record_error(task, "sinkhole", &err);
	}
	sinkhole = sinkhole_end(task->sinkhole);
	if (!r)
		r = log_writer_append_json(task->log, LOG_RECORD_SINKHOLE_END, sinkhole);
	return r ? r : task_record_end(task, status, sandbox_ns);
}

int task_observe(struct task *task, int *ret_exit, struct qp_error *err)
{
	struct environment env;
	uint64_t cgroup_id, begun_ns;
	int r;

	environment_make(&env, &task->persona);
	progress_begin(&task->progress, "sandbox");
	r = observation_prepare(task, &env, &cgroup_id, err);
	if (r) {
		progress_end(&task->progress, "failed");
		*ret_exit = EXIT_HOST;
		return r;
	}
	begun_ns = clock_boot_ns();
	r = loop_run(task, cgroup_id, err);
	if (!r)
		r = observation_end(task, begun_ns);
	if (r) {
		*ret_exit = EXIT_OTHER;
		return qp_error_set(err, r, "cannot write the evidence log %s: %s%s",
				    task->log_path, strerror(-r),
				    r == -ENOSPC ? " (free some space, or name another folder with "
						   "--out)"
						 : "");
	}
	return 0;
}
