/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a run, made from fork, exec and exit events. Threads share their
 * process. Which phase a process belongs to is told to the tree, not decided by it.
 */
#ifndef QP_COLLECTOR_PROCTREE_H
#define QP_COLLECTOR_PROCTREE_H

#include "collector/decode_event.h"
#include "collector/decode_map.h"
#include "rules/observation.h"

#define PROCESSES_MAX	       32768 /* of one run, those that ended included */
#define PROCESS_ARGV_BYTES_MAX 1024  /* kept of each; observations have them whole */
#define PROCESS_PENDING_MAX    16    /* failed execs that may yet turn out look-ups */

/* A failed exec, kept until it is known whether a later one of that name succeeded. */
struct pending_exec {
	char *asked; /* raw; what was tried last */
	char *name;  /* its last part */
	json_t *argv;
	uint64_t t_ns;
	uint32_t lookups;
	int error; /* positive errno */
};

struct process {
	uint32_t tgid;
	uint32_t ns_pid, ns_ppid; /* in the sandbox's pid namespace; ppid 0: unknown */
	uint64_t serial;	  /* names it once and for all, unlike its pid */
	struct process *parent;	  /* NULL: unknown. Lives as long as the tree. */
	bool has_fork;		  /* its fork was seen */
	bool has_exec;
	bool ran_node;
	bool runs_node;	   /* it is what it runs now */
	bool node_unheard; /* since the exec of node no read of a variable was seen */
	bool node_missed;  /* that stayed so until it ran something else */
	bool ended;
	bool outlived; /* was alive when its phase ended; so far */
	int phase;     /* QP-PHASE number, 0: none */
	enum observation_actor actor;
	enum observation_actor actor_after_exec; /* ACTOR_NONE: as it is */
	uint64_t start_ns, end_ns, outlived_ns;
	int32_t exit_code; /* as wait(2) gives it */
	char *exe, *cwd;   /* raw texts, NULL: unknown */
	char *argv;	   /* each argument with its NUL */
	size_t argv_len;
	bool argv_cut;
	char *package; /* raw name, NULL: unknown */
	char *script;  /* last name of the script that it runs, NULL: none */
	struct pending_exec pending[PROCESS_PENDING_MAX];
	size_t pending_cnt;
};

struct proctree {
	struct process **items; /* in the order of their appearance */
	size_t cnt, allocated;
	struct map live;     /* by tgid */
	struct map by_nspid; /* the last process that had the number */
};

void proctree_init(struct proctree *tree, const uint64_t seed[2]);
void proctree_clear(struct proctree *tree);

/* The live process with that tgid, or NULL. */
struct process *proctree_get(const struct proctree *tree, uint32_t tgid);

/* The last process that had that number inside, live or not; or NULL. */
struct process *proctree_by_nspid(const struct proctree *tree, int64_t ns_pid);

/* A process of whose fork nothing is known, at the first event it is seen in. 0, -ENOMEM,
 * -E2BIG beyond PROCESSES_MAX. */
int proctree_add(struct proctree *tree, const struct qp_event *head, struct process **ret_process);

/*
 * A fork: the new process is the child of @parent and begins with its phase, actor,
 * package, file, cwd and arguments. 0 with *ret_child NULL when it only made a thread;
 * errors as proctree_add.
 */
int proctree_fork(struct proctree *tree, struct process *parent, const struct kernel_event *event,
		  struct process **ret_child);

/* An exec that took place: takes file, cwd and arguments over. 0 or -ENOMEM. */
int proctree_exec(struct process *process, const struct kernel_event *event);

/* The end of the process, if it is that of its last thread. True when it is. */
bool proctree_exit(struct proctree *tree, struct process *process,
		   const struct kernel_event *event);

/* Whether @process is @ancestor or descends from it. */
bool process_descends(const struct process *process, const struct process *ancestor);

/* {"pid", "ppid", "actor", "package", "exe", "argv", "cwd", "startNs", "endNs", "exitCode",
 * "phase"}; times are since @started_ns. NULL when out of memory. */
json_t *process_json(const struct process *process, uint64_t started_ns);

#endif
