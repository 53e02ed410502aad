/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the decoder share. Nobody else includes this. */
#ifndef QP_COLLECTOR_DECODE_STATE_H
#define QP_COLLECTOR_DECODE_STATE_H

#include "collector/decode_call.h"
#include "collector/decode_event.h"
#include "collector/decode_json.h"
#include "collector/decode_map.h"
#include "collector/decode_order.h"
#include "collector/decode_text.h"
#include "collector/log.h"
#include "collector/proctree.h"
#include "rules/derive.h"

#include <netinet/in.h>

#define OBSERVATIONS_MAX     20000
#define AREA_LISTED_MAX	     2000 /* observations of package files within the areas */
#define SINKHOLE_RECORDS_MAX 20000
#define FLOWS_MAX	     20000
#define HOOKED_MAX	     1024
#define OWN_ADDRESSES_MAX    4
#define RESOLVED_WAITING_MAX 65536
#define SYMLINKS_MAX	     65536
#define SCAN_BUDGET	     20000000
#define BROUGHT_MAX	     400000
#define SEEN_MAX	     400000
#define ENTERS_MAX	     1024 /* calls under way at one time */
#define ERRORS_MAX	     1000
#define OUTPUT_BYTES_MAX     (4U << 20)
#define ENV_NAMES_MAX	     4096 /* of variables, by package and program */
#define DECOYS_MAX	     256
#define AREAS_MAX	     8
#define PHASES_MAX	     7 /* numbers 1 to 6, docs/init-protocol.md */

enum run_mode { MODE_RUN, MODE_EXEC, MODE_COLLECT };

enum phase {
	PHASE_NONE,
	PHASE_COPY,
	PHASE_SCAN,
	PHASE_REBUILD,
	PHASE_HARNESS,
	PHASE_DONE,
	PHASE_RUN
};

struct phase_state {
	bool begun, ended; /* by the records */
	bool beat[2];	   /* heartbeats of both edges */
	json_int_t rc;
	json_int_t pid; /* of its process inside, -1: unknown */
	struct process *process;
	uint64_t end_ns;
};

/* What a decoder remembers of an observation beside the observation itself. */
struct note {
	uint8_t flags; /* NOTE_* */
	uint8_t phase;
	uint64_t bytes; /* that were written, as far as they are known */
};

#define NOTE_UNRESOLVED	   0x01 /* the path is not certain: paths-resolved */
#define NOTE_UNMATCHED	   0x02 /* should have a sinkhole record and has none */
#define NOTE_UNEXPLAINED   0x04 /* a sinkhole record without a kernel event */
#define NOTE_BYTES	   0x08 /* something was written, and it is known how much */
#define NOTE_BYTES_UNKNOWN 0x10
#define NOTE_BY_LINKS	   0x20 /* place.by_links */

/* Where a call acts. */
struct place {
	char *text;    /* absolute raw path, NULL: unknown; owned */
	bool certain;  /* the kernel's, or beyond doubt */
	bool cut;      /* truncated, or the task's memory could not be read */
	bool fault;    /* no part of it could be read */
	bool nameless; /* no file of a file system: pipe, socket, memfd */
	bool has_path;
	bool still_exists; /* the collector found the name after the call */
	bool was_looked_up;
	bool by_links;	     /* certain only because of what is known of links of this run */
	struct qp_path path; /* the kernel's, with has_path */
};

/* A name that is a link, or was one. */
struct symlink {
	bool by_package;
	bool gone;     /* removed, or something else was put in its place */
	bool disputed; /* two changes at one time, or of unknown effect: it may be otherwise */
	uint64_t settled_ns; /* end of its last change */
	char target[];
};

/* Where a text leads. */
struct way {
	char *text; /* owned */
	char *legs; /* all that it led over, each with its NUL; owned */
	size_t legs_len;
	bool through;	 /* it led over a link of this run, or may have */
	bool by_package; /* of the package's making */
	bool settled;	 /* no doubt about any of them */
};

struct flow; /* decode_net.h */

struct decoder {
	struct run_facts facts;
	struct note *notes; /* one for each of facts.observations */
	size_t notes_allocated;
	uint64_t seed[2];

	/* From the preamble. */
	enum run_mode mode;
	uint64_t nonce[2]; /* halves of 48 bits */
	uint64_t started_ns;
	char *areas[AREAS_MAX];
	size_t areas_cnt;
	const char *home; /* the area that is somebody's, or NULL */
	char *decoys[DECOYS_MAX];
	size_t decoys_cnt;
	char *main_package;

	/* The stream. */
	struct order *order;
	struct sequences *sequences;
	uint64_t records, events, last_ns;
	uint64_t malformed;
	bool has_trailer, after_trailer;
	char trace_reason[256]; /* why kernel-trace is not ok; "" while it is */
	char sinkhole_reason[128];

	/* Processes and phases. */
	struct proctree tree;
	uint32_t init_tgid; /* of PID 1, 0: not seen */
	bool init_has_exec;
	bool package_began; /* a phase whose processes are the package's */
	int phase_now;	    /* by heartbeats and records */
	struct phase_state phases[PHASES_MAX];

	/* Paths. */
	struct map entered;    /* tid -> struct entered_bytes * */
	struct map decoy_uses; /* cpu, seq -> json_t * */
	struct map resolved;   /* cpu, seq, role -> struct resolved * */
	struct map symlinks;   /* path -> struct symlink * */
	struct map seen;       /* process, kind, path -> index + 1, or 0 when not listed */
	struct map doubted;    /* a path that was there after its removal -> index + 1 */
	struct map written;    /* inode or path that the package wrote -> 1 */
	struct map files;      /* process, inode that it opened to write -> as in `seen` */
	struct map sum_places; /* number of a sum of bytes -> as in `seen` */
	struct map sums;       /* number of a sum of bytes -> bytes */
	struct map env_read;   /* package, program, name of a variable -> 1 */
	bool written_full, symlinks_full;
	bool joined_late;     /* processes were there before, as it turned out */
	bool bytes_untold;    /* some file may have got more bytes than were summed up */
	bool names_doubted;   /* a change of unknown place: any link may be another one */
	uint64_t scan_budget; /* entries that may still be looked at for moved folders */
	uint64_t area_listed;
	uint64_t area_unresolved; /* of those that are not listed */
	uint64_t area_by_links;	  /* likewise */

	/* The network. */
	struct flow *flows;
	size_t flows_cnt, flows_allocated;
	struct map flow_index; /* cookie or port, and destination -> index */
	struct map answers;    /* address -> index in the sinkhole's log */
	struct map listens;    /* process, what and where -> 0 */
	struct {
		uint32_t tid;
		uint8_t hook; /* enum qp_hook */
		size_t flow;
	} hooked[HOOKED_MAX]; /* addresses whose call has not returned yet */
	size_t hooked_cnt;
	uint8_t odd_protocols[32]; /* bits of those that a socket was made for */
	uint64_t sinkhole_records; /* in the log, "ready" and "end" aside */
	bool sinkhole_ready_logged;
	struct in6_addr own[OWN_ADDRESSES_MAX]; /* the sandbox's, IPv4 as ::ffff:a.b.c.d */
	size_t own_cnt;

	bool has_uring;	    /* some process has an io_uring */
	uint32_t uring_pid; /* of the package's process that has one, 0: none */
};

/* What a `resolved` record says; missing numbers are 0, a missing role -1. */
struct resolved_record {
	json_int_t cpu, seq, role;
	bool exists;
	const char *path; /* raw, borrowed */
	size_t path_len;  /* 0: none */
};

/* decode_resolved.c: takes one that is spelt as the collector does. 1; 0 when it is not, and
 * a JSON reader has to look at it; -ENOMEM. */
int resolved_take_plain(struct decoder *d, const struct log_record *record);

/* The same of any other spelling. */
int resolved_take_json(struct decoder *d, const json_t *object);

/* One event as the handlers see it. */
struct step {
	const struct kernel_event *event;
	const struct kernel_event *enter;  /* of the same call, or NULL */
	const struct kernel_event *object; /* what the call acted on, or NULL */
	struct process *process;
	const struct call_info *info; /* of a call */
	bool alone; /* looked at for another call's sake: who else is under way does not count */
};

/* Notes why the kernel's trace is not complete; the first reason stays. */
void trace_fail(struct decoder *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline uint64_t since_start(const struct decoder *d, uint64_t time_ns)
{
	return time_ns > d->started_ns ? time_ns - d->started_ns : 0;
}

/* Whether @path is in a folder that the package may write to. */
bool in_areas(const struct decoder *d, const char *path);

/*
 * Begins an observation of @process (NULL: none known) with its pid, exe, actor and
 * package. 0 or -ENOMEM; the caller clears it or hands it to observe_take.
 */
int observation_begin(struct decoder *d, struct observation *ret_observation,
		      enum observation_kind kind, const struct process *process, uint64_t time_ns);

/* Sets a member of @observation's extra object; takes @value, NULL is -ENOMEM. */
int observation_set(struct observation *observation, const char *key, json_t *value);

/*
 * Adds it to the facts, with its note. 0, -ENOMEM, or -E2BIG when there are too many, which
 * the trace's marker then says; callers go on. *ret_index may be NULL.
 */
int observe_take(struct decoder *d, struct observation *observation, struct note note,
		 size_t *ret_index);

/* 0 for -E2BIG, which is noted already. */
static inline int bounded(int r)
{
	return r == -E2BIG ? 0 : r;
}

/* The outcome of a call by what it returned. */
enum observation_outcome call_outcome(const struct kernel_event *event);

/* Adds "call", and "errno" where it failed. */
int observation_set_call(struct observation *observation, const struct step *step);

/* decode_records.c: the records that hold JSON. */
int decode_record(struct decoder *d, const struct log_record *record);

/* decode_phase.c */
int phase_record(struct decoder *d, const json_t *record);
int phase_heartbeat(struct decoder *d, const struct step *step);
void phase_new_child(struct decoder *d, struct process *child);
void phase_exec(struct decoder *d, struct process *process);
int phase_outlived(struct decoder *d);
void actor_of_unknown(const struct decoder *d, struct process *process);
int phase_number(const char *name);
const char *phase_name(int number);

/* decode_kernel.c */
int decode_kernel_event(struct decoder *d, const void *bytes, size_t len);
int decode_kernel_end(struct decoder *d);

/* decode_entered.c: a call's entry, with its object where the kernel told of it */
struct entered {
	void *bytes; /* owned; of both events */
	struct kernel_event enter, object;
	bool has_object;
};

/* A thread is in one call at a time; of io_uring's requests each has a number. */
struct entered_key {
	uint32_t tid;
	uint32_t request;
};
struct entered_key entered_key(const struct kernel_event *event);
/* Whether a request of that process waits for its result, and which. */
bool entered_request_of(const struct decoder *d, uint32_t tgid, struct entered_key *ret_key);
int entered_put(struct decoder *d, const struct kernel_event *event, const void *bytes, size_t len);
int entered_add_object(struct decoder *d, const struct kernel_event *event, const void *bytes,
		       size_t len);
/* 1 and the call that the thread is in; 0: none. *ret_entered need not be set before, and is
 * to be cleared after, in either case. */
int entered_take(struct decoder *d, struct entered_key key, struct entered *ret_entered);
/* NULL when the kernel told of none. Borrowed. */
const struct kernel_event *entered_object(const struct entered *entered);
void entered_clear(struct entered *entered);
/* The entry at the map's place @at, which stays; false when there is none. */
bool entered_look(const struct decoder *d, size_t at, struct kernel_event *ret_enter);
static inline void cleanup_entered(struct entered *entered)
{
	entered_clear(entered);
}
void entered_clear_all(struct decoder *d);

/* decode_place.c */
int place_of_field(const struct kernel_event *event, unsigned int role, struct place *ret_place);
int place_of_argument(struct decoder *d, const struct step *step, unsigned int arg, bool follow,
		      struct place *ret_place);
void place_clear(struct place *place);
static inline void cleanup_place(struct place *place)
{
	place_clear(place);
}
/* `decoy-use` records wait for their event. */
int decoy_use_put(struct decoder *d, json_t *record);
/* What is known of @event goes into *observation; NULL: it is dropped. */
int decoy_use_take(struct decoder *d, const struct kernel_event *event,
		   struct observation *observation);
void decoy_uses_clear(struct decoder *d);

int resolved_put(struct decoder *d, const struct resolved_record *record);
void resolved_drop(struct decoder *d, const struct step *step);

/* decode_symlink.c: the links that were made while we watched, by calls that worked */
int symlink_put(struct decoder *d, const char *path, const char *target, const struct step *step);
int symlink_moved(struct decoder *d, const char *from, const char *to, const struct step *step);
int symlink_exchanged(struct decoder *d, const char *one, const char *other,
		      const struct step *step);
int symlink_linked(struct decoder *d, const char *from, const char *to, const struct step *step);
void symlink_removed(struct decoder *d, const char *path, const struct step *step);
/* NULL for a name that never was a link of this run. */
const struct symlink *symlink_find(const struct decoder *d, const char *path);
/* Whether the name was what @link says all the time from the begin of @step's call. */
bool symlink_is_settled(const struct symlink *link, const struct step *step);
void symlinks_clear(struct decoder *d);

/* decode_way.c: follows links of this run in the absolute @path */
int way_find(const struct decoder *d, const struct step *step, const char *path, bool last_too,
	     struct way *ret_way);
/* Whether a call of others that has not returned yet makes it doubtful. */
int way_check_others(struct decoder *d, const struct step *step, struct way *way);
void way_clear(struct way *way);
static inline void cleanup_way(struct way *way)
{
	way_clear(way);
}

/* decode_written.c: which files were made by whom, and the code among them */
int written_put(struct decoder *d, const struct process *by, const struct place *place);
int written_put_path(struct decoder *d, const struct process *by, const char *path);
bool written_by_package(const struct decoder *d, const struct place *place);
int written_moved(struct decoder *d, const char *from, const char *to);
int brought_check_exec(struct decoder *d, const struct step *step);
int brought_check_read(struct decoder *d, const struct step *step, const struct place *place);
int brought_observe(struct decoder *d, const struct step *step, const struct place *place,
		    const char *why);

/* decode_open.c, decode_file.c */
int decode_open(struct decoder *d, const struct step *step);
int decode_file_call(struct decoder *d, const struct step *step);
int decode_enter_alone(struct decoder *d, const struct step *step);
int file_observe(struct decoder *d, const struct step *step, enum observation_kind kind,
		 const struct place *place, const struct place *place2);

/* decode_bytes.c: what writes came to */
/* The process opened or wrote to @place, and the observation @seen, as in `seen`, says so. */
int bytes_place(struct decoder *d, const struct process *process, const struct place *place,
		uint64_t seen);
int bytes_write(struct decoder *d, const struct step *step, const struct place *place);
/* How much the process writes to @place cannot be known. */
void bytes_unknown(struct decoder *d, const struct process *process, const struct place *place);
int bytes_take(struct decoder *d, const json_t *record);
/* Once all is read: before the observations are sorted, and once the markers are known. */
void bytes_add_up(struct decoder *d);
int bytes_fill(struct decoder *d);

/* decode_read.c */
int decode_read(struct decoder *d, const struct step *step, const struct place *place);

/* decode_env.c */
int decode_env(struct decoder *d, const struct step *step);

/* decode_exec.c */
int decode_exec(struct decoder *d, const struct step *step);
int decode_exec_failed(struct decoder *d, const struct step *step);
int exec_pending_flush(struct decoder *d, struct process *process);

/* decode_tamper.c */
#define TAMPER_NO_TARGET (-1)
int decode_tamper(struct decoder *d, const struct step *step);
int tamper_observe(struct decoder *d, const struct step *step, const struct place *place,
		   int64_t target);

/* decode_onto.c */
int decode_onto(struct decoder *d, const struct step *step);
int decode_kill(struct decoder *d, const struct step *step);

/* decode_foreign.c: opens of what is another process's. @opened: what the open returned, NULL
 * when it failed. 1 when it was such a one, and is told of. */
int decode_foreign(struct decoder *d, const struct step *step, const struct place *opened);

/* decode_uring.c */
void uring_join(struct kernel_event *result, const struct kernel_event *submission);
int decode_uring_command(struct decoder *d, const struct step *step);
void uring_check(struct decoder *d);

/* decode_net.c, decode_socket.c, decode_join.c */
int decode_socket(struct decoder *d, const struct step *step);
int decode_bind(struct decoder *d, const struct step *step);
int decode_unix(struct decoder *d, const struct step *step);
int decode_net_call(struct decoder *d, const struct step *step);
int decode_net_address(struct decoder *d, const struct step *step);
int decode_net_end(struct decoder *d);
void flows_clear(struct decoder *d);

/* decode_markers.c: what is to be said once all is read */
int decode_finish(struct decoder *d, bool whole);

#endif
