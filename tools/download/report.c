// SPDX-License-Identifier: Apache-2.0
/* Rebuilding the report from what is known to be right of it. */
#include "tools/download/report.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/io.h"

#include <stdbool.h>
#include <string.h>

#define REPORT_MAX_BYTES (16U << 20)
#define TEXT_MAX_BYTES	 4096
#define NON_REGISTRY_MAX 2000
#define PATH_MAX_BYTES	 1024
#define SCRIPTS_MAX	 3

/* The member as a new escaped string; JSON null where it is null or, with @optional, absent. */
static json_t *text_member(const json_t *object, const char *name, bool optional)
{
	const json_t *value = json_object_get(object, name);
	_cleanup_free_ char *text = NULL;

	if (json_is_null(value) || (!value && optional))
		return json_null();
	if (!json_is_string(value) || json_string_length(value) > TEXT_MAX_BYTES)
		return NULL;
	text = escape_bytes(json_string_value(value), json_string_length(value));
	return text ? json_string(text) : NULL;
}

/* The member as plain text that needs no escaping; "" for null. */
static bool plain_member(const json_t *object, const char *name, char *ret_text, size_t size)
{
	const json_t *value = json_object_get(object, name);
	const char *text = json_is_null(value) ? "" : json_string_value(value);

	if (!text || strlen(text) >= size || (value && json_string_length(value) != strlen(text)))
		return false;
	for (const char *p = text; *p; p++) {
		if (*p < ' ' || *p > '~' || *p == '\\')
			return false;
	}
	strcpy(ret_text, text);
	return true;
}

static json_t *count_member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return NULL;
	return json_integer(json_integer_value(value));
}

static json_t *flag_member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_boolean(value) ? json_boolean(json_is_true(value)) : NULL;
}

/* A place in the project: node_modules/..., with no way out of it. */
static bool is_place(const json_t *value)
{
	const char *path = json_string_value(value);

	if (!path || json_string_length(value) != strlen(path) || strlen(path) > PATH_MAX_BYTES ||
	    strncmp(path, "node_modules/", strlen("node_modules/")))
		return false;
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!*part || *part == '/' ||
		    (*part == '.' && strchr("./", part[1 + (part[1] == '.')])))
			return false;
	}
	for (const char *p = path; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == '\x7f' || *p == '\\')
			return false;
	}
	return true;
}

static json_t *non_registry(const json_t *object)
{
	const json_t *list = json_object_get(object, "nonRegistry"), *one;
	json_auto_t *copy = json_array();
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > NON_REGISTRY_MAX)
		return NULL;
	json_array_foreach (list, i, one) {
		json_t *entry = json_pack(
			"{s:o, s:o, s:o}", "name", text_member(one, "name", false), "spec",
			text_member(one, "spec", false), "from", text_member(one, "from", false));

		if (!entry || json_array_append_new(copy, entry))
			return NULL;
	}
	return json_incref(copy);
}

static json_t *precheck(const json_t *object)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o}", "ok", flag_member(object, "ok"), "reason",
		text_member(object, "reason", false), "stage", text_member(object, "stage", false),
		"visited", count_member(object, "visited"), "manifestsFetched",
		count_member(object, "manifestsFetched"), "nonRegistry", non_registry(object));
}

static json_t *lockcheck(const json_t *object)
{
	return json_pack("{s:o, s:o, s:o}", "ok", flag_member(object, "ok"), "packageCount",
			 count_member(object, "packageCount"), "nonRegistry", non_registry(object));
}

static json_t *places(const json_t *list, uint64_t max)
{
	json_auto_t *copy = json_array();
	const json_t *one;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > max)
		return NULL;
	json_array_foreach (list, i, one) {
		if (!is_place(one) || json_array_append_new(copy, json_copy((json_t *)one)))
			return NULL;
	}
	return json_incref(copy);
}

static json_t *inventory(const json_t *object, uint64_t max)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", text_member(object, "name", false),
			 "version", text_member(object, "version", false), "packageCount",
			 count_member(object, "packageCount"), "nonRegistry", non_registry(object),
			 "installScripts", places(json_object_get(object, "installScripts"), max));
}

static json_t *scripts(const json_t *list)
{
	static const char *const events[] = {"preinstall", "install", "postinstall"};
	json_auto_t *copy = json_array();
	const json_t *one;
	size_t i, at = 0;

	if (!json_is_array(list) || json_array_size(list) > SCRIPTS_MAX)
		return NULL;
	/* Each once, in npm's order. */
	json_array_foreach (list, i, one) {
		const char *event = json_string_value(one);

		while (event && at < SCRIPTS_MAX && strcmp(event, events[at]))
			at++;
		if (!event || at == SCRIPTS_MAX || json_array_append_new(copy, json_string(event)))
			return NULL;
		at++;
	}
	return json_incref(copy);
}

static json_t *packages(const json_t *list, uint64_t max)
{
	json_auto_t *copy = json_array();
	const json_t *one;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > max)
		return NULL;
	json_array_foreach (list, i, one) {
		const json_t *path = json_object_get(one, "path");
		json_t *entry;

		if (!is_place(path))
			return NULL;
		entry = json_pack("{s:o, s:o, s:s, s:o}", "name", text_member(one, "name", false),
				  "version", text_member(one, "version", false), "path",
				  json_string_value(path), "scripts",
				  scripts(json_object_get(one, "scripts")));
		if (!entry || json_array_append_new(copy, entry))
			return NULL;
	}
	return json_incref(copy);
}

/* Copies the parts that are there; which one is wrong, or NULL. */
static const char *parts_take(const json_t *root, uint64_t max, struct fetch_report *report)
{
	const json_t *part, *error = json_object_get(root, "error");

	if (!plain_member(root, "name", report->name, sizeof(report->name)) ||
	    !plain_member(root, "version", report->version, sizeof(report->version)) ||
	    !plain_member(root, "integrity", report->integrity, sizeof(report->integrity)))
		return "package";
	part = json_object_get(root, "versions");
	report->versions = json_pack("{s:o, s:o}", "node", text_member(part, "node", false), "npm",
				     text_member(part, "npm", false));
	if (!report->versions)
		return "versions";
	part = json_object_get(root, "precheck");
	if (!json_is_null(part) && !(report->precheck = precheck(part)))
		return "precheck";
	part = json_object_get(root, "lockcheck");
	if (!json_is_null(part) && !(report->lockcheck = lockcheck(part)))
		return "lockcheck";
	part = json_object_get(root, "inventory");
	if (!json_is_null(part) && !(report->inventory = inventory(part, max)))
		return "inventory";
	part = json_object_get(root, "packages");
	if (!json_is_null(part) && !(report->packages = packages(part, max)))
		return "packages";
	if (json_is_null(error))
		return NULL;
	part = text_member(error, "code", false);
	snprintf(report->error_code, sizeof(report->error_code), "%s",
		 part && json_is_string(part) ? json_string_value(part) : "unknown");
	json_decref((json_t *)part);
	part = text_member(error, "message", false);
	snprintf(report->error_message, sizeof(report->error_message), "%s",
		 part && json_is_string(part) ? json_string_value(part) : "");
	json_decref((json_t *)part);
	return NULL;
}

int fetch_report_read(int dirfd, const char *name, uint64_t max_packages,
		      struct fetch_report *ret_report, struct qp_error *err)
{
	struct fetch_report report = {0};
	_cleanup_free_ char *text = NULL;
	json_auto_t *root = NULL;
	const char *wrong;
	size_t len;
	int r;

	r = read_file_at(dirfd, name, REPORT_MAX_BYTES, &text, &len);
	if (r == -ENOENT)
		return r;
	if (r)
		return qp_error_set(err, r, "cannot read the download's report: %s", strerror(-r));
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	wrong = json_is_object(root) ? parts_take(root, max_packages, &report) : "JSON";
	if (wrong) {
		fetch_report_clear(&report);
		return qp_error_set(
			err, -EBADMSG,
			"the download's report is not what it should be: its %s part is "
			"malformed or past its limits",
			wrong);
	}
	*ret_report = report;
	return 0;
}

void fetch_report_clear(struct fetch_report *report)
{
	json_decref(report->versions);
	json_decref(report->precheck);
	json_decref(report->lockcheck);
	json_decref(report->inventory);
	json_decref(report->packages);
	*report = (struct fetch_report){0};
}
