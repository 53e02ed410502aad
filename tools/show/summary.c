// SPDX-License-Identifier: Apache-2.0
/* The summary that ends a run and that `qp show` prints. */
#include "tools/show/summary.h"

#include <errno.h>
#include <string.h>

#define LINES_PER_RULE_MAX 8

struct style {
	const char *bold, *good, *warn, *bad, *dim, *off;
};

static const struct style plain = {"", "", "", "", "", ""};
static const struct style colored = {"\033[1m",	 "\033[32m", "\033[33m",
				     "\033[31m", "\033[2m",  "\033[0m"};

static const char *verdict_style(const struct style *style, const char *verdict)
{
	if (!strcmp(verdict, "install"))
		return style->good;
	return strcmp(verdict, "review") ? style->bad : style->warn;
}

static void styled_print(FILE *out, const struct style *style, const char *before, const char *on,
			 const char *text)
{
	fprintf(out, "%s%s", before, on);
	text_print(out, text);
	fputs(style->off, out);
}

int receipt_read(const char *path, json_t **ret_receipt, struct qp_error *err)
{
	json_error_t error;
	json_t *receipt = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	/* jansson gives line -1 when the file could not be read at all. */
	if (!receipt)
		return qp_error_at(err, -EBADMSG, path, error.line > 0 ? error.line : 0,
				   error.line > 0 ? error.column : 0, "%s", error.text);
	if (strcmp(member_text(receipt, "schema"), "qp-receipt/1") != 0) {
		json_decref(receipt);
		return qp_error_at(err, -EBADMSG, path, 0, 0,
				   "this is no receipt: its schema is not qp-receipt/1");
	}
	*ret_receipt = receipt;
	return 0;
}

const json_t *receipt_observation(const json_t *receipt, const char *id)
{
	const json_t *observation;
	size_t i;

	json_array_foreach (json_object_get(receipt, "observations"), i, observation) {
		if (!strcmp(member_text(observation, "id"), id))
			return observation;
	}
	return NULL;
}

static void rule_print(FILE *out, const struct style *style, const json_t *receipt,
		       const json_t *rule, bool all)
{
	const json_t *ids = json_object_get(rule, "observationIds"), *id;
	size_t i, cnt = json_array_size(ids);

	styled_print(out, style, "\n  ", style->bold, member_text(rule, "id"));
	styled_print(out, style, "  ", verdict_style(style, member_text(rule, "tier")),
		     member_text(rule, "text"));
	fputc('\n', out);
	json_array_foreach (ids, i, id) {
		const json_t *observation =
			json_is_string(id) ? receipt_observation(receipt, json_string_value(id))
					   : NULL;

		if (!all && i == LINES_PER_RULE_MAX && cnt > LINES_PER_RULE_MAX + 1) {
			fprintf(out, "       and %zu more\n", cnt - i);
			break;
		}
		/* Markers have a section of their own, with the reasons. */
		if (!observation ||
		    (!all && !strcmp(member_text(observation, "kind"), "completeness")))
			continue;
		fputs("     - ", out);
		observation_describe(out, observation);
		fputc('\n', out);
	}
}

/* The rules that condemn first: they are what a reader looks for. */
static void rules_print(FILE *out, const struct style *style, const json_t *receipt, bool all)
{
	const json_t *rules = json_object_get(receipt, "rulesFired"), *rule;
	size_t i;

	for (int condemning = 1; condemning >= 0; condemning--) {
		json_array_foreach (rules, i, rule) {
			if ((strcmp(member_text(rule, "tier"), "do-not-install") == 0) ==
			    condemning)
				rule_print(out, style, receipt, rule, all);
		}
	}
}

/* What kept the package from being run at all. */
static void refusal_print(FILE *out, const struct style *style, const json_t *receipt)
{
	static const char *const checks[] = {"precheck", "lockcheck"};
	const json_t *download = json_object_get(receipt, "download"), *item;
	size_t i;

	styled_print(out, style, "\n  ", style->bold, "nothing was run");
	fputs(": these dependencies are not the registry's, and were not fetched\n", out);
	for (size_t check = 0; check < 2; check++) {
		json_array_foreach (
			json_object_get(json_object_get(download, checks[check]), "nonRegistry"), i,
			item) {
			fputs("     - ", out);
			text_print(out, member_text(item, "name"));
			fputs(", ", out);
			text_print(out, member_text(item, "spec"));
			fputs(", asked for by ", out);
			text_print(out, member_text(item, "from"));
			fputc('\n', out);
		}
	}
}

static void completeness_print(FILE *out, const struct style *style, const json_t *receipt)
{
	json_t *markers = json_object_get(receipt, "completeness"), *marker;
	const char *name;
	size_t cnt = json_object_size(markers), bad = 0;

	json_object_foreach (markers, name, marker) {
		char *detail;

		if (json_is_true(json_object_get(marker, "ok")))
			continue;
		if (!bad++)
			fprintf(out, "\n  %snot seen whole%s\n", style->bold, style->off);
		detail = json_dumps(
			json_object_get(json_array_get(json_object_get(marker, "runs"), 0),
					"detail"),
			JSON_COMPACT | JSON_SORT_KEYS);
		fputs("     - ", out);
		text_print(out, name);
		fputs(": ", out);
		text_print(out, detail ? detail : "");
		fputc('\n', out);
		free(detail);
	}
	if (!bad && cnt)
		fprintf(out, "\n  %severything was seen: all %zu markers of completeness hold%s\n",
			style->dim, cnt, style->off);
}

static void counts_print(FILE *out, const json_t *receipt)
{
	const json_t *evidence = json_object_get(receipt, "evidence");
	const json_t *counters = json_object_get(evidence, "counters");
	const json_t *inventory =
		json_object_get(json_object_get(receipt, "download"), "inventory");

	if (json_is_object(inventory))
		fprintf(out, "  packages %" JSON_INTEGER_FORMAT " (%zu with install scripts)",
			json_integer_value(json_object_get(inventory, "packageCount")),
			json_array_size(json_object_get(inventory, "installScripts")));
	if (counters) {
		const json_t *events = json_object_get(counters, "events");

		fprintf(out,
			"%ssystem calls %" JSON_INTEGER_FORMAT ", events lost %" JSON_INTEGER_FORMAT
			", tier ",
			json_is_object(inventory) ? "; " : "  ",
			json_integer_value(json_object_get(counters, "syscalls")),
			json_integer_value(json_object_get(events, "lost")));
		text_print(out, member_text(evidence, "tier"));
	}
	if (json_is_object(inventory) || counters)
		fputc('\n', out);
}

/* What was seen of TLS, where it was answered. */
static void tls_print(FILE *out, const json_t *receipt)
{
	const json_t *network = json_object_get(receipt, "network"), *record;
	const json_t *tls = json_object_get(network, "tls");
	size_t i, read = 0, refused = 0, other = 0;

	if (strcmp(member_text(tls, "mode"), "intercept") != 0)
		return;
	json_array_foreach (json_object_get(network, "sinkholeLog"), i, record) {
		const char *handshake = member_text(record, "handshake");

		read += !strcmp(handshake, "accepted");
		refused += !strcmp(handshake, "refused");
		other += *handshake && strcmp(handshake, "accepted") != 0 &&
			 strcmp(handshake, "refused") != 0;
	}
	fprintf(out, "  TLS      intercepted: %zu read, %zu refused our certificate, %zu others\n",
		read, refused, other);
	json_array_foreach (json_object_get(tls, "untrustedBy"), i, record) {
		fputs("           not trusted by ", out);
		text_print(out, json_is_string(record) ? json_string_value(record) : "");
		fputc('\n', out);
	}
}

static void subject_print(FILE *out, const json_t *receipt)
{
	const json_t *package = json_object_get(receipt, "package");
	const char *name = member_text(package, "name");
	const char *version = member_text(package, "version");

	text_print(out, *name ? name : member_text(package, "requested"));
	if (*name && *version) {
		fputc('@', out);
		text_print(out, version);
	}
}

void summary_print(FILE *out, const json_t *receipt, const struct summary_options *options)
{
	const struct style *style = options->color ? &colored : &plain;
	const char *verdict = member_text(receipt, "verdict");
	const json_t *item;
	size_t i;

	styled_print(out, style, "\n", verdict_style(style, verdict), verdict);
	fputs("  ", out);
	subject_print(out, receipt);
	if (strcmp(member_text(receipt, "status"), "completed") != 0)
		styled_print(out, style, "  ", style->dim, member_text(receipt, "status"));
	fputc('\n', out);
	rules_print(out, style, receipt, options->all);
	if (options->all) {
		fprintf(out, "\n  %sall observations%s\n", style->bold, style->off);
		json_array_foreach (json_object_get(receipt, "observations"), i, item) {
			fputs("     ", out);
			text_print(out, member_text(item, "id"));
			fputs("  ", out);
			observation_describe(out, item);
			fputc('\n', out);
		}
	}
	if (!strcmp(member_text(receipt, "status"), "refused"))
		refusal_print(out, style, receipt);
	else
		completeness_print(out, style, receipt);
	counts_print(out, receipt);
	tls_print(out, receipt);
	if (options->folder)
		fprintf(out, "  files    %s/receipt.json, run.qplog\n", options->folder);
	if (options->signature)
		fprintf(out, "  signed   %s\n", options->signature);
}
