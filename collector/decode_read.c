// SPDX-License-Identifier: Apache-2.0
/* Reads that matter: of credentials, and of what would tell that one is watched. */
#include "collector/decode_state.h"

#include <string.h>
#include <sys/stat.h>

/* Where credentials are; decoys are known by their own paths. */
static const char *const sensitive[] = {
	"*/.ssh/*",
	"*/.aws/*",
	"*/.azure/*",
	"*/.oci/*",
	"*/.terraform.d/*",
	"*/.terraformrc",
	"*/.config/hub",
	"*/.config/glab-cli/*",
	"*/.config/heroku/*",
	"*/.config/doctl/*",
	"*/.config/op/*",
	"*/.password-store/*",
	"*/.my.cnf",
	"*/.s3cfg",
	"*/.boto",
	"*/.config/gcloud/*",
	"*/.config/gh/*",
	"*/.docker/config.json",
	"*/.kube/config",
	"*/.gnupg/*",
	"*/.npmrc",
	"*/.yarnrc",
	"*/.yarnrc.yml",
	"*/.config/pip/pip.conf",
	"*/.pypirc",
	"*/.netrc",
	"*/.git-credentials",
	"*/.config/git/credentials",
	"*/.pgpass",
	"*/.bash_history",
	"*/.zsh_history",
	"*/.node_repl_history",
	"*/.cargo/credentials*",
	"*/.gem/credentials",
	"*/.vault-token",
	"*/.local/share/keyrings/*",
	"*/.mozilla/firefox/*",
	"*/.config/google-chrome/*",
	"*/.config/solana/*",
	"*/.electrum/wallets/*",
	"/etc/shadow",
	"/etc/gshadow",
	"/etc/sudoers*",
	"/etc/ssh/ssh_host_*",
	"/run/secrets/*",
	"/var/run/secrets/*",
	"/run/docker.sock",
	"/var/run/docker.sock",
};

static const char *const probes[] = {
	"/.dockerenv",	       "/run/.containerenv",
	"/proc/1/cgroup",      "/proc/1/sched",
	"/proc/1/cmdline",     "/proc/1/comm",
	"/proc/1/status",      "/proc/1/mountinfo",
	"/sys/class/dmi/id/*", "/sys/devices/virtual/dmi/id/*",
	"/sys/hypervisor/*",
};

/* Of a process's own folder in /proc: what a runtime's start does not read. */
static const char *const own_probes[] = {"status", "mountinfo", "mounts", "wchan", "syscall"};

static bool matches_any(const char *const *patterns, size_t cnt, const char *path)
{
	for (size_t i = 0; i < cnt; i++)
		if (text_matches(patterns[i], path))
			return true;
	return false;
}

#define MATCHES_ANY(table, path) matches_any(table, sizeof(table) / sizeof((table)[0]), path)

static bool is_sensitive(const struct decoder *d, const struct process *process, const char *path)
{
	const char *rest;
	long pid;

	for (size_t i = 0; i < d->decoys_cnt; i++)
		if (!strcmp(d->decoys[i], path))
			return true;
	if (path_of_process(path, &pid, &rest)) {
		if (!strcmp(rest, "environ") || text_matches("task/*/environ", rest))
			return true;
		return !strcmp(rest, "mem") && pid != process->ns_pid;
	}
	/* What lies in the package's own folders was shipped or made by it. */
	if (in_areas(d, path) && !(d->home && path_is_below(path, d->home)))
		return false;
	return MATCHES_ANY(sensitive, path);
}

static bool is_probe(const struct process *process, const char *path)
{
	const char *rest;
	long pid;

	if (MATCHES_ANY(probes, path))
		return true;
	if (!path_of_process(path, &pid, &rest) || pid != process->ns_pid)
		return false;
	if (!strncmp(rest, "task/", 5) && strchr(rest + 5, '/'))
		rest = strchr(rest + 5, '/') + 1;
	return MATCHES_ANY(own_probes, rest);
}

int decode_read(struct decoder *d, const struct step *step, const struct place *place)
{
	enum observation_kind kind;

	if (step->process->actor != ACTOR_PACKAGE || place->nameless)
		return 0;
	/* A folder's list is no secret yet. */
	if (is_sensitive(d, step->process, place->text) && !S_ISDIR(place->path.mode))
		kind = OBSERVATION_FILE_READ;
	else if (is_probe(step->process, place->text))
		kind = OBSERVATION_ENV_PROBE;
	else
		return 0;
	return file_observe(d, step, kind, place, NULL);
}
