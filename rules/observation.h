/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was seen, in the words that the rules judge by. Decoders of any evidence (kernel
 * log, strace text, gVisor JSON) make observations; nothing here knows where they came
 * from.
 */
#ifndef QP_RULES_OBSERVATION_H
#define QP_RULES_OBSERVATION_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum observation_kind {
	OBSERVATION_SPAWN,
	OBSERVATION_FILE_WRITE,
	OBSERVATION_FILE_CREATE,
	OBSERVATION_FILE_DELETE,
	OBSERVATION_FILE_RENAME,
	OBSERVATION_FILE_LINK,
	OBSERVATION_FILE_META,
	OBSERVATION_FILE_READ, /* sensitive places only */
	OBSERVATION_NET_DNS,
	OBSERVATION_NET_TCP,
	OBSERVATION_NET_UDP,
	OBSERVATION_NET_OTHER,
	OBSERVATION_NET_UNIX,
	OBSERVATION_NET_LISTEN,
	OBSERVATION_ENV_READ,
	OBSERVATION_EXEC_BROUGHT,
	OBSERVATION_ENV_PROBE,
	OBSERVATION_TAMPER,
	OBSERVATION_LIMIT,
	OBSERVATION_LOAD,
	OBSERVATION_COMPLETENESS,
	OBSERVATION_KIND_CNT,
};

enum observation_actor {
	ACTOR_NONE, /* null in the receipt */
	ACTOR_PACKAGE,
	ACTOR_NPM,
	ACTOR_HARNESS,
	ACTOR_STAGE,
	ACTOR_CNT,
};

enum observation_outcome {
	OUTCOME_NONE, /* null: nothing that can succeed or fail */
	OUTCOME_EFFECTED,
	OUTCOME_ATTEMPTED,
	OUTCOME_UNDETERMINED,
	OUTCOME_CNT,
};

enum tristate { TRISTATE_NULL, TRISTATE_FALSE, TRISTATE_TRUE };

/* All strings are owned by the observation and already escaped (base/escape.h); NULL is
 * null in the receipt. */
struct observation {
	enum observation_kind kind;
	enum observation_actor actor;
	enum observation_outcome outcome;
	uint64_t t_ns; /* since the start of the run */
	int64_t pid;   /* tgid in the sandbox's pid namespace; -1: null */
	char *exe;     /* the file the kernel runs in that process */
	char *asked;   /* the path it was called by, where it differs */
	char *package; /* name of the package that acted */
	char *path;
	char *path2;	 /* the new name of a rename, the link of a link */
	char *dest;	 /* host name, or address */
	char *orig_dest; /* "address:port", "[address]:port" */
	int64_t port;	 /* -1: null */
	char *sni;
	char *proto;
	enum tristate blocked;
	enum tristate payload;
	json_t *extra; /* object: members of this kind only (argv, queries, http, ...); or NULL */
};

struct observations {
	struct observation *items;
	size_t cnt;
	size_t allocated;
};

const char *observation_kind_name(enum observation_kind kind);
const char *observation_actor_name(enum observation_actor actor);	/* NULL for ACTOR_NONE */
const char *observation_outcome_name(enum observation_outcome outcome); /* likewise */

/* The kind, actor or outcome with that name, or -1. */
int observation_kind_parse(const char *name);
int observation_actor_parse(const char *name);
int observation_outcome_parse(const char *name);

/* An observation with every field null. */
void observation_init(struct observation *observation);
void observation_clear(struct observation *observation);

/* Appends and takes over what *observation holds, also on failure. 0 or -ENOMEM. */
int observations_add_take(struct observations *list, struct observation *observation);
void observations_clear(struct observations *list);

/* Puts them in the receipt's order: by time, those of one instant as they were added, and
 * the completeness markers last. */
void observations_sort(struct observations *list);

#endif
