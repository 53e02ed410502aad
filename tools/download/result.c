// SPDX-License-Identifier: Apache-2.0
/* What came of a fetch: the container's report, believed as far as it can be checked. */
#include "tools/download/fetch.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "tools/download/failure.h"
#include "tools/download/report.h"
#include "tools/download/tree.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define EXIT_REFUSED 3
#define NS_PER_MS    1000000ULL

static int ended_badly(const struct fetch *fetch, struct qp_error *err)
{
	_cleanup_free_ char *status = json_dumps(fetch->status, JSON_SORT_KEYS);
	_cleanup_free_ char *output = NULL;

	if (json_is_true(json_object_get(fetch->status, "oomKilled")))
		return qp_error_set(err, -ENOMEM,
				    "npm needed more than %llu bytes of memory: either the package "
				    "unpacks to far more than it looks like, which is a reason not "
				    "to install it, or --memory is too low",
				    (unsigned long long)fetch->container_limits.memory_bytes);
	output = escape_bytes(fetch->watch.output, strlen(fetch->watch.output));
	return qp_error_set(err, -EIO, "npm ended without a report (%s): %s", status ? status : "",
			    output ? output : "");
}

/* What npm printed, escaped line by line: its line ends stay, as in any text. */
static char *output_text(const struct fetch *fetch)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed = !out;

	for (const char *line = fetch->watch.output; !failed && *line;) {
		size_t len = strcspn(line, "\n");
		_cleanup_free_ char *escaped = escape_bytes(line, len);

		failed = !escaped || fputs(escaped, out) < 0;
		line += len;
		if (*line == '\n' && !failed)
			failed = fputc(*line++, out) < 0;
	}
	if ((out && fclose(out)) || failed) {
		free(text);
		return NULL;
	}
	return text;
}

/* The receipt's object; takes over the report's parts. */
static json_t *receipt_part(struct fetch *fetch, struct fetch_report *report)
{
	double seconds = (double)(fetch->watch.elapsed_ns / NS_PER_MS) / 1000.0;
	json_t *exit_code = json_object_get(fetch->status, "exitCode");
	_cleanup_free_ char *output = output_text(fetch);

	if (!output)
		return NULL;
	return json_pack("{s:s, s:O, s:f, s:O?, s:O?, s:s?, s:O?, s:O?, s:O?, s:s}", "container",
			 fetch->container, "hardening", fetch->hardening, "seconds", seconds,
			 "exitCode", exit_code, "versions", report->versions, "integrity",
			 *report->integrity ? report->integrity : NULL, "precheck",
			 report->precheck, "lockcheck", report->lockcheck, "inventory",
			 report->inventory, "output", output);
}

/* The size is measured here, and every package that was named has to be there. */
static int inventory_verify(struct fetch *fetch, struct fetch_report *report, struct qp_error *err)
{
	uint64_t bytes;
	json_t *package;
	size_t i;
	int r = tree_measure(fetch->out_fd, "node_modules", 1, &bytes);

	if (r)
		return qp_error_set(err, r, "cannot measure the packages: %s", strerror(-r));
	if (!report->inventory || !report->packages ||
	    (json_int_t)json_array_size(report->packages) !=
		    json_integer_value(json_object_get(report->inventory, "packageCount")))
		return qp_error_set(err, -EBADMSG, "the download's report contradicts itself");
	json_array_foreach (report->packages, i, package) {
		const char *path = json_string_value(json_object_get(package, "path"));
		struct stat st;

		if (fstatat(fetch->out_fd, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			return qp_error_set(err, -EBADMSG,
					    "the download's report names %s, which is not there",
					    path);
	}
	return json_object_set_new(report->inventory, "unpackedBytes",
				   json_integer((json_int_t)bytes))
		       ? -ENOMEM
		       : 0;
}

static bool is_false(const json_t *part)
{
	return json_is_false(json_object_get(part, "ok"));
}

int result_take(struct fetch *fetch, struct download *ret_download, struct qp_error *err)
{
	struct download download = {0};
	struct fetch_report report;
	_cleanup_close_ int work_fd = openat(fetch->out_fd, PRIVATE_WORK,
					     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	json_int_t exit_code = json_integer_value(json_object_get(fetch->status, "exitCode"));
	int r;

	npm_settings_scrub(&fetch->settings, fetch->watch.output);
	r = work_fd < 0 ? -ENOENT
			: fetch_report_read(work_fd, "report.json",
					    fetch->limits->download_max_packages, &report, err);
	if (r)
		return r == -ENOENT ? ended_badly(fetch, err) : r;
	download.refused = is_false(report.precheck) || is_false(report.lockcheck);
	if (*report.error_code) {
		npm_settings_scrub(&fetch->settings, report.error_message);
		r = fetch_failure(fetch->spec, fetch->limits, report.error_code,
				  report.error_message, err);
	} else if (exit_code != (download.refused ? EXIT_REFUSED : 0)) {
		r = ended_badly(fetch, err);
	} else if (!download.refused) {
		r = inventory_verify(fetch, &report, err);
	}
	if (!r) {
		download.report = receipt_part(fetch, &report);
		download.packages = download.refused ? NULL : json_incref(report.packages);
		snprintf(download.name, sizeof(download.name), "%s", report.name);
		snprintf(download.version, sizeof(download.version), "%s", report.version);
		snprintf(download.integrity, sizeof(download.integrity), "%s", report.integrity);
		*ret_download = download;
		r = download.report ? 0 : -ENOMEM;
	}
	fetch_report_clear(&report);
	return r;
}
