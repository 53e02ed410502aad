// SPDX-License-Identifier: Apache-2.0
/* The order of the phases and what is kept of each. */
#include "tools/task/phases.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "tools/derive.h"
#include "tools/sandbox/control.h"

#include <errno.h>
#include <string.h>

/* What a phase's process may report on its descriptor 3; a phase that says more has failed. */
#define DATA_BYTES_MAX	  (4U << 20)
#define STRAGGLER_SECONDS 2
#define STAGE_FOLDER	  "/opt/app/"

struct phase_step {
	const char *name;
	const char *script; /* run by node; NULL: PID 1 does it itself, or the plan's command */
	const char *cwd;
	/* Puts the report of the phase's process into the log. */
	int (*report)(struct phases *phases);
};

static int report_scan(struct phases *phases);
static int report_load(struct phases *phases);

static const struct phase_step package_steps[] = {
	{"copy", NULL, NULL, NULL},
	{"scan", NULL, NULL, report_scan},
	{"rebuild", STAGE_FOLDER "rebuild.js", "/work", NULL},
	{"harness", STAGE_FOLDER "harness.js", "/work", report_load},
	{"done", NULL, NULL, NULL},
};

static const struct phase_step command_steps[] = {
	{"copy", NULL, NULL, NULL},
	{"scan", NULL, NULL, report_scan},
	{"run", NULL, "/work", NULL},
	{"done", NULL, NULL, NULL},
};

struct phases {
	int fd;
	const struct phases_plan *plan;
	struct log_writer *log;
	phases_notify_func notify;
	void *context;
	const struct phase_step *steps;
	size_t steps_cnt, current;
	bool ready, finishing;
	char *data;
	size_t len;
};

static const struct phase_step *step_current(const struct phases *phases)
{
	return &phases->steps[phases->current];
}

const char *phases_current(const struct phases *phases)
{
	return phases->ready && !phases->finishing ? step_current(phases)->name : "";
}

/* A report is the word of a process among hostile code: kept when it is one JSON object. */
static int report_append(struct phases *phases, enum log_record_type type)
{
	_cleanup_json_ json_t *report =
		json_loadb(phases->data, phases->len, JSON_REJECT_DUPLICATES, NULL);

	if (!json_is_object(report))
		return 0;
	return log_writer_append_json(phases->log, type, report);
}

/* Read from outside: nothing inside has a say in it. */
static int report_scan(struct phases *phases)
{
	_cleanup_json_ json_t *scan = NULL;
	int r = sandbox_scan(phases->plan->sandbox, &scan);

	/* Without the record the receipt says that the scan did not pass. */
	if (r == -ESRCH)
		return 0;
	return r ? r : log_writer_append_json(phases->log, LOG_RECORD_SCAN, scan);
}

static int report_load(struct phases *phases)
{
	return report_append(phases, LOG_RECORD_LOAD);
}

/* @extra: more members, taken over; or NULL. */
static int phase_record(struct phases *phases, const char *edge, json_t *extra)
{
	_cleanup_json_ json_t *more = extra;
	_cleanup_json_ json_t *record =
		json_pack("{s:s, s:s, s:I}", "phase", step_current(phases)->name, "edge", edge,
			  "t_ns", (json_int_t)clock_boot_ns());

	if (!record || (more && json_object_update(record, more)))
		return -ENOMEM;
	return log_writer_append_json(phases->log, LOG_RECORD_PHASE, record);
}

/* The phase's report as a list of the JSON objects on its lines; others are left out. */
static json_t *report_lines(const struct phases *phases)
{
	json_t *list = json_array();
	const char *start = phases->data, *end = start + phases->len, *newline;

	for (; start < end && (newline = memchr(start, '\n', (size_t)(end - start)));
	     start = newline + 1) {
		_cleanup_json_ json_t *line =
			json_loadb(start, (size_t)(newline - start), JSON_REJECT_DUPLICATES, NULL);

		if (json_is_object(line))
			json_array_append(list, line);
	}
	return list;
}

static bool has_scripts(const json_t *package)
{
	return json_array_size(json_object_get(package, "scripts")) > 0;
}

/* node SCRIPT and its arguments, or the command; *ret_argv is a new list of borrowed words. */
static int step_argv(const struct phases *phases, const char ***ret_argv)
{
	const struct phase_step *step = step_current(phases);
	const struct phases_plan *plan = phases->plan;
	const char **argv = calloc(CONTROL_ARGS_MAX + 1, sizeof(*argv));
	size_t cnt = 0, i;
	const json_t *package;

	if (!argv)
		return -ENOMEM;
	if (!step->script) {
		for (; plan->command[cnt] && cnt < CONTROL_ARGS_MAX; cnt++)
			argv[cnt] = plan->command[cnt];
		if (plan->command[cnt]) {
			free(argv);
			return -E2BIG;
		}
		*ret_argv = argv;
		return 0;
	}
	argv[cnt++] = "node";
	argv[cnt++] = step->script;
	if (!strcmp(step->name, "harness"))
		argv[cnt++] = plan->package;
	if (!strcmp(step->name, "rebuild")) {
		json_array_foreach (plan->packages, i, package) {
			if (!has_scripts(package))
				continue;
			if (cnt == CONTROL_ARGS_MAX) {
				free(argv);
				return -E2BIG;
			}
			argv[cnt++] = json_string_value(json_object_get(package, "path"));
		}
	}
	*ret_argv = argv;
	return 0;
}

static int step_send(struct phases *phases)
{
	const struct phase_step *step = step_current(phases);
	_cleanup_free_ const char **argv = NULL;
	int r;

	phases->len = 0;
	if (!step->cwd)
		return control_send_phase(phases->fd, step->name, NULL, NULL);
	r = step_argv(phases, &argv);
	return r ? r : control_send_phase(phases->fd, step->name, step->cwd, argv);
}

static int on_ready(struct phases *phases)
{
	if (phases->ready)
		return -EPROTO;
	phases->ready = true;
	return step_send(phases);
}

static int on_data(struct phases *phases, const struct control_message *message)
{
	char *grown;

	if (phases->len + message->data_len > DATA_BYTES_MAX)
		return -EMSGSIZE;
	grown = realloc(phases->data, phases->len + message->data_len + 1);
	if (!grown)
		return -ENOMEM;
	phases->data = grown;
	memcpy(grown + phases->len, message->data, message->data_len);
	phases->len += message->data_len;
	return 0;
}

static int on_end(struct phases *phases, int rc)
{
	const struct phase_step *step = step_current(phases);
	json_t *extra = json_pack("{s:i}", "rc", rc);
	int r;

	/* What each script of the packages came to. */
	if (extra && !strcmp(step->name, "rebuild"))
		json_object_set_new(extra, "results", report_lines(phases));
	r = phase_record(phases, "end", extra);
	if (!r && step->report)
		r = step->report(phases);
	phases->notify(phases->context, step->name, false, rc);
	if (r)
		return r;
	if (phases->current + 1 < phases->steps_cnt) {
		phases->current++;
		return step_send(phases);
	}
	phases->finishing = true;
	return control_send_finish(phases->fd, STRAGGLER_SECONDS);
}

static int on_message(struct phases *phases, const struct control_message *message)
{
	if (message->kind == CONTROL_READY)
		return on_ready(phases);
	if (message->kind == CONTROL_STRAGGLERS)
		return phases->finishing ? 0 : -EPROTO;
	if (!phases->ready || phases->finishing ||
	    strcmp(message->phase, step_current(phases)->name) != 0)
		return -EPROTO;
	switch (message->kind) {
	case CONTROL_BEGIN:
		phases->notify(phases->context, step_current(phases)->name, true, 0);
		return phase_record(phases, "begin", NULL);
	case CONTROL_PID:
		return phase_record(phases, "pid",
				    json_pack("{s:I}", "pid", (json_int_t)message->number));
	case CONTROL_DATA:
		return on_data(phases, message);
	case CONTROL_END:
		return on_end(phases, (int)message->number);
	default:
		return -EPROTO;
	}
}

int phases_drain(struct phases *phases, struct qp_error *err)
{
	_cleanup_free_ struct control_message *message = malloc(sizeof(*message));
	int r;

	if (!message)
		return -ENOMEM;
	while ((r = control_receive(phases->fd, message)) == 1) {
		r = on_message(phases, message);
		if (r == -EPROTO || r == -EMSGSIZE || r == -ETIMEDOUT || r == -E2BIG || r == -EPIPE)
			return qp_error_set(err, -EPROTO,
					    "PID 1 and qp lost each other in phase '%s': %s",
					    phases_current(phases), strerror(-r));
		if (r)
			return r;
	}
	if (r == -EAGAIN)
		return 0;
	if (!r && phases->finishing)
		return 1;
	return qp_error_set(err, -EPROTO, "PID 1 left in phase '%s': %s", phases_current(phases),
			    r ? strerror(-r) : "it closed the channel");
}

int phases_start(int control_fd, const struct phases_plan *plan, struct log_writer *log,
		 phases_notify_func notify, void *context, struct phases **ret_phases,
		 struct qp_error *err)
{
	struct phases *phases;
	int r = control_send_nonce(control_fd, plan->nonce);

	if (r)
		return qp_error_set(err, r, "cannot speak with PID 1: %s", strerror(-r));
	phases = calloc(1, sizeof(*phases));
	if (!phases)
		return -ENOMEM;
	phases->fd = control_fd;
	phases->plan = plan;
	phases->log = log;
	phases->notify = notify;
	phases->context = context;
	phases->steps = plan->command ? command_steps : package_steps;
	phases->steps_cnt = plan->command ? sizeof(command_steps) / sizeof(command_steps[0])
					  : sizeof(package_steps) / sizeof(package_steps[0]);
	*ret_phases = phases;
	return 0;
}

void phases_free(struct phases *phases)
{
	if (!phases)
		return;
	free(phases->data);
	free(phases);
}
