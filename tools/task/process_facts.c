// SPDX-License-Identifier: Apache-2.0
/* Reading /proc/PID/status. */
#include "tools/task/process_facts.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/capability.h>

#define STATUS_BYTES_MAX 65536

/* The value of a line "Name:\tvalue", or "". It points into @status. */
static const char *status_value(const char *status, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return "";
}

/* Capabilities by name, as runtimes list them; null for none. */
static json_t *capabilities_json(uint64_t set)
{
	json_t *list = set ? json_array() : json_null();

	for (int i = 0; set && i < 64; i++) {
		char *name;

		if (!(set >> i & 1) || !(name = cap_to_name(i)))
			continue;
		for (char *p = name; *p; p++)
			*p = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
		json_array_append_new(list, json_string(name));
		cap_free(name);
	}
	return list;
}

static bool same_namespace(pid_t pid, const char *kind)
{
	char path[64], ours[64] = "", theirs[64] = "";

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (readlink(path, ours, sizeof(ours) - 1) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, kind);
	return readlink(path, theirs, sizeof(theirs) - 1) >= 0 && !strcmp(ours, theirs);
}

json_t *process_hardening(pid_t pid)
{
	_cleanup_free_ char *status = NULL;
	char path[64];
	unsigned uid, gid;
	uint64_t effective;
	bool no_new_privileges;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (read_file_at(AT_FDCWD, path, STATUS_BYTES_MAX, &status, &len))
		return NULL;
	/* Real, effective, saved and file-system ids: the second one counts. */
	if (sscanf(status_value(status, "Uid"), "%*u %u", &uid) != 1 ||
	    sscanf(status_value(status, "Gid"), "%*u %u", &gid) != 1 ||
	    sscanf(status_value(status, "CapEff"), "%" SCNx64, &effective) != 1)
		return NULL;
	no_new_privileges = *status_value(status, "NoNewPrivs") == '1';
	return json_pack("{s:n, s:n, s:n, s:n, s:o, s:n, s:b, s:o, s:o, s:o, s:n, s:n, s:n, s:n, "
			 "s:n, s:n, s:[], s:s, s:s, s:n, s:s, s:n, s:i}",
			 "container", "id", "image", "imageId", "User",
			 json_sprintf("%u:%u", uid, gid), "ReadonlyRootfs", "Privileged",
			 (int)(effective == UINT64_C(0x1ffffffffff)), "CapDrop",
			 effective ? json_null() : json_pack("[s]", "ALL"), "CapAdd",
			 capabilities_json(effective), "SecurityOpt",
			 no_new_privileges ? json_pack("[s]", "no-new-privileges") : json_null(),
			 "PidsLimit", "Memory", "MemorySwap", "NanoCpus", "Tmpfs", "Binds",
			 "Mounts", "NetworkMode", same_namespace(pid, "net") ? "host" : "private",
			 "PidMode", same_namespace(pid, "pid") ? "host" : "private", "IpcMode",
			 "UsernsMode", same_namespace(pid, "user") ? "host" : "private",
			 "AutoRemove", "Seccomp", *status_value(status, "Seccomp") - '0');
}
