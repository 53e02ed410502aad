// SPDX-License-Identifier: Apache-2.0
/* The authority of a run that intercepts TLS: its key is here until the sinkhole has it, and
 * never in the sandbox. */
#include "tools/task/task.h"

#include "tools/derive.h"

#include <errno.h>
#include <string.h>

static int trust_make(const struct authority *authority, struct sandbox_trust *ret_trust)
{
	char name[AUTHORITY_NAME_SIZE], hash[AUTHORITY_HASH_SIZE];
	struct sandbox_trust trust;

	authority_name(authority, name);
	authority_hash(authority, hash);
	trust.pem = authority_pem(authority);
	trust.name = strdup(name);
	trust.hash = strdup(hash);
	*ret_trust = trust;
	return trust.pem && trust.name && trust.hash ? 0 : -ENOMEM;
}

void task_tls_clear(struct sandbox_trust *trust)
{
	free((char *)trust->pem);
	free((char *)trust->name);
	free((char *)trust->hash);
	*trust = (struct sandbox_trust){0};
}

int task_tls_prepare(struct task *task, struct sandbox_trust *ret_trust, struct qp_error *err)
{
	int r;

	if (strcmp(task->options->tls, "intercept") != 0)
		return 0;
	r = authority_make(&task->authority, err);
	return r ? r : trust_make(task->authority, ret_trust);
}

int task_tls_finish(struct task *task, const struct sandbox_trust *trust, const char *const *envp)
{
	_cleanup_json_ json_t *tls = json_pack("{s:s}", "mode", task->options->tls);
	_cleanup_json_ json_t *trusted = NULL;
	char sha256[AUTHORITY_SHA256_SIZE];

	if (tls && task->authority) {
		trusted = sandbox_trusted(task->sandbox, trust->pem, envp);
		if (!trusted || authority_sha256(task->authority, sha256) < 0 ||
		    json_object_set_new(
			    tls, "authority",
			    json_pack("{s:s, s:s}", "name", trust->name, "sha256", sha256)) ||
		    json_object_update(tls, trusted))
			return -ENOMEM;
		authority_free(steal_ptr(task->authority));
	}
	task->tls = steal_ptr(tls);
	return task->tls ? 0 : -ENOMEM;
}
