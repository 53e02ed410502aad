// SPDX-License-Identifier: Apache-2.0
/* Run records: members taken from the facts and the receipt, none made up here. */
#include "rules/runrecord.h"

#include "base/cleanup.h"
#include "rules/base64.h"
#include "rules/receipt_parts.h"

#include <errno.h>
#include <string.h>

#define SHA512_BYTES 64

bool integrity_sha512(const char *integrity, char ret_hex[static 129])
{
	static const char prefix[] = "sha512-";
	_cleanup_free_ unsigned char *digest = NULL;
	const char *at = integrity;
	size_t len, digest_len;

	/* Several may stand there, with a space between; options follow a '?'. */
	while (at && strncmp(at, prefix, strlen(prefix)) != 0) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return false;
	at += strlen(prefix);
	len = strcspn(at, " ?");
	if (base64_decode(at, len, &digest, &digest_len) || digest_len != SHA512_BYTES)
		return false;
	hex_encode(digest, SHA512_BYTES, ret_hex);
	return true;
}

static json_t *sent_json(const struct claim_source *source, int *r)
{
	const json_t *preamble = source->facts->preamble;
	const json_t *package = json_object_get(source->receipt, "package");
	json_t *sent = json_object();

	member_set(sent, "mode", member_or_null(preamble, "mode"), r);
	member_set(sent, "requested", member_or_null(package, "requested"), r);
	member_set(sent, "source", member_or_null(package, "source"), r);
	member_set(sent, "name", member_or_null(package, "name"), r);
	member_set(sent, "version", member_or_null(package, "version"), r);
	member_set(sent, "integrity", member_or_null(source->facts->download, "integrity"), r);
	member_set(sent, "command", member_or_null(preamble, "command"), r);
	member_set(sent, "limits", member_or_null(source->receipt, "limits"), r);
	member_set(sent, "rules",
		   json_pack("{s:s?, s:s}", "name", source->rules_name, "sha256",
			     source->rules_sha256),
		   r);
	return sent;
}

/* Every version that is asked for is there, null where nothing says it. */
static json_t *versions_json(const struct claim_source *source, int *r)
{
	static const char *const names[] = {"qp", "kernel", "node", "npm", "libc"};
	const json_t *images = json_object_get(source->receipt, "images");
	json_t *versions = object_copy(json_object_get(images, "versions"));

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!json_object_get(versions, names[i]))
			member_set(versions, names[i], json_null(), r);
	return versions;
}

static json_t *returned_json(const struct claim_source *source, int *r)
{
	const json_t *evidence = json_object_get(source->receipt, "evidence");
	const char *output = source->facts->output ? source->facts->output : "";
	char output_sha256[SHA256_TEXT_SIZE];
	json_t *returned = json_object();

	if (sha256_text(output, strlen(output), output_sha256) && !*r)
		*r = -ENOMEM;
	member_set(returned, "status", member_or_null(source->receipt, "status"), r);
	member_set(returned, "verdict", member_or_null(source->receipt, "verdict"), r);
	member_set(returned, "exitCode", member_or_null(source->facts->end, "exitCode"), r);
	member_set(returned, "signal", member_or_null(source->facts->end, "signal"), r);
	member_set(returned, "endedBy", member_or_null(source->facts->end, "endedBy"), r);
	member_set(returned, "outputSha256", json_string(output_sha256), r);
	member_set(returned, "log", member_or_null(evidence, "log"), r);
	return returned;
}

static json_t *sandbox_json(const struct claim_source *source, int *r)
{
	const json_t *preamble = source->facts->preamble, *sandbox = source->facts->sandbox;
	const json_t *cgroup = json_object_get(sandbox, "cgroup");
	json_t *object = json_object();

	member_set(object, "taskId", member_or_null(preamble, "taskId"), r);
	member_set(object, "nonce", member_or_null(preamble, "nonce"), r);
	member_set(object, "bootId", member_or_null(preamble, "bootId"), r);
	member_set(object, "container", member_or_null(sandbox, "container"), r);
	member_set(object, "containerId", member_or_null(sandbox, "containerId"), r);
	member_set(object, "cgroupId", member_or_null(cgroup, "id"), r);
	member_set(object, "cgroup", member_or_null(cgroup, "name"), r);
	return object;
}

json_t *runrecord_build(const struct claim_source *source, const char *previous)
{
	json_t *record = json_object();
	int r = 0;

	member_set(record, "schema", json_string("qp-run-record/1"), &r);
	member_set(record, "previous", json_string(previous), &r);
	member_set(record, "startedAt", member_or_null(source->facts->preamble, "startedAt"), &r);
	member_set(record, "finishedAt", member_or_null(source->facts->end, "finishedAt"), &r);
	member_set(record, "sent", sent_json(source, &r), &r);
	member_set(record, "versions", versions_json(source, &r), &r);
	member_set(record, "returned", returned_json(source, &r), &r);
	member_set(record, "sandbox", sandbox_json(source, &r), &r);
	if (!r)
		return record;
	json_decref(record);
	return NULL;
}
