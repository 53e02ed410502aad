// SPDX-License-Identifier: Apache-2.0
/* The course of a task: prepare, fetch, observe, finish, report. */
#include "tools/task/task.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "rules/ruleset.h"
#include "tools/derive.h"
#include "tools/show/summary.h"
#include "tools/task/folder.h"
#include "tools/task/temporary.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>

static int random_hex(char *ret_text, size_t digits)
{
	unsigned char bytes[16];

	if (digits / 2 > sizeof(bytes) || getrandom(bytes, digits / 2, 0) != (ssize_t)(digits / 2))
		return -EIO;
	for (size_t i = 0; i < digits / 2; i++)
		sprintf(ret_text + 2 * i, "%02x", bytes[i]);
	return 0;
}

/* SIGINT and SIGTERM become readable, so that a run that is stopped cleans up. */
static int signals_take(struct task *task, struct qp_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	task->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (task->signal_fd < 0)
		return qp_error_set(err, -errno, "signalfd: %s", strerror(errno));
	return 0;
}

/* The rules are read and checked before anything is run: a bad file is no reason to wait. */
static int rules_take(struct task *task, struct qp_error *err)
{
	const char *path = task->options->rules;
	struct ruleset *rules;
	size_t len;
	int r;

	if (!path)
		return (task->rules_text = strdup(ruleset_default_text())) ? 0 : -ENOMEM;
	r = rules_read(path, &task->rules_text, &len, err);
	if (r)
		return r;
	r = ruleset_parse(task->rules_text, len, path, &rules, err);
	if (r)
		return r;
	ruleset_free(rules);
	return 0;
}

/* Everything that can fail without a trace on the host or on the network. */
static int host_prepare(struct task *task, struct qp_error *err)
{
	int r;

	if (geteuid() != 0)
		return qp_error_set(err, -EPERM,
				    "qp must be root to make the sandbox and load its kernel "
				    "programs: run it with sudo");
	r = sandbox_isolate_mounts(err);
	if (!r && task->options->spec)
		temporary_in_memory(task->temp, download_bytes(&task->options->limits));
	if (!r)
		r = loader_start(task->options->tier, &task->loader, err);
	if (!r)
		r = runtime_find(task->options->runtime, &task->runtime, err);
	return r ? r : persona_make(&task->persona);
}

static int task_prepare(struct task *task, struct qp_error *err, int *ret_exit)
{
	int r;

	*ret_exit = EXIT_OTHER;
	r = random_hex(task->id, TASK_ID_SIZE - 1);
	if (!r)
		r = random_hex(task->nonce, sizeof(task->nonce) - 1);
	if (r)
		return qp_error_set(err, r, "the kernel gave no random bytes");
	r = rules_take(task, err);
	if (r) {
		*ret_exit = EXIT_USAGE;
		return r;
	}
	/* Before anything is made that a signal or a crash could leave behind. */
	r = folder_name_temporary(task);
	if (!r)
		r = signals_take(task, err);
	if (!r)
		r = janitor_start(task->id, task->temp, &task->janitor, err);
	if (r)
		return r;
	r = folder_make(task, err);
	if (!r)
		r = task_sign_prepare(task, err);
	if (r) {
		*ret_exit = r == -EEXIST || r == -ENOTDIR || r == -EINVAL ? EXIT_USAGE : EXIT_OTHER;
		return r;
	}
	r = host_prepare(task, err);
	if (r) {
		*ret_exit = EXIT_HOST;
		return r;
	}
	r = log_writer_open(task->log_path, &task->log, err);
	if (r)
		return r;
	task->started_ns = clock_boot_ns();
	clock_rfc3339(task->started_at);
	return 0;
}

/* Which exit code stands for the failure of a download. */
static int download_exit(int r)
{
	static const int host_failures[] = {-EPERM, -ENOTSUP, -ENOSYS};

	for (size_t i = 0; i < sizeof(host_failures) / sizeof(host_failures[0]); i++)
		if (r == host_failures[i])
			return EXIT_HOST;
	return EXIT_FETCH;
}

static int task_fetch(struct task *task, struct qp_error *err, int *ret_exit)
{
	json_int_t cnt;
	int r;

	progress_begin(&task->progress, "download");
	r = download_run(task->options->spec, task->id, task->runtime, &task->options->limits,
			 &task->persona, task->temp, task->signal_fd, &task->download, err);
	if (r == -ECANCELED) {
		*ret_exit = EXIT_OTHER;
		return r;
	}
	if (r) {
		progress_end(&task->progress, "failed");
		*ret_exit = download_exit(r);
		return r;
	}
	cnt = json_integer_value(json_object_get(
		json_object_get(task->download.report, "inventory"), "packageCount"));
	if (task->download.refused)
		progress_end(&task->progress, "refused: not all of it is from the registry");
	else
		progress_end(&task->progress, "%s@%s, %" JSON_INTEGER_FORMAT " package%s",
			     task->download.name, task->download.version, cnt, cnt == 1 ? "" : "s");
	r = task_collector_wait(task, err);
	if (r) {
		*ret_exit = EXIT_HOST;
		return r;
	}
	r = task_record_download(task);
	return r || !task->download.refused ? r : task_record_refusal(task);
}

/* What the summary says of the signature. */
static void signature_tell(const struct task *task, uint64_t line, char *text, size_t size)
{
	if (task->key)
		snprintf(text, size, "by key %.16s; line %llu of %s", key_id(task->key),
			 (unsigned long long)line, task->bundle_path);
	else
		snprintf(text, size, "no: --key PEM signs the receipt (qp keygen makes a key)");
}

/* Writes the receipt and prints what was asked for. Once the files are there (*ret_written)
 * a reader that went away is no reason to remove them. */
static int task_report(struct task *task, bool *ret_written, struct qp_error *err)
{
	const json_t *receipt = task->derivation.receipt;
	char signature[512];
	struct summary_options summary = {
		.color = isatty(STDOUT_FILENO), .folder = task->folder, .signature = signature};
	_cleanup_free_ char *text = NULL;
	uint64_t line = 0;
	size_t len;
	int r;

	r = derive_receipt_text(receipt, &text, &len, err);
	if (!r)
		r = folder_write(task, "receipt.json", text, len, err);
	if (!r)
		r = task_sign(task, &line, err);
	if (r)
		return r;
	*ret_written = true;
	signature_tell(task, line, signature, sizeof(signature));
	if (task->options->json)
		r = write_all(STDOUT_FILENO, text, len);
	else if (!task->options->quiet) {
		summary_print(stdout, receipt, &summary);
		r = fflush(stdout) ? -errno : 0;
	}
	return r ? qp_error_set(err, r, "cannot write the result: %s", strerror(-r)) : 0;
}

/* A signal that came is the reason, whatever failed because of it. */
static int task_failed(struct task *task, const struct qp_error *err, int r, int exit_code)
{
	struct signalfd_siginfo info;

	if (!task->signal && task->signal_fd >= 0 &&
	    read(task->signal_fd, &info, sizeof(info)) == sizeof(info))
		task->signal = (int)info.ssi_signo;
	task_close(task, false);
	if (task->signal) {
		log_error("stopped by signal %d (%s); nothing is left behind", task->signal,
			  strsignal(task->signal));
		return 128 + task->signal;
	}
	command_failed(err, r);
	return exit_code;
}

int task_run(const struct task_options *options)
{
	struct task task = {
		.options = options,
		.signal_fd = -1,
		.netns_fd = -1,
		.control_fd = -1,
		.ended_by = "exit",
		.limits_hit = json_array(),
	};
	struct qp_error err = {0};
	bool written = false;
	int exit_code, r;

	progress_init(&task.progress, options->quiet);
	r = task_prepare(&task, &err, &exit_code);
	if (!r && options->spec)
		r = task_fetch(&task, &err, &exit_code);
	if (!r && !task.download.refused)
		r = task_observe(&task, &exit_code, &err);
	if (r)
		return task_failed(&task, &err, r, exit_code);
	exit_code = EXIT_OTHER;
	r = task_finish(&task, &err);
	if (!r)
		r = task_report(&task, &written, &err);
	if (r && !written)
		return task_failed(&task, &err, r, exit_code);
	if (r) {
		task_close(&task, true);
		return command_failed(&err, r);
	}
	exit_code = derive_exit_code(task.derivation.receipt);
	task_close(&task, true);
	return exit_code;
}
