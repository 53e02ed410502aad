/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a decoder hands to the rules: the facts of one run, of which the receipt is made.
 * A receipt is a pure function of this; no clock, host or environment is asked.
 */
#ifndef QP_RULES_DERIVE_H
#define QP_RULES_DERIVE_H

#include "rules/observation.h"

#include <stdbool.h>

/* One completeness marker, in the order of the receipt. */
enum marker {
	MARKER_HEARTBEAT,      /* instrumentation-heartbeat */
	MARKER_PATHS_RESOLVED, /* paths-resolved */
	MARKER_KERNEL_TRACE,   /* kernel-trace */
	MARKER_SINKHOLE_LOG,   /* sinkhole-log */
	MARKER_ENDED_NORMALLY, /* ended-normally */
	MARKER_HARNESS_RAN,    /* harness-ran */
	MARKER_CNT,
};

struct marker_state {
	int ok;		/* 0 or 1 */
	json_t *detail; /* object; why it is not ok */
};

/* All objects are owned; NULL where the evidence has none. */
struct run_facts {
	json_t *preamble;
	json_t *download;
	json_t *sandbox;
	json_t *scan;
	json_t *load;
	json_t *end;
	json_t *teardown;
	json_t *sinkhole_end;
	json_t *packages;
	json_t *decoys;
	json_t *rules; /* {"name", "text"} */
	json_t *trailer;
	json_t *sinkhole_log; /* array of the sinkhole's records, without ready and end */
	json_t *errors;	      /* array of the parts that failed */
	json_t *log_hits;     /* array: {"record", "type", "pattern"}: credentials in the log */
	bool log_has_secret;  /* also when that array is full */
	json_t *roles;	   /* {"stagePid", "npmPid", "harnessPid", "scanPid"}, null where unknown */
	json_t *processes; /* array: {"pid", "ppid", "actor", "exe", "argv", ...} */
	uint64_t processes_total; /* those that are not among them too */
	char *output;		  /* the sandbox's output, escaped */
	struct marker_state markers[MARKER_CNT];
	struct observations observations;
	uint64_t area_writes_total;   /* package writes within the allowed areas */
	uint64_t area_writes_omitted; /* those of them that are not among the observations */
	char log_sha256[65];
	uint64_t log_bytes;
	uint64_t log_records;
};

void run_facts_clear(struct run_facts *facts);

/* "instrumentation-heartbeat", ... */
const char *marker_name(enum marker marker);

#endif
