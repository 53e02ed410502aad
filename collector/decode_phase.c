// SPDX-License-Identifier: Apache-2.0
/*
 * Phases and actors: which process is whose. The heartbeats of PID 1 are kernel events and
 * cut the stream where a phase begins and ends; the phase records, which qp wrote when it
 * heard of it, say the same a little later, with the process's number and its status.
 */
#include "collector/decode_state.h"

#include "bpf/syscalls.h"

#include <string.h>

#define INIT_PID 1
/* A process whose end was under way when its phase ended is no straggler. */
#define OUTLIVED_GRACE_NS 100000000ULL

static const char *const names[PHASES_MAX] = {
	[PHASE_COPY] = "copy",	     [PHASE_SCAN] = "scan", [PHASE_REBUILD] = "rebuild",
	[PHASE_HARNESS] = "harness", [PHASE_DONE] = "done", [PHASE_RUN] = "run",
};

int phase_number(const char *name)
{
	for (int i = 1; i < PHASES_MAX; i++)
		if (name && !strcmp(names[i], name))
			return i;
	return PHASE_NONE;
}

const char *phase_name(int number)
{
	return number > 0 && number < PHASES_MAX ? names[number] : NULL;
}

static bool runs_package(int phase)
{
	return phase == PHASE_REBUILD || phase == PHASE_HARNESS || phase == PHASE_RUN;
}

static void phase_began(struct decoder *d, int phase)
{
	d->phase_now = phase;
	d->init_has_exec = true; /* even if that event was lost */
	if (runs_package(phase))
		d->package_began = true;
}

/* The process that PID 1 started for a phase. */
static void phase_take_process(struct decoder *d, int phase, struct process *process)
{
	d->phases[phase].process = process;
	process->phase = phase;
	switch (phase) {
	case PHASE_REBUILD:
		process->actor = ACTOR_NPM;
		break;
	case PHASE_HARNESS:
		/* Until its program begins it is a copy of PID 1. */
		process->actor_after_exec = ACTOR_PACKAGE;
		break;
	case PHASE_RUN:
		process->actor = ACTOR_PACKAGE;
		break;
	default:
		process->actor = ACTOR_STAGE;
		break;
	}
}

static void mark_outlivers(struct decoder *d, int phase, uint64_t now_ns)
{
	for (size_t i = 0; i < d->tree.cnt; i++) {
		struct process *process = d->tree.items[i];

		if (process->ended || process->outlived || process->phase != phase ||
		    process->actor != ACTOR_PACKAGE)
			continue;
		process->outlived = true;
		process->outlived_ns = now_ns;
	}
}

static void phase_ended(struct decoder *d, int phase, uint64_t now_ns)
{
	if (d->phases[phase].end_ns)
		return;
	d->phases[phase].end_ns = now_ns;
	mark_outlivers(d, phase, now_ns);
	if (d->phase_now == phase)
		d->phase_now = PHASE_NONE;
}

int phase_heartbeat(struct decoder *d, const struct step *step)
{
	const uint64_t *args = step->event->call.args;
	uint64_t phase = args[3], edge = args[4];

	if (args[0] != QP_HEARTBEAT || step->event->head.tgid != d->init_tgid ||
	    step->event->call.abi != QP_ABI_NATIVE)
		return 0;
	if (args[1] != d->nonce[0] || args[2] != d->nonce[1] || !phase || phase >= PHASES_MAX ||
	    edge > 1)
		return 0;
	d->phases[phase].beat[edge] = true;
	if (edge == 0)
		phase_began(d, (int)phase);
	else
		phase_ended(d, (int)phase, step->event->head.time_ns);
	return 0;
}

/* In the order of time among the events. Its pid was noted when the record was read. */
int phase_record(struct decoder *d, const json_t *record)
{
	int phase = phase_number(json_member_text(record, "phase"));
	const char *edge = json_member_text(record, "edge");
	uint64_t now_ns = (uint64_t)json_member_int(record, "t_ns", (json_int_t)d->last_ns);
	struct phase_state *state = &d->phases[phase];

	if (!phase || !edge)
		return 0;
	if (!strcmp(edge, "begin")) {
		phase_began(d, phase);
	} else if (!strcmp(edge, "end")) {
		phase_ended(d, phase, now_ns);
	}
	/* The fork came before anything told whose it is. */
	if (!state->process && state->pid > 0) {
		struct process *process = proctree_by_nspid(&d->tree, state->pid);

		if (process && !process->ended && process->ns_ppid == INIT_PID)
			phase_take_process(d, phase, process);
	}
	return 0;
}

void phase_new_child(struct decoder *d, struct process *child)
{
	if (d->mode == MODE_COLLECT)
		return;
	if (child->parent->actor == ACTOR_NPM)
		child->actor = ACTOR_PACKAGE;
	if (child->parent->tgid != d->init_tgid)
		return;
	for (int i = 1; i < PHASES_MAX; i++) {
		const struct phase_state *state = &d->phases[i];

		if (state->process || state->pid != child->ns_pid)
			continue;
		phase_take_process(d, i, child);
		return;
	}
	if (d->phase_now && !d->phases[d->phase_now].process && d->phases[d->phase_now].pid <= 0)
		phase_take_process(d, d->phase_now, child);
}

void phase_exec(struct decoder *d, struct process *process)
{
	if (process->tgid == d->init_tgid)
		d->init_has_exec = true;
	if (process->actor_after_exec == ACTOR_NONE)
		return;
	process->actor = process->actor_after_exec;
	process->actor_after_exec = ACTOR_NONE;
}

/* One whose fork was not seen: before the package's time it is of the runtime; later the
 * worst is taken for true. */
void actor_of_unknown(const struct decoder *d, struct process *process)
{
	if (d->mode == MODE_COLLECT)
		process->actor = ACTOR_PACKAGE;
	else if (process->tgid == d->init_tgid)
		process->actor = ACTOR_STAGE;
	else
		process->actor = d->package_began ? ACTOR_PACKAGE : ACTOR_STAGE;
}

int phase_outlived(struct decoder *d)
{
	for (size_t i = 0; i < d->tree.cnt; i++) {
		const struct process *process = d->tree.items[i];
		struct observation observation;
		int r;

		if (!process->outlived ||
		    (process->ended && process->end_ns <= process->outlived_ns + OUTLIVED_GRACE_NS))
			continue;
		r = observation_begin(d, &observation, OBSERVATION_LIMIT, process,
				      process->outlived_ns);
		if (r < 0)
			return r;
		observation.outcome = OUTCOME_EFFECTED;
		if (observation_set(&observation, "what", json_string("outlived-phase")) < 0 ||
		    observation_set(&observation, "phase", json_string(names[process->phase])) <
			    0 ||
		    observation_set(&observation, "argv",
				    json_argv(process->argv, process->argv_len)) < 0) {
			observation_clear(&observation);
			return -ENOMEM;
		}
		r = bounded(observe_take(d, &observation, (struct note){0}, NULL));
		if (r < 0)
			return r;
	}
	return 0;
}
