// SPDX-License-Identifier: Apache-2.0
/* The OCI runtime configuration (opencontainers/runtime-spec 1.0.2) of a container. */
#include "tools/sandbox/internal.h"

#include "tools/sandbox/seccomp.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOFILE_SOFT   1024
#define NOFILE_HARD   4096
#define CPU_PERIOD_US 100000
#define OOM_SCORE_ADJ 500 /* goes before anything of the host's */
#define PATH_SIZE     512

static json_t *strings(const char *const *list)
{
	json_t *array = json_array();

	for (; list && *list; list++)
		json_array_append_new(array, json_string(*list));
	return array;
}

static json_t *process_make(const struct sandbox_config *config)
{
	return json_pack("{s:b, s:{s:i, s:i, s:i}, s:o, s:o, s:s, s:{s:[], s:[], s:[], s:[], "
			 "s:[]}, s:b, s:i, "
			 "s:[{s:s, s:i, s:i}, {s:s, s:i, s:i}]}",
			 "terminal", 0, "user", "uid", (int)config->persona->uid, "gid",
			 (int)config->persona->gid, "umask", 022, "args", strings(config->argv),
			 "env", strings(config->envp), "cwd", "/", "capabilities", "bounding",
			 "effective", "inheritable", "permitted", "ambient", "noNewPrivileges", 1,
			 "oomScoreAdj", OOM_SCORE_ADJ, "rlimits", "type", "RLIMIT_NOFILE", "soft",
			 NOFILE_SOFT, "hard", NOFILE_HARD, "type", "RLIMIT_CORE", "soft", 0, "hard",
			 0);
}

/* What the kernel itself offers; all else is mounted already when the runtime begins. */
static json_t *mounts_make(void)
{
	static const struct {
		const char *path, *type, *options[8];
	} mounts[] = {
		{"/proc", "proc", {"nosuid", "noexec", "nodev"}},
		{"/dev", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{"/dev/pts",
		 "devpts",
		 {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		{"/dev/shm", "tmpfs", {"nosuid", "noexec", "nodev", "mode=1777", "size=16384k"}},
		{"/dev/mqueue", "mqueue", {"nosuid", "noexec", "nodev"}},
		{"/sys", "sysfs", {"nosuid", "noexec", "nodev", "ro"}},
		{"/sys/fs/cgroup", "cgroup", {"nosuid", "noexec", "nodev", "relatime", "ro"}},
	};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "destination",
						      mounts[i].path, "type", mounts[i].type,
						      "source", mounts[i].type, "options",
						      strings(mounts[i].options)));
	return list;
}

static json_t *namespaces_make(const struct sandbox_config *config)
{
	static const char *const types[] = {"pid", "ipc", "uts", "mount", "cgroup"};
	json_t *list = json_array();
	char path[64];

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		json_array_append_new(list, json_pack("{s:s}", "type", types[i]));
	if (config->netns_fd >= 0) {
		/* Named by this process's descriptor, which stays open while the runtime joins. */
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), config->netns_fd);
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "type", "network", "path", path));
	}
	return list;
}

static json_t *resources_make(const struct sandbox *sandbox)
{
	json_t *memory = json_pack("{s:I}", "limit", (json_int_t)sandbox->memory_bytes);

	/* The limit of memory and swap together, so that there is no swap. */
	if (sandbox->has_swap_limit)
		json_object_set_new(memory, "swap",
				    json_integer((json_int_t)sandbox->memory_bytes));
	return json_pack(
		"{s:[{s:b, s:s}], s:{s:I}, s:o, s:{s:I, s:i}}", "devices", "allow", 0, "access",
		"rwm", "pids", "limit", (json_int_t)sandbox->pids, "memory", memory, "cpu", "quota",
		(json_int_t)(sandbox->cpus_milli * CPU_PERIOD_US / 1000), "period", CPU_PERIOD_US);
}

/* Parts of /proc and /sys that tell of, or reach, the whole machine; and with a network of
 * its own, what npm and git keep of the host's tokens below /usr. */
static json_t *masked_make(bool host_network)
{
	static const char *const kernel[] = {
		"/proc/acpi",
		"/proc/asound",
		"/proc/kcore",
		"/proc/keys",
		"/proc/latency_stats",
		"/proc/timer_list",
		"/proc/timer_stats",
		"/proc/sched_debug",
		"/proc/scsi",
		"/proc/interrupts",
		"/sys/firmware",
		"/sys/devices/virtual/powercap",
		"/sys/fs/bpf",
		"/sys/kernel/debug",
		"/sys/kernel/tracing",
		"/sys/kernel/security",
		NULL,
	};
	static const char *const tokens[] = {
		"/usr/etc",
		"/usr/local/etc",
		"/usr/lib/node_modules/npm/npmrc",
		"/usr/local/lib/node_modules/npm/npmrc",
		"/usr/share/nodejs/npm/npmrc",
		"/usr/share/npm/npmrc",
		NULL,
	};
	json_t *list = strings(kernel), *more = strings(tokens);

	if (!host_network)
		json_array_extend(list, more);
	json_decref(more);
	return list;
}

static json_t *readonly_make(void)
{
	static const char *const paths[] = {
		"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL};

	return strings(paths);
}

json_t *spec_make(const struct sandbox *sandbox, const struct sandbox_config *config)
{
	json_t *seccomp = seccomp_profile();
	char group[CONTAINER_SIZE + 1];

	if (!seccomp)
		return NULL;
	snprintf(group, sizeof(group), "/%s", sandbox->container);
	return json_pack("{s:s, s:s, s:{s:s, s:b}, s:o, s:o, s:{s:s, s:o, s:o, s:o, s:o, s:o}}",
			 "ociVersion", "1.0.2", "hostname", config->persona->host, "root", "path",
			 "rootfs", "readonly", 1, "process", process_make(config), "mounts",
			 mounts_make(), "linux", "cgroupsPath", group, "namespaces",
			 namespaces_make(config), "resources", resources_make(sandbox), "seccomp",
			 seccomp, "maskedPaths", masked_make(sandbox->host_network),
			 "readonlyPaths", readonly_make());
}
