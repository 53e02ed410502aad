/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task from its options to its receipt: `qp run` and `qp exec` fill in what is to be
 * run and get an exit code back. Everything it makes on the host is gone afterwards, save
 * the receipt's folder.
 */
#ifndef QP_TOOLS_TASK_TASK_H
#define QP_TOOLS_TASK_TASK_H

#include "base/authority.h"
#include "base/error.h"
#include "collector/collector.h"
#include "collector/log.h"
#include "rules/keys.h"
#include "tools/command.h"
#include "tools/derive.h"
#include "tools/download/download.h"
#include "tools/progress.h"
#include "tools/sandbox/sandbox.h"
#include "tools/task/janitor.h"
#include "tools/task/loader.h"
#include "tools/task/sinkhole_process.h"

struct task_options {
	const char *out;     /* folder, or NULL for qp-receipts/<taskId> */
	const char *rules;   /* file, or NULL for the built-in ones */
	const char *runtime; /* NULL: whichever works */
	const char *rootfs;  /* NULL: the host's /usr */
	const char *tls;     /* "refuse" or "intercept" */
	const char *tier;    /* one of COLLECTOR_TIERS, or NULL */
	const char *in;	     /* exec: copied to /work; or NULL */
	const char *key;     /* to sign with (rules/keys.h), or NULL */
	const char *key_passphrase_file;
	const char *bundle; /* NULL: bundle.jsonl beside the receipt's folder */
	bool json, quiet;
	struct limits limits;

	const struct spec *spec; /* run; or NULL */
	char *const *command;	 /* exec, NULL-terminated; or NULL */
};

/* Does all of it; prints progress, summary and errors. An exit code of enum exit_code, or
 * 128 + the number of the signal that ended it. */
int task_run(const struct task_options *options);

/* ---- The rest is for the files of this folder. ---- */

struct task {
	const struct task_options *options;
	char id[TASK_ID_SIZE];
	char nonce[25];
	char started_at[25];
	uint64_t started_ns;
	struct persona persona;
	struct progress progress;
	char *folder; /* of the receipt */
	bool folder_is_new;
	char *temp; /* what was fetched */
	char *log_path;
	char *rules_text;
	struct key *key; /* NULL: the receipt is not signed */
	char *bundle_path;
	struct derivation derivation;
	char *runtime;
	struct janitor *janitor;
	struct log_writer *log;
	struct loader *loader; /* until the collector is there */
	struct collector *collector;
	struct sandbox *sandbox;
	struct sinkhole *sinkhole;
	struct authority *authority; /* until the sinkhole has its key; NULL: TLS is refused */
	json_t *tls;		     /* the receipt's network.tls */
	struct decoys *decoys;	     /* what the sandbox holds, to look for */
	struct download download;
	int signal_fd, netns_fd, control_fd;
	int signal;	      /* that asked to stop; 0: none */
	const char *ended_by; /* "exit", "time", "memory", "signal" */
	bool timed_out;
	uint64_t output_bytes;
	json_t *limits_hit;    /* array */
	json_t *env_libraries; /* array: whose getenv is watched */
};

/* Appends the records that make up one task, in task_record.c. Errors of the log. */
int task_record_preamble(struct task *task);
int task_record_download(struct task *task);
int task_record_sandbox(struct task *task, const json_t *hardening, uint64_t cgroup_id);
int task_record_output(struct task *task, const char *bytes, size_t len);
int task_record_error(struct task *task, const char *part, const struct qp_error *err);
int task_record_refusal(struct task *task); /* the end of a run that ran nothing */
int task_record_end(struct task *task, const json_t *status, uint64_t sandbox_ns);

/* Waits for the collector, if that was not done, and begins the log with what it can do.
 * In task_observe.c. */
int task_collector_wait(struct task *task, struct qp_error *err);

/* Makes the authority with which TLS is intercepted, if it is to be; tells who inside trusts
 * it once the sandbox is there, and forgets its key. In task_tls.c. */
int task_tls_prepare(struct task *task, struct sandbox_trust *ret_trust, struct qp_error *err);
int task_tls_finish(struct task *task, const struct sandbox_trust *trust, const char *const *envp);
void task_tls_clear(struct sandbox_trust *trust);

/* Runs the sandbox under observation to its end, in task_observe.c. 0, also when a part of
 * it failed: the log says so then. A negative errno only when there is no run to speak of;
 * *ret_exit is its exit code. */
int task_observe(struct task *task, int *ret_exit, struct qp_error *err);

/* Tears everything down, ends the log and derives what it says, in task_end.c. */
int task_finish(struct task *task, struct qp_error *err);

/* Reads the key and looks at the bundle, before anything is run; in task_sign.c. 0 too when
 * there is no key. */
int task_sign_prepare(struct task *task, struct qp_error *err);

/* Writes receipt.dsse.json and the bundle's line. *ret_line is its number; 0: no key. */
int task_sign(struct task *task, uint64_t *ret_line, struct qp_error *err);

/* Frees the task; tears down what is still there and, unless @keep, removes what it put
 * into the receipt's folder. */
void task_close(struct task *task, bool keep);

#endif
