// SPDX-License-Identifier: Apache-2.0
/* Programs that were started, and those that could not be. */
#include "collector/decode_state.h"

#include "base/escape.h"

#include <string.h>

static const char node_name[] = "node";

static char *string_of(const struct kernel_event *event, unsigned int role)
{
	const struct event_field *field = event_field_find(event, QP_FIELD_STRING, role);

	return field && !(field->flags & QP_FIELD_FAULT) ? event_string_text(field) : NULL;
}

/* The arguments, and whether they are all of them. */
static int set_argv(struct observation *observation, const struct kernel_event *event,
		    unsigned int role)
{
	const struct event_field *field = event_field_find(event, QP_FIELD_ARGV, role);
	int r = observation_set(observation, "argv",
				field ? json_argv(field->data, field->len) : json_array());

	if (r == 0 && (!field || field->flags))
		r = observation_set(observation, "argvCut", json_true());
	return r;
}

static int spawn_fill(struct observation *observation, const struct step *step)
{
	_cleanup_free_ char *asked = string_of(step->event, QP_ROLE_ASKED);
	_cleanup_free_ char *interp = string_of(step->event, QP_ROLE_INTERP);
	int r = set_argv(observation, step->event, 0);

	observation->outcome = OUTCOME_EFFECTED;
	if (r == 0 && asked && (!step->process->exe || strcmp(asked, step->process->exe) != 0)) {
		observation->asked = escape_bytes(asked, strlen(asked));
		r = observation->asked ? 0 : -ENOMEM;
	}
	if (r == 0 && asked && interp && strcmp(asked, interp) != 0)
		r = observation_set(observation, "interp", json_escaped_text(interp));
	return r;
}

static int spawn_observe(struct decoder *d, const struct step *step)
{
	struct observation observation;
	int r = observation_begin(d, &observation, OBSERVATION_SPAWN, step->process,
				  step->event->head.time_ns);

	if (r < 0)
		return r;
	r = spawn_fill(&observation, step);
	if (r == 0)
		r = decoy_use_take(d, step->event, &observation);
	if (r < 0) {
		observation_clear(&observation);
		return r;
	}
	return bounded(observe_take(d, &observation,
				    (struct note){.phase = (uint8_t)step->process->phase}, NULL));
}

/* A failed exec for which no later one made up. */
static int pending_observe(struct decoder *d, const struct process *process,
			   const struct pending_exec *pending)
{
	struct observation observation;
	const char *name = errno_name(pending->error);
	int r = observation_begin(d, &observation, OBSERVATION_SPAWN, process,
				  d->started_ns + pending->t_ns);

	if (r < 0)
		return r;
	observation.outcome = OUTCOME_ATTEMPTED;
	observation.asked = escape_bytes(pending->asked, strlen(pending->asked));
	if (!observation.asked ||
	    observation_set(&observation, "argv",
			    pending->argv ? json_incref(pending->argv) : json_array()) < 0 ||
	    observation_set(&observation, "errno",
			    name ? json_string(name) : json_integer(pending->error)) < 0 ||
	    observation_set(&observation, "lookups", json_integer(pending->lookups)) < 0) {
		observation_clear(&observation);
		return -ENOMEM;
	}
	return bounded(observe_take(d, &observation,
				    (struct note){.phase = (uint8_t)process->phase}, NULL));
}

static void pending_clear(struct pending_exec *pending)
{
	free(pending->asked);
	free(pending->name);
	json_decref(pending->argv);
	*pending = (struct pending_exec){0};
}

int exec_pending_flush(struct decoder *d, struct process *process)
{
	int r = 0;

	for (size_t i = 0; i < process->pending_cnt; i++) {
		if (r == 0)
			r = pending_observe(d, process, &process->pending[i]);
		pending_clear(&process->pending[i]);
	}
	process->pending_cnt = 0;
	return r;
}

/* A shell and execvp try each folder of PATH: those tries were no attempts of their own. */
static void pending_forget(struct process *process, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < process->pending_cnt; i++) {
		if (!strcmp(process->pending[i].name, name))
			pending_clear(&process->pending[i]);
		else
			process->pending[kept++] = process->pending[i];
	}
	process->pending_cnt = kept;
}

static int pending_put(struct decoder *d, const struct step *step, char **asked, unsigned int arg)
{
	struct process *process = step->process;
	const struct event_field *argv = event_field_find(step->event, QP_FIELD_ARGV, arg + 1);
	const char *name = path_base(*asked);
	struct pending_exec *pending;
	int r;

	for (size_t i = 0; i < process->pending_cnt; i++) {
		pending = &process->pending[i];
		if (strcmp(pending->name, name) != 0)
			continue;
		free(pending->asked);
		pending->asked = steal_ptr(*asked);
		pending->error = (int)-step->event->call.ret;
		pending->lookups++;
		return 0;
	}
	if (process->pending_cnt == PROCESS_PENDING_MAX) {
		r = exec_pending_flush(d, process);
		if (r < 0)
			return r;
	}
	pending = &process->pending[process->pending_cnt];
	pending->name = strdup(name);
	pending->argv = argv ? json_argv(argv->data, argv->len) : json_array();
	pending->asked = steal_ptr(*asked);
	pending->t_ns = since_start(d, step->event->head.time_ns);
	pending->error = (int)-step->event->call.ret;
	pending->lookups = 1;
	process->pending_cnt++;
	return pending->name && pending->argv ? 0 : -ENOMEM;
}

int decode_exec_failed(struct decoder *d, const struct step *step)
{
	unsigned int arg = step->info->roles[0] == QP_ARG_PATH ? 0 : 1;
	const struct event_field *field = event_field_find(step->event, QP_FIELD_STRING, arg);
	_cleanup_free_ char *asked = NULL;
	int64_t ret = step->event->call.ret;

	if (step->process->actor != ACTOR_PACKAGE || ret >= 0 || ret < -4095)
		return 0;
	if (!field || field->flags & QP_FIELD_FAULT) /* a pointer to nowhere */
		return 0;
	asked = event_string_text(field);
	if (!asked)
		return -ENOMEM;
	return pending_put(d, step, &asked, arg);
}

/* A script's package is told by the folder its shell starts in; its children share it. */
static int attribute(struct decoder *d, struct process *process)
{
	bool fresh = !process->parent || process->parent->actor == ACTOR_NPM;

	if (process->actor != ACTOR_PACKAGE || d->mode == MODE_COLLECT || !process->cwd)
		return 0;
	if (process->package && !fresh)
		return 0;
	free(process->package);
	process->package = path_package(process->cwd);
	return 0;
}

static void node_note(struct process *process)
{
	process->node_missed |= process->node_unheard;
	process->runs_node = process->exe && !strcmp(path_base(process->exe), node_name);
	process->node_unheard = process->runs_node;
	process->ran_node |= process->runs_node;
}

int decode_exec(struct decoder *d, const struct step *step)
{
	struct process *process = step->process;
	_cleanup_free_ char *asked = string_of(step->event, QP_ROLE_ASKED);
	bool by_package = process->actor == ACTOR_PACKAGE;
	int r;

	if (asked)
		pending_forget(process, path_base(asked));
	r = exec_pending_flush(d, process);
	if (r == 0)
		r = proctree_exec(process, step->event);
	if (r < 0)
		return r;
	node_note(process);
	phase_exec(d, process);
	r = attribute(d, process);
	if (r == 0 && by_package)
		r = spawn_observe(d, step);
	if (r == 0 && !by_package)
		r = decoy_use_take(d, step->event, NULL);
	return r < 0 || !by_package ? r : brought_check_exec(d, step);
}
