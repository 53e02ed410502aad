// SPDX-License-Identifier: Apache-2.0
/* The limits of a task: their defaults and their form in the receipt. */
#include "tools/sandbox/sandbox.h"

#define MIB (UINT64_C(1) << 20)

void limits_default(struct limits *ret_limits)
{
	*ret_limits = (struct limits){
		.download_seconds = 120,
		.download_max_bytes = 50 * MIB,
		.download_max_packages = 300,
		.sandbox_seconds = 60,
		.pids = 64,
		.memory_bytes = 256 * MIB,
		.cpus_milli = 1000,
		.tmpfs_work_bytes = 128 * MIB,
		.tmpfs_tmp_bytes = 64 * MIB,
		.tmpfs_home_bytes = 16 * MIB,
	};
}

/* A whole number of CPUs is written as one, so that the receipt has "1", not "1.0". */
static json_t *cpus_json(uint64_t milli)
{
	return milli % 1000 ? json_real((double)milli / 1000)
			    : json_integer((json_int_t)(milli / 1000));
}

json_t *limits_json(const struct limits *limits)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "downloadSeconds",
			 (json_int_t)limits->download_seconds, "downloadMaxBytes",
			 (json_int_t)limits->download_max_bytes, "downloadMaxPackages",
			 (json_int_t)limits->download_max_packages, "sandboxSeconds",
			 (json_int_t)limits->sandbox_seconds, "pids", (json_int_t)limits->pids,
			 "memoryBytes", (json_int_t)limits->memory_bytes, "cpus",
			 cpus_json(limits->cpus_milli), "tmpfsWorkBytes",
			 (json_int_t)limits->tmpfs_work_bytes, "tmpfsTmpBytes",
			 (json_int_t)limits->tmpfs_tmp_bytes, "tmpfsHomeBytes",
			 (json_int_t)limits->tmpfs_home_bytes);
}
