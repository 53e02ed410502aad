// SPDX-License-Identifier: Apache-2.0
/* The receipt's `hardening` object, and whether it is as strong as was asked for. */
#include "base/cleanup.h"
#include "tools/sandbox/readback.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

DEFINE_CLEANUP(readbackp, struct readback *, readback_clear);

/* Names of the capabilities in @set; null when there is none. */
static json_t *capability_names(uint64_t set)
{
	json_t *names = json_array();

	for (cap_value_t cap = 0; cap < 64; cap++) {
		char *name;

		if (!(set >> cap & 1))
			continue;
		name = cap_to_name(cap);
		for (char *p = name; p && *p; p++)
			*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
		json_array_append_new(names,
				      name ? json_string(name) : json_sprintf("CAP_%d", (int)cap));
		cap_free(name);
	}
	if (json_array_size(names))
		return names;
	json_decref(names);
	return json_null();
}

static uint64_t capabilities_held(const struct readback *readback)
{
	uint64_t held = 0;

	for (int i = 0; i < CAPS_CNT; i++)
		held |= readback->caps[i];
	return held;
}

/* "ALL", or those of the kernel's that are in none of the sets. */
static json_t *capabilities_dropped(uint64_t held)
{
	uint64_t all = 0;

	if (!held)
		return json_pack("[s]", "ALL");
	for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
		all |= UINT64_C(1) << cap;
	return capability_names(all & ~held);
}

static json_t *number_or_null(uint64_t value)
{
	return value == UINT64_MAX ? json_null() : json_integer((json_int_t)value);
}

static json_t *tmpfs_json(const struct sandbox *sandbox, const struct readback *readback)
{
	json_t *object = json_object();

	for (size_t i = 0; i < TMPFS_CNT; i++) {
		if (readback->tmpfs[i].found)
			json_object_set_new(object, sandbox->tmpfs[i].path,
					    json_string(readback->tmpfs[i].options));
	}
	return object;
}

static void binds_json(const struct sandbox *sandbox, const struct readback *readback,
		       json_t *object)
{
	json_t *binds = json_array(), *mounts = json_array();

	for (size_t i = 0; i < sandbox->binds_cnt; i++) {
		const struct sandbox_source *bind = &sandbox->binds[i];
		bool writable = readback->binds[i].writable;

		json_array_append_new(binds,
				      json_sprintf("%s:%s:%s", bind->source, bind->destination,
						   writable ? "rw" : "ro"));
		json_array_append_new(mounts, json_pack("{s:s, s:s, s:s, s:b}", "Type",
							readback->binds[i].found ? "bind" : "copy",
							"Source", bind->source, "Destination",
							bind->destination, "RW", writable));
	}
	json_object_set_new(object, "Binds", binds);
	json_object_set_new(object, "Mounts", mounts);
}

/* Docker's words: "" or "private" for one of its own, "host" for the caller's. */
static void namespaces_json(const struct readback *readback, json_t *object)
{
	bool own[NS_CNT];

	for (int i = 0; i < NS_CNT; i++)
		own[i] = readback->ns[i] != readback->own_ns[i];
	json_object_set_new(
		object, "NetworkMode",
		own[NS_NET] ? json_sprintf("netns:%llu", (unsigned long long)readback->ns[NS_NET])
			    : json_string("host"));
	json_object_set_new(object, "PidMode", json_string(own[NS_PID] ? "" : "host"));
	json_object_set_new(object, "IpcMode", json_string(own[NS_IPC] ? "private" : "host"));
	json_object_set_new(object, "UTSMode", json_string(own[NS_UTS] ? "" : "host"));
	json_object_set_new(object, "CgroupnsMode",
			    json_string(own[NS_CGROUP] ? "private" : "host"));
	json_object_set_new(object, "UsernsMode", json_string(own[NS_USER] ? "private" : ""));
}

/* What the runtime says of the container: id, status, version of the specification. */
static int state_json(const struct sandbox *sandbox, json_t **ret_state, struct qp_error *err)
{
	char folder[PATH_MAX];
	const char *const args[] = {"--root", folder, "state", sandbox->container, NULL};
	_cleanup_free_ char *text = NULL;
	json_auto_t *state = NULL;
	int r;

	snprintf(folder, sizeof(folder), "%s/" RUNTIME_FOLDER, sandbox->folder);
	r = runtime_call(sandbox->runtime, args, &text, err);
	if (r)
		return r;
	state = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_string(json_object_get(state, "id")))
		return qp_error_set(err, -EBADMSG, "%s state: no JSON with an id",
				    sandbox->runtime);
	*ret_state = json_pack("{s:O, s:O?, s:O?}", "id", json_object_get(state, "id"), "status",
			       json_object_get(state, "status"), "ociVersion",
			       json_object_get(state, "ociVersion"));
	return *ret_state ? 0 : -ENOMEM;
}

static json_t *hardening_json(const struct sandbox *sandbox, const struct readback *readback,
			      const json_t *state)
{
	static const char *const modes[] = {"none", "strict", "filter"};
	uint64_t held = capabilities_held(readback);
	uint64_t cpus = readback->cpus_milli;
	json_t *object = json_pack(
		"{s:s, s:O, s:o, s:n, s:o, s:b, s:b, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, "
		"s:b, "
		"s:O}",
		"container", sandbox->container, "id", json_object_get(state, "id"), "image",
		json_string(sandbox->rootfs ? sandbox->rootfs : "host:/usr"), "imageId", "User",
		json_sprintf("%u:%u", readback->uids[1], readback->gids[1]), "ReadonlyRootfs",
		readback->root_readonly, "Privileged", held && !readback->seccomp, "CapDrop",
		capabilities_dropped(held), "CapAdd", capability_names(held), "SecurityOpt",
		readback->no_new_privs ? json_pack("[s]", "no-new-privileges") : json_array(),
		"Seccomp", modes[readback->seccomp], "PidsLimit", number_or_null(readback->pids),
		"Memory", number_or_null(readback->memory_bytes), "MemorySwap",
		readback->has_memory_swap ? number_or_null(readback->memory_swap_bytes)
					  : json_null(),
		"NanoCpus", number_or_null(cpus == UINT64_MAX ? cpus : cpus * 1000000), "Tmpfs",
		tmpfs_json(sandbox, readback), "AutoRemove", 1, "RuntimeState", state);

	if (!object)
		return NULL;
	binds_json(sandbox, readback, object);
	namespaces_json(readback, object);
	return object;
}

int sandbox_hardening(struct sandbox *sandbox, json_t **ret_hardening, struct qp_error *err)
{
	struct readback readback;
	_cleanup_(readbackp) struct readback *cleared = &readback;
	json_auto_t *state = NULL;
	int r = readback_read(sandbox, &readback, err);

	if (!r)
		r = state_json(sandbox, &state, err);
	if (r)
		return r;
	*ret_hardening = hardening_json(sandbox, cleared, state);
	return *ret_hardening ? 0 : -ENOMEM;
}
