// SPDX-License-Identifier: Apache-2.0
/* Memory and names of a run's facts. Decoders fill them, rules/receipt.c reads them. */
#include "rules/derive.h"

#include <stdlib.h>

void run_facts_clear(struct run_facts *facts)
{
	json_t *const objects[] = {
		facts->preamble, facts->download,     facts->sandbox,  facts->scan,
		facts->load,	 facts->end,	      facts->teardown, facts->sinkhole_end,
		facts->packages, facts->decoys,	      facts->rules,    facts->trailer,
		facts->errors,	 facts->sinkhole_log, facts->roles,    facts->processes,
		facts->log_hits,
	};

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		json_decref(objects[i]);
	for (int i = 0; i < MARKER_CNT; i++)
		json_decref(facts->markers[i].detail);
	free(facts->output);
	observations_clear(&facts->observations);
	*facts = (struct run_facts){0};
}

const char *marker_name(enum marker marker)
{
	static const char *const names[MARKER_CNT] = {
		[MARKER_HEARTBEAT] = "instrumentation-heartbeat",
		[MARKER_PATHS_RESOLVED] = "paths-resolved",
		[MARKER_KERNEL_TRACE] = "kernel-trace",
		[MARKER_SINKHOLE_LOG] = "sinkhole-log",
		[MARKER_ENDED_NORMALLY] = "ended-normally",
		[MARKER_HARNESS_RAN] = "harness-ran",
	};

	return names[marker];
}
