// SPDX-License-Identifier: Apache-2.0
/* The counters of qp-collect as a Prometheus text file. */
#include "tools/collect/metrics.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

struct metric {
	const char *name;
	const char *type;
	const char *help;
	uint64_t value;
};

static int metrics_print(const struct metric *metrics, size_t cnt, char **ret_text, size_t *ret_len)
{
	FILE *out = open_memstream(ret_text, ret_len);

	if (!out)
		return -errno;
	for (size_t i = 0; i < cnt; i++)
		fprintf(out,
			"# HELP qp_collect_%s %s\n# TYPE qp_collect_%s %s\n"
			"qp_collect_%s %" PRIu64 "\n",
			metrics[i].name, metrics[i].help, metrics[i].name, metrics[i].type,
			metrics[i].name, metrics[i].value);
	return fclose(out) ? -ENOMEM : 0;
}

static int replace_file(const char *path, const char *text, size_t len)
{
	_cleanup_free_ char *fresh = NULL;
	int rc;

	if (asprintf(&fresh, "%s.%d.new", path, getpid()) < 0)
		return -ENOMEM;
	unlink(fresh);
	rc = write_new_file_at(AT_FDCWD, fresh, 0644, text, len);
	if (rc)
		return rc;
	if (rename(fresh, path) == 0)
		return 0;
	rc = -errno;
	unlink(fresh);
	return rc;
}

int metrics_write(const struct session *session)
{
	struct session_counts counts = session->counts;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int rc;

	if (!session->metrics)
		return 0;
	for (uint32_t slot = 1; slot <= QP_SLOTS_MAX; slot++) {
		struct groups_totals totals;

		if (!session->groups[slot] || groups_totals(session->collector, slot, &totals) != 0)
			continue;
		counts.syscalls += totals.syscalls;
		counts.produced += totals.produced;
		counts.limited += totals.limited;
		counts.delivered += groups_logged(session->collector, slot);
	}
	const struct metric metrics[] = {
		{"groups", "gauge", "Groups that are recorded now.", session->groups_cnt},
		{"groups_total", "counter", "Groups whose recording began.", counts.groups},
		{"groups_refused_total", "counter",
		 "Groups that matched and were not recorded for want of room.", counts.refused},
		{"logs_complete_total", "counter", "Logs with a trailer.", counts.logs},
		{"logs_failed_total", "counter", "Logs that were cut or could not be made.",
		 counts.logs_failed},
		{"receipts_waiting", "gauge", "Logs that wait for their receipts.",
		 session->receipts.waiting_cnt},
		{"syscalls_total", "counter", "System calls of the groups.", counts.syscalls},
		{"events_produced_total", "counter", "Events that the kernel programs made.",
		 counts.produced},
		{"events_delivered_total", "counter", "Events that are in the logs.",
		 counts.delivered},
		{"events_undelivered_total", "counter",
		 "Events that were lost, or of groups that go on, are on their way.",
		 counts.produced - counts.delivered},
		{"events_limited_total", "counter", "Events that were lost to --rate.",
		 counts.limited},
	};
	rc = metrics_print(metrics, sizeof(metrics) / sizeof(metrics[0]), &text, &len);
	return rc ? rc : replace_file(session->metrics, text, len);
}
