// SPDX-License-Identifier: Apache-2.0
/* Reading /proc of PID 1 and the files of its control groups. */
#include "tools/sandbox/readback.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/number.h"
#include "tools/sandbox/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define STATUS_BYTES_MAX 65536

const char *const namespace_names[NS_CNT] = {"mnt", "pid", "ipc", "uts", "cgroup", "net", "user"};

static int ids_parse(const char *text, uint32_t ids[static 4])
{
	return sscanf(text, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4 ? 0 : -EBADMSG;
}

static unsigned int words_count(const char *text)
{
	unsigned int cnt = 0;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		cnt++;
		text += strcspn(text, " \t");
	}
	return cnt;
}

/* The value of "Name:\tvalue" of the status file, until its newline. */
static char *status_value(const char *status, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = status; line;
	     line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		if (!strncmp(line, name, len) && line[len] == ':') {
			const char *value = line + len + 1;

			value += strspn(value, " \t");
			return strndup(value, strcspn(value, "\n"));
		}
	}
	return NULL;
}

static int flag_read(const char *status, const char *name, unsigned int *ret_flag)
{
	_cleanup_free_ char *text = status_value(status, name);
	uint64_t value;

	if (!text || number_parse(text, 0, 2, &value))
		return -EBADMSG;
	*ret_flag = (unsigned int)value;
	return 0;
}

static int status_read(pid_t tgid, struct readback *readback)
{
	static const char *const sets[CAPS_CNT] = {"CapInh", "CapPrm", "CapEff", "CapBnd",
						   "CapAmb"};
	_cleanup_free_ char *status = NULL, *uids = NULL, *gids = NULL, *groups = NULL;
	char path[64];
	size_t len;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tgid);
	r = read_file_at(AT_FDCWD, path, STATUS_BYTES_MAX, &status, &len);
	if (r)
		return r == -ENOENT ? -ESRCH : r;
	uids = status_value(status, "Uid");
	gids = status_value(status, "Gid");
	groups = status_value(status, "Groups");
	if (!uids || !gids || !groups || ids_parse(uids, readback->uids) ||
	    ids_parse(gids, readback->gids))
		return -EBADMSG;
	readback->groups_cnt = words_count(groups);
	for (int i = 0; i < CAPS_CNT; i++) {
		_cleanup_free_ char *text = status_value(status, sets[i]);
		char *end;

		if (!text || !*text)
			return -EBADMSG;
		readback->caps[i] = strtoull(text, &end, 16);
		if (*end)
			return -EBADMSG;
	}
	r = flag_read(status, "NoNewPrivs", &readback->no_new_privs);
	return r ? r : flag_read(status, "Seccomp", &readback->seccomp);
}

static int namespaces_read(pid_t tgid, struct readback *readback)
{
	for (int i = 0; i < NS_CNT; i++) {
		char path[64];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/self/ns/%s", namespace_names[i]);
		if (stat(path, &st) < 0)
			return -errno;
		readback->own_ns[i] = st.st_ino;
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)tgid, namespace_names[i]);
		if (stat(path, &st) < 0)
			return errno == ENOENT ? -ESRCH : -errno;
		readback->ns[i] = st.st_ino;
	}
	return 0;
}

static uint32_t option_number(const char *options, const char *name, int base)
{
	const char *value = mount_option(options, name);

	return value ? (uint32_t)strtoul(value, NULL, base) : 0;
}

/* The kernel writes sizes in units of 1024 bytes: "size=65536k". */
static uint64_t option_bytes(const char *options, const char *name)
{
	const char *value = mount_option(options, name);
	char *end;
	uint64_t number;

	if (!value)
		return UINT64_MAX;
	number = strtoull(value, &end, 10);
	return *end == 'k' ? number << 10 : *end == 'm' ? number << 20 : number;
}

static void tmpfs_take(const struct mount_entry *entry, struct readback_tmpfs *tmpfs)
{
	*tmpfs = (struct readback_tmpfs){
		.found = !strcmp(entry->type, "tmpfs"),
		.bytes = option_bytes(entry->super_options, "size"),
		.nosuid = mount_option(entry->options, "nosuid"),
		.nodev = mount_option(entry->options, "nodev"),
		.noexec = mount_option(entry->options, "noexec"),
		.readonly = mount_option(entry->options, "ro"),
		.uid = option_number(entry->super_options, "uid", 10),
		.gid = option_number(entry->super_options, "gid", 10),
	};
	snprintf(tmpfs->options, sizeof(tmpfs->options),
		 "%s,%s%s%s,size=%llu,uid=%u,gid=%u,mode=%04o", tmpfs->readonly ? "ro" : "rw",
		 tmpfs->noexec ? "noexec" : "exec", tmpfs->nosuid ? ",nosuid" : "",
		 tmpfs->nodev ? ",nodev" : "", (unsigned long long)tmpfs->bytes, tmpfs->uid,
		 tmpfs->gid, option_number(entry->super_options, "mode", 8));
}

struct mounts_reader {
	const struct sandbox *sandbox;
	struct readback *readback;
};

/* A later mount on the same place hides an earlier one, so the last one counts. */
static int mount_take(const struct mount_entry *entry, void *context)
{
	struct mounts_reader *reader = context;
	const struct sandbox *sandbox = reader->sandbox;
	struct readback *readback = reader->readback;

	if (!strcmp(entry->path, "/")) {
		readback->root_found = true;
		readback->root_readonly = mount_option(entry->options, "ro");
	}
	for (size_t i = 0; i < TMPFS_CNT; i++) {
		if (sandbox->tmpfs[i].bytes && !strcmp(entry->path, sandbox->tmpfs[i].path))
			tmpfs_take(entry, &readback->tmpfs[i]);
	}
	for (size_t i = 0; i < sandbox->binds_cnt; i++) {
		if (!strcmp(entry->path, sandbox->binds[i].destination))
			readback->binds[i] = (struct readback_bind){
				.found = true,
				.writable = !mount_option(entry->options, "ro"),
			};
	}
	return 0;
}

static int mounts_read(const struct sandbox *sandbox, struct readback *readback)
{
	struct mounts_reader reader = {.sandbox = sandbox, .readback = readback};
	char path[64];
	int r;

	readback->binds = calloc(sandbox->binds_cnt + 1, sizeof(*readback->binds));
	if (!readback->binds)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)sandbox->init_tgid);
	r = mountinfo_each(path, mount_take, &reader);
	/* A copied file is no mount: it is as writable as the root. */
	for (size_t i = 0; i < sandbox->binds_cnt; i++) {
		if (!readback->binds[i].found)
			readback->binds[i].writable = !readback->root_readonly;
	}
	return r == -ENOENT ? -ESRCH : r;
}

static int limits_read(const struct sandbox *sandbox, struct readback *readback)
{
	const struct cgroups *cgroups = &sandbox->cgroups;
	uint64_t swap;
	int r = cgroup_limit(cgroups, sandbox->container, &cgroup_pids, &readback->pids);

	if (!r)
		r = cgroup_limit(cgroups, sandbox->container, &cgroup_memory,
				 &readback->memory_bytes);
	if (!r)
		r = cgroup_cpus_milli(cgroups, sandbox->container, &readback->cpus_milli);
	if (r)
		return r;
	r = cgroup_limit(cgroups, sandbox->container, &cgroup_memory_swap, &swap);
	if (r)
		return r == -ENOENT ? 0 : r;
	readback->has_memory_swap = true;
	/* Version 2 limits swap alone, version 1 both together. */
	if (cgroups_controller(cgroups, "memory")->v2 && swap != UINT64_MAX)
		swap += readback->memory_bytes;
	readback->memory_swap_bytes = swap;
	return 0;
}

int readback_read(const struct sandbox *sandbox, struct readback *ret_readback,
		  struct qp_error *err)
{
	struct pollfd ended = {.fd = sandbox->init_pidfd, .events = POLLIN};
	int r;

	*ret_readback = (struct readback){.pids = UINT64_MAX};
	r = status_read(sandbox->init_tgid, ret_readback);
	if (!r)
		r = namespaces_read(sandbox->init_tgid, ret_readback);
	if (!r)
		r = mounts_read(sandbox, ret_readback);
	if (!r)
		r = limits_read(sandbox, ret_readback);
	/* Asked last: if PID 1 lives now, what was read above under its number was its own. */
	if (!r && poll(&ended, 1, 0) != 0)
		r = -ESRCH;
	if (r)
		return qp_error_set(err, r, "cannot read back how the container is confined: %s",
				    r == -ESRCH ? "its first process has ended" : strerror(-r));
	return 0;
}

void readback_clear(struct readback *readback)
{
	free(readback->binds);
	readback->binds = NULL;
}
