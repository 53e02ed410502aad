// SPDX-License-Identifier: Apache-2.0
/* Processes by their events. Nothing is freed before the tree is: parents stay reachable. */
#include "collector/proctree.h"

#include "base/cleanup.h"
#include "collector/decode_json.h"

#include <string.h>

#define NUMBERS_MAX (4 * PROCESSES_MAX) /* of processes and threads */

void proctree_init(struct proctree *tree, const uint64_t seed[2])
{
	*tree = (struct proctree){0};
	map_init(&tree->live, seed, PROCESSES_MAX);
	map_init(&tree->by_nspid, seed, NUMBERS_MAX);
}

static void process_free(struct process *process)
{
	if (!process)
		return;
	for (size_t i = 0; i < process->pending_cnt; i++) {
		free(process->pending[i].asked);
		free(process->pending[i].name);
		json_decref(process->pending[i].argv);
	}
	free(process->exe);
	free(process->cwd);
	free(process->argv);
	free(process->package);
	free(process->script);
	free(process);
}

DEFINE_CLEANUP(process, struct process *, process_free);

void proctree_clear(struct proctree *tree)
{
	for (size_t i = 0; i < tree->cnt; i++)
		process_free(tree->items[i]);
	free(tree->items);
	map_clear(&tree->live);
	map_clear(&tree->by_nspid);
	tree->items = NULL;
	tree->cnt = tree->allocated = 0;
}

static struct process *process_of(const uint64_t *value)
{
	return value ? (struct process *)(uintptr_t)*value : NULL;
}

struct process *proctree_get(const struct proctree *tree, uint32_t tgid)
{
	return process_of(map_get(&tree->live, &tgid, sizeof(tgid)));
}

struct process *proctree_by_nspid(const struct proctree *tree, int64_t ns_pid)
{
	uint32_t key = (uint32_t)ns_pid;

	if (ns_pid <= 0 || ns_pid > UINT32_MAX)
		return NULL;
	return process_of(map_get(&tree->by_nspid, &key, sizeof(key)));
}

/* Takes @process over once it is in the tree. */
static int proctree_put(struct proctree *tree, struct process *process)
{
	int r;

	if (tree->cnt >= PROCESSES_MAX)
		return -E2BIG;
	if (tree->cnt == tree->allocated) {
		size_t allocated = tree->allocated ? tree->allocated * 2 : 64;
		struct process **grown = realloc(tree->items, allocated * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		tree->items = grown;
		tree->allocated = allocated;
	}
	r = map_put(&tree->live, &process->tgid, sizeof(process->tgid), (uintptr_t)process);
	if (r == 0)
		r = map_put(&tree->by_nspid, &process->ns_pid, sizeof(process->ns_pid),
			    (uintptr_t)process);
	if (r < 0 && r != -E2BIG) {
		map_remove(&tree->live, &process->tgid, sizeof(process->tgid), NULL);
		return r;
	}
	process->serial = tree->cnt;
	tree->items[tree->cnt++] = process;
	return 0;
}

int proctree_add(struct proctree *tree, const struct qp_event *head, struct process **ret_process)
{
	_cleanup_(process) struct process *process = calloc(1, sizeof(*process));
	int r;

	if (!process)
		return -ENOMEM;
	process->tgid = head->tgid;
	process->ns_pid = head->ns_tgid;
	process->start_ns = head->time_ns;
	r = proctree_put(tree, process);
	if (r < 0)
		return r;
	*ret_process = steal_ptr(process);
	return 0;
}

static int copy_text(const char *text, char **ret_copy)
{
	*ret_copy = NULL;
	if (!text)
		return 0;
	*ret_copy = strdup(text);
	return *ret_copy ? 0 : -ENOMEM;
}

/* What a new process has from its parent. */
static int process_inherit(struct process *child, const struct process *parent)
{
	child->ns_ppid = parent->ns_pid;
	child->phase = parent->phase;
	child->actor = parent->actor;
	child->argv_cut = parent->argv_cut;
	child->runs_node = parent->runs_node;
	if (parent->argv_len) {
		child->argv = malloc(parent->argv_len);
		if (!child->argv)
			return -ENOMEM;
		memcpy(child->argv, parent->argv, parent->argv_len);
		child->argv_len = parent->argv_len;
	}
	if (copy_text(parent->exe, &child->exe) < 0 || copy_text(parent->cwd, &child->cwd) < 0 ||
	    copy_text(parent->package, &child->package) < 0)
		return -ENOMEM;
	return 0;
}

int proctree_fork(struct proctree *tree, struct process *parent, const struct kernel_event *event,
		  struct process **ret_child)
{
	_cleanup_(process) struct process *child = NULL;
	struct process *former;
	int r;

	*ret_child = NULL;
	if (event->fork.child_tgid == parent->tgid) {
		/* So that a signal to a thread finds its process; no harm if there is no room. */
		r = map_put(&tree->by_nspid, &event->fork.child_ns_tid,
			    sizeof(event->fork.child_ns_tid), (uintptr_t)parent);
		return r == -ENOMEM ? r : 0;
	}
	/* A number in use again: the end of its former bearer was lost. */
	former = proctree_get(tree, event->fork.child_tgid);
	if (former)
		former->ended = true;
	child = calloc(1, sizeof(*child));
	if (!child)
		return -ENOMEM;
	child->tgid = event->fork.child_tgid;
	child->ns_pid = event->fork.child_ns_tgid;
	child->start_ns = event->fork.child_start_ns;
	child->has_fork = true;
	child->parent = parent;
	r = process_inherit(child, parent);
	if (r == 0)
		r = proctree_put(tree, child);
	if (r < 0)
		return r;
	*ret_child = steal_ptr(child);
	return 0;
}

static int take_path(const struct kernel_event *event, unsigned int role, char **text)
{
	const struct event_field *field = event_field_find(event, QP_FIELD_PATH, role);
	char *taken;

	if (!field)
		return 0;
	taken = event_path_text(field);
	if (!taken)
		return -ENOMEM;
	free(*text);
	*text = taken;
	return 0;
}

int proctree_exec(struct process *process, const struct kernel_event *event)
{
	const struct event_field *argv = event_field_find(event, QP_FIELD_ARGV, 0);
	size_t len = argv ? argv->len : 0;

	process->has_exec = true;
	if (event->exec.parent_ns_tgid && !process->ns_ppid)
		process->ns_ppid = event->exec.parent_ns_tgid;
	process->argv_cut = len > PROCESS_ARGV_BYTES_MAX || (argv && argv->flags);
	if (len > PROCESS_ARGV_BYTES_MAX)
		len = PROCESS_ARGV_BYTES_MAX;
	free(process->argv);
	process->argv = NULL;
	process->argv_len = 0;
	if (len) {
		process->argv = malloc(len);
		if (!process->argv)
			return -ENOMEM;
		memcpy(process->argv, argv->data, len);
		process->argv_len = len;
	}
	if (take_path(event, QP_ROLE_EXE, &process->exe) < 0)
		return -ENOMEM;
	return take_path(event, QP_ROLE_CWD, &process->cwd);
}

bool proctree_exit(struct proctree *tree, struct process *process, const struct kernel_event *event)
{
	if (!event->exit.group_dead)
		return false;
	process->ended = true;
	process->end_ns = event->head.time_ns;
	process->exit_code = event->exit.code;
	map_remove(&tree->live, &process->tgid, sizeof(process->tgid), NULL);
	return true;
}

bool process_descends(const struct process *process, const struct process *ancestor)
{
	for (; process; process = process->parent)
		if (process == ancestor)
			return true;
	return false;
}

json_t *process_json(const struct process *process, uint64_t started_ns)
{
	const char *actor = observation_actor_name(process->actor);
	uint64_t start = process->start_ns > started_ns ? process->start_ns - started_ns : 0;
	uint64_t end = process->end_ns > started_ns ? process->end_ns - started_ns : 0;
	bool ended = process->ended && process->end_ns;

	return json_pack("{s:i, s:o, s:s?, s:o, s:o, s:o, s:b, s:o, s:I, s:o, s:o, s:i}", "pid",
			 (int)process->ns_pid, "ppid",
			 process->ns_ppid ? json_integer(process->ns_ppid) : json_null(), "actor",
			 actor, "package", json_escaped_text(process->package), "exe",
			 json_escaped_text(process->exe), "argv",
			 json_argv(process->argv, process->argv_len), "argvCut", process->argv_cut,
			 "cwd", json_escaped_text(process->cwd), "startNs", (json_int_t)start,
			 "endNs", ended ? json_integer((json_int_t)end) : json_null(), "exitCode",
			 ended ? json_integer(process->exit_code) : json_null(), "phase",
			 process->phase);
}
