// SPDX-License-Identifier: Apache-2.0
/* The log's `sandbox` record: the receipt's object, as far as it is known at the start. */
#include "tools/derive.h"
#include "tools/task/process_facts.h"
#include "tools/task/task.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static json_t *or_null(json_t *value)
{
	return value ? value : json_null();
}

static json_t *network_json(const struct task *task)
{
	char subnet[24];
	const char *last = strrchr(task->persona.address4, '.');

	snprintf(subnet, sizeof(subnet), "%.*s.0/24", (int)(last - task->persona.address4),
		 task->persona.address4);
	return json_pack("{s:o, s:b, s:s, s:b}", "name", json_sprintf("qp-net-%s", task->id),
			 "internal", 1, "subnet", subnet, "enableIPv6", 1);
}

int task_record_sandbox(struct task *task, const json_t *hardening, uint64_t cgroup_id)
{
	const json_t *decoys = sandbox_decoys(task->sandbox);
	_cleanup_json_ json_t *object = NULL;
	int r;

	object =
		json_pack("{s:s, s:i, s:b, s:O?, s:O?, s:{s:n, s:o}, s:{s:n, s:s, s:o}, s:o, "
			  "s:{s:o, s:s}, s:s, s:O?, s:O?}",
			  "container", sandbox_container(task->sandbox), "round", 1, "fresh", 1,
			  "containerId", json_object_get(hardening, "id"), "hardening", hardening,
			  "tracer", "container", "hardening", or_null(process_hardening(getpid())),
			  "sinkhole", "container", "ip", task->persona.gateway4, "hardening",
			  or_null(process_hardening(sinkhole_pid(task->sinkhole))), "network",
			  network_json(task), "cgroup", "id",
			  json_sprintf("%llu", (unsigned long long)cgroup_id), "name",
			  sandbox_container(task->sandbox), "tier", collector_tier(task->collector),
			  "envLibraries", task->env_libraries, "tls", task->tls);
	if (!object)
		return -ENOMEM;
	r = log_writer_append_json(task->log, LOG_RECORD_SANDBOX, object);
	return r || !decoys ? r : log_writer_append_json(task->log, LOG_RECORD_DECOYS, decoys);
}
