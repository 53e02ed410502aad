// SPDX-License-Identifier: Apache-2.0
/* The shared option table. Limits have ranges within which a sandbox can work at all. */
#include "tools/task_options.h"

#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

size_t task_options_rows(struct task_options *options, struct option rows[static TASK_OPTIONS_MAX])
{
	struct limits *limits = &options->limits;
	const struct option shared[] = {
		{"out", OPTION_STRING, &options->out, "DIR",
		 "where receipt and log go (qp-receipts/<taskId>)", 0, 0, NULL},
		{"json", OPTION_FLAG, &options->json, NULL, "print the receipt, not a summary", 0,
		 0, NULL},
		{"quiet", OPTION_FLAG, &options->quiet, NULL, "no progress and no summary", 0, 0,
		 NULL},
		{"rules", OPTION_STRING, &options->rules, "FILE", "judge by these rules", 0, 0,
		 NULL},
		{"key", OPTION_STRING, &options->key, "PEM",
		 "sign the receipt; /dev/fd/N and credential:NAME too", 0, 0, NULL},
		{"key-passphrase-file", OPTION_STRING, &options->key_passphrase_file, "FILE",
		 "opens an encrypted key; - is standard input", 0, 0, NULL},
		{"bundle", OPTION_STRING, &options->bundle, "JSONL",
		 "signed run records (bundle.jsonl beside DIR)", 0, 0, NULL},
		{"runtime", OPTION_STRING, &options->runtime, "PROGRAM",
		 "OCI runtime (runc or crun, whichever works)", 0, 0, NULL},
		{"rootfs", OPTION_STRING, &options->rootfs, "DIR",
		 "an unpacked image instead of the host's /usr", 0, 0, NULL},
		{"tls", OPTION_CHOICE, &options->tls, "MODE",
		 "refuse TLS, or intercept it to see what it hides (refuse)", 0, 0,
		 "refuse|intercept"},
		{"tier", OPTION_CHOICE, &options->tier, "TIER",
		 "auto, base or kernel-object: how paths are told (auto)", 0, 0, COLLECTOR_TIERS},
		{"seconds", OPTION_NUMBER, &limits->sandbox_seconds, "N",
		 "time limit of the sandbox (60)", 1, 86400, NULL},
		{"memory", OPTION_BYTES, &limits->memory_bytes, "SIZE",
		 "memory limit of the sandbox (256M)", 32 * MIB, 1024 * GIB, NULL},
		{"pids", OPTION_NUMBER, &limits->pids, "N", "limit of processes and threads (64)",
		 8, 32768, NULL},
		{"cpus", OPTION_MILLI, &limits->cpus_milli, "N", "limit of processor time (1.0)",
		 50, 1024000, NULL},
		{"tmpfs-work", OPTION_BYTES, &limits->tmpfs_work_bytes, "SIZE",
		 "size of /work (128M)", MIB, 1024 * GIB, NULL},
		{"tmpfs-tmp", OPTION_BYTES, &limits->tmpfs_tmp_bytes, "SIZE", "size of /tmp (64M)",
		 MIB, 1024 * GIB, NULL},
		{"tmpfs-home", OPTION_BYTES, &limits->tmpfs_home_bytes, "SIZE",
		 "size of the home folder (16M)", MIB, 1024 * GIB, NULL},
	};
	size_t cnt = sizeof(shared) / sizeof(shared[0]);

	*options = (struct task_options){.tls = "refuse"};
	limits_default(limits);
	memcpy(rows, shared, sizeof(shared));
	rows[cnt] = (struct option){0};
	return cnt;
}
