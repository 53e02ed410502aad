// SPDX-License-Identifier: Apache-2.0
/* One fetch from its beginning to its end: the container and what it is given. */
#include "tools/download/fetch.h"

#include "base/cleanup.h"
#include "tools/self.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

/* What npm needs whatever the sandbox of the package gets. */
#define MEMORY_MIN_BYTES (512ULL << 20)
#define CPUS_MIN_MILLI	 2000
#define PIDS_MIN	 64
#define TMPFS_BYTES	 (64ULL << 20)

#define BINDS_MAX 5

static int environment_make(struct fetch *fetch)
{
	const struct {
		const char *name, *value;
	} own[] = {
		{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		{"HOME", fetch->persona->home},
		{"USER", fetch->persona->user},
		{"LANG", "C.UTF-8"},
	};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(own) / sizeof(*own); i++)
		r = npm_settings_setenv(&fetch->settings, own[i].name, own[i].value);
	return r;
}

static int container_create(struct fetch *fetch, const char *task_id, const char *runtime,
			    struct qp_error *err)
{
	_cleanup_free_ char *conf = NULL, *work = NULL;
	char blocks[32];
	/* No file may be bigger than all may be together: dash counts in 512 bytes. */
	const char *const argv[] = {"/bin/sh",
				    "-c",
				    "ulimit -f \"$0\" && exec \"$@\"",
				    blocks,
				    fetch->npm.node,
				    INSIDE_APP "/fetch.js",
				    INSIDE_WORK "/job.json",
				    NULL};
	struct sandbox_bind binds[BINDS_MAX];
	struct sandbox_config config = {
		.task_id = task_id,
		.role = "download",
		.runtime = runtime,
		.limits = &fetch->container_limits,
		.persona = fetch->persona,
		.home_bytes = TMPFS_BYTES,
		.tmp_bytes = TMPFS_BYTES,
		.netns_fd = -1,
		.binds = binds,
		.argv = argv,
		.envp = (const char *const *)fetch->settings.env,
		.control_fd = -1,
	};

	if (asprintf(&conf, "%s/" PRIVATE_CONF, fetch->out_dir) < 0) {
		conf = NULL;
		return -ENOMEM;
	}
	if (asprintf(&work, "%s/" PRIVATE_WORK, fetch->out_dir) < 0) {
		work = NULL;
		return -ENOMEM;
	}
	snprintf(blocks, sizeof(blocks), "%llu",
		 (unsigned long long)((fetch->limits->download_max_bytes + FETCH_METADATA_MAX) /
				      512));
	binds[config.binds_cnt++] = (struct sandbox_bind){fetch->stage, INSIDE_APP, false};
	binds[config.binds_cnt++] = (struct sandbox_bind){conf, INSIDE_CONF, false};
	binds[config.binds_cnt++] = (struct sandbox_bind){work, INSIDE_WORK, true};
	binds[config.binds_cnt++] = (struct sandbox_bind){fetch->out_dir, INSIDE_OUT, true};
	if (fetch_is_folder(fetch))
		binds[config.binds_cnt++] =
			(struct sandbox_bind){fetch->spec->path, INSIDE_SRC, false};
	return sandbox_create(&config, &fetch->watch.sandbox, err);
}

/* Runs the container to its end; what is said of it is read back while it is there. */
static int container_run(struct fetch *fetch, const char *task_id, const char *runtime,
			 struct qp_error *err)
{
	int r = container_create(fetch, task_id, runtime, err);

	if (r)
		return r;
	fetch->container = strdup(sandbox_container(fetch->watch.sandbox));
	r = fetch->container ? sandbox_hardening(fetch->watch.sandbox, &fetch->hardening, err)
			     : -ENOMEM;
	if (!r)
		r = fetch_watch_run(&fetch->watch, err);
	if (!r)
		r = sandbox_exit_status(fetch->watch.sandbox, &fetch->status);
	sandbox_destroy(steal_ptr(fetch->watch.sandbox), NULL);
	return r;
}

/* Files in memory count as the container's. */
static void memory_for_files(struct fetch *fetch)
{
	struct statfs st;

	if (!fstatfs(fetch->out_fd, &st) && st.f_type == TMPFS_MAGIC)
		fetch->container_limits.memory_bytes += download_bytes(fetch->limits);
}

static void fetch_clear(struct fetch *fetch)
{
	npm_settings_clear(&fetch->settings);
	host_npm_clear(&fetch->npm);
	free(fetch->stage);
	free(fetch->container);
	json_decref(fetch->hardening);
	json_decref(fetch->status);
	free(fetch);
}

static uint64_t at_least(uint64_t value, uint64_t min)
{
	return value > min ? value : min;
}

int download_run(const struct spec *spec, const char *task_id, const char *runtime,
		 const struct limits *limits, const struct persona *persona, const char *out_dir,
		 int cancel_fd, struct download *ret_download, struct qp_error *err)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));
	struct download download = {0};
	int r, removed;

	if (!fetch)
		return -ENOMEM;
	*fetch = (struct fetch){.spec = spec,
				.persona = persona,
				.limits = limits,
				.container_limits = *limits,
				.out_dir = out_dir,
				.out_fd = -1};
	fetch->container_limits.memory_bytes = at_least(limits->memory_bytes, MEMORY_MIN_BYTES);
	fetch->container_limits.cpus_milli = at_least(limits->cpus_milli, CPUS_MIN_MILLI);
	fetch->container_limits.pids = at_least(limits->pids, PIDS_MIN);
	r = host_npm_find(&fetch->npm, err);
	if (!r)
		r = self_file("stage", &fetch->stage, err);
	if (!r)
		r = workspace_prepare(fetch, err);
	if (!r)
		r = environment_make(fetch);
	if (!r) {
		memory_for_files(fetch);
		fetch->watch.cancel_fd = cancel_fd;
		fetch->watch.out_fd = fetch->out_fd;
		fetch->watch.private = PRIVATE;
		fetch->watch.limits = limits;
		r = container_run(fetch, task_id, runtime, err);
	}
	if (!r)
		r = result_take(fetch, &download, err);
	removed = workspace_remove(fetch, err);
	r = r ? r : removed;
	fetch_clear(fetch);
	if (r) {
		download_clear(&download);
		return qp_error_set(err, r, "cannot fetch %s: %s", spec->requested, strerror(-r));
	}
	*ret_download = download;
	return 0;
}

void download_clear(struct download *download)
{
	json_decref(download->report);
	json_decref(download->packages);
	*download = (struct download){0};
}
