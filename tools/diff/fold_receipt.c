// SPDX-License-Identifier: Apache-2.0
/* What a receipt says of its own run: home, user, package, addresses given for names. */
#include "tools/diff/fold_internal.h"

#include "base/number.h"
#include "tools/derive.h"
#include "tools/show/summary.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_BITS_MAX 32

static const json_t *hardening(const json_t *receipt)
{
	return json_object_get(json_object_get(receipt, "sandbox"), "hardening");
}

/* The home is the one writable folder of the sandbox below /home. */
static void home_read(struct fold *fold, const json_t *receipt)
{
	const char *path;
	json_t *options;

	json_object_foreach (json_object_get(hardening(receipt), "Tmpfs"), path, options) {
		if (strncmp(path, "/home/", 6) != 0 || !path[6] || strchr(path + 6, '/'))
			continue;
		fold->home = path;
		fold->user = path + 6;
	}
}

static void uid_read(struct fold *fold, const json_t *receipt)
{
	const char *user = member_text(hardening(receipt), "User");
	size_t len = strspn(user, "0123456789");

	if (len && len < sizeof(fold->uid) && (!user[len] || user[len] == ':'))
		memcpy(fold->uid, user, len); /* zeroed before */
}

static void subnet_read(struct fold *fold, const json_t *receipt)
{
	const char *text = member_text(
		json_object_get(json_object_get(receipt, "sandbox"), "network"), "subnet");
	const char *slash = strchr(text, '/');
	char address[INET_ADDRSTRLEN];
	struct in_addr net;
	uint64_t bits;

	if (!slash || (size_t)(slash - text) >= sizeof(address) ||
	    number_parse(slash + 1, 1, PREFIX_BITS_MAX, &bits))
		return;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	if (inet_pton(AF_INET, address, &net) != 1)
		return;
	fold->mask.s_addr = UINT32_MAX << (PREFIX_BITS_MAX - bits);
	fold->subnet.s_addr = ntohl(net.s_addr) & fold->mask.s_addr;
}

/* The first name wins: an address is given for one name only. */
static int names_read(struct fold *fold, const json_t *receipt)
{
	const json_t *log = json_object_get(json_object_get(receipt, "network"), "sinkholeLog");
	const json_t *record;
	size_t i;

	json_array_foreach (log, i, record) {
		const char *answer = member_text(record, "answer");
		const char *name = member_text(record, "name");
		char *folded;
		int r;

		if (strcmp(member_text(record, "type"), "dns") != 0 || !*answer || !*name ||
		    json_object_get(fold->names, answer))
			continue;
		folded = fold_text(fold, name, FOLD_NAME, false);
		r = folded ? json_object_set_new(fold->names, answer, json_string(folded)) : -1;
		free(folded);
		if (r)
			return -ENOMEM;
	}
	return 0;
}

/* Tools put such files beside their output, under names that mkstemp makes up. */
static int temporary_read(struct fold *fold, const json_t *receipt)
{
	const json_t *list = json_object_get(receipt, "observations"), *observation;
	_cleanup_json_ json_t *made = json_object();
	size_t i;
	int r = made ? 0 : -1;

	json_array_foreach (list, i, observation) {
		const char *kind = member_text(observation, "kind");
		const char *path = member_text(observation, "path");

		if (!r && (!strcmp(kind, "file-create") || !strcmp(kind, "file-write")))
			r = json_object_set_new(made, path, json_true());
		else if (!r && !strcmp(kind, "file-delete") && json_object_get(made, path))
			r = json_object_set_new(fold->temporary, path, json_true());
	}
	return r ? -ENOMEM : 0;
}

int fold_new(const json_t *receipt, struct fold **ret_fold)
{
	const json_t *package = json_object_get(receipt, "package");
	struct fold *fold = calloc(1, sizeof(*fold));

	if (!fold)
		return -ENOMEM;
	fold->package = member_text(package, "name");
	fold->version = member_text(package, "version");
	fold->host = member_text(json_object_get(receipt, "sandbox"), "hostName");
	fold->home = fold->user = "";
	fold->names = json_object();
	fold->temporary = json_object();
	home_read(fold, receipt);
	uid_read(fold, receipt);
	subnet_read(fold, receipt);
	if (!fold->names || !fold->temporary || names_read(fold, receipt) ||
	    temporary_read(fold, receipt)) {
		fold_free(fold);
		return -ENOMEM;
	}
	*ret_fold = fold;
	return 0;
}

void fold_free(struct fold *fold)
{
	if (!fold)
		return;
	json_decref(fold->names);
	json_decref(fold->temporary);
	free(fold);
}

const char *fold_package(const struct fold *fold)
{
	return fold->package;
}
