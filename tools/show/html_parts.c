// SPDX-License-Identifier: Apache-2.0
/* What surrounds the observations: network, completeness, sandbox, evidence, limits. */
#include "tools/show/html_parts.h"

#include "tools/show/summary.h"

#include <string.h>

#define ROWS_MAX 5000

/* A row of a list of terms, unless the receipt has no such member. @term is a constant. */
static int term(FILE *out, const char *name, const json_t *value)
{
	int r;

	if (!value || json_is_null(value))
		return 0;
	fprintf(out, "<dt>%s</dt><dd>", name);
	r = html_value(out, value);
	fputs("</dd>\n", out);
	return r;
}

struct column {
	const char *label;
	const char *members[3]; /* the first that the row has */
};

static const json_t *column_value(const json_t *row, const struct column *column)
{
	for (size_t i = 0; i < 3 && column->members[i]; i++) {
		const json_t *value = json_object_get(row, column->members[i]);

		if (value && !json_is_null(value))
			return value;
	}
	return NULL;
}

static int table(FILE *out, const struct column *columns, size_t cnt, const json_t *rows)
{
	const json_t *row;
	size_t i;
	int r = 0;

	fputs("<table><thead><tr>", out);
	for (size_t c = 0; c < cnt; c++)
		fprintf(out, "<th>%s</th>", columns[c].label);
	fputs("</tr></thead><tbody>\n", out);
	json_array_foreach (rows, i, row) {
		if (i == ROWS_MAX)
			break;
		fputs("<tr>", out);
		for (size_t c = 0; c < cnt; c++)
			r = r ? r
			      : html_cell(out, columns[c].label, column_value(row, &columns[c]));
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
	if (json_array_size(rows) > ROWS_MAX)
		fprintf(out,
			"<p class=\"bad\">%zu more are in the receipt and not shown here.</p>\n",
			json_array_size(rows) - ROWS_MAX);
	return r;
}

int html_network(FILE *out, const json_t *receipt)
{
	static const struct column columns[] = {
		{"time", {"t"}},
		{"type", {"type"}},
		{"name", {"name", "dstName", "sni"}},
		{"to", {"dstIp", "answer"}},
		{"port", {"dstPort"}},
		{"protocol", {"protocol", "proto", "l4"}},
		{"method", {"method"}},
		{"path", {"path"}},
		{"bytes", {"bytesReceived", "bytes"}},
		{"body", {"payloadBytes"}},
	};
	const json_t *log = json_object_get(json_object_get(receipt, "network"), "sinkholeLog");
	int r = 0;

	fputs("<section><h2>Network</h2>\n<p class=\"soft\">What reached the sinkhole.</p>\n", out);
	if (json_array_size(log))
		r = table(out, columns, sizeof(columns) / sizeof(columns[0]), log);
	else
		fputs("<p>Nothing.</p>\n", out);
	fputs("</section>\n", out);
	return r;
}

int html_completeness(FILE *out, const json_t *receipt)
{
	json_t *markers = json_object_get(receipt, "completeness"), *marker;
	const char *name;
	int r = 0;

	fputs("<section><h2>Completeness</h2>\n<table><thead><tr><th>marker</th><th>holds</th>"
	      "<th>detail</th></tr></thead><tbody>\n",
	      out);
	json_object_foreach (markers, name, marker) {
		bool ok = json_is_true(json_object_get(marker, "ok"));
		const json_t *run = json_array_get(json_object_get(marker, "runs"), 0);

		fputs("<tr><td data-label=\"marker\">", out);
		r = r ? r : html_text(out, name);
		fprintf(out, "</td><td data-label=\"holds\" class=\"%s\">%s</td>",
			ok ? "good" : "bad", ok ? "yes" : "no");
		r = r ? r : html_cell(out, "detail", json_object_get(run, "detail"));
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></section>\n", out);
	return r;
}

int html_sandbox(FILE *out, const json_t *receipt)
{
	const json_t *sandbox = json_object_get(receipt, "sandbox");
	const json_t *inventory =
		json_object_get(json_object_get(receipt, "download"), "inventory");
	const struct {
		const char *name;
		const json_t *value;
	} terms[] = {
		{"packages", json_object_get(inventory, "packageCount")},
		{"unpacked bytes", json_object_get(inventory, "unpackedBytes")},
		{"install scripts", json_object_get(inventory, "installScripts")},
		{"not from the registry", json_object_get(inventory, "nonRegistry")},
		{"versions", json_object_get(json_object_get(receipt, "images"), "versions")},
		{"root", json_object_get(json_object_get(receipt, "images"), "sandbox")},
		{"limits", json_object_get(receipt, "limits")},
		{"limits reached", json_object_get(sandbox, "limitsHit")},
		{"ended by", json_object_get(sandbox, "endedBy")},
		{"exit code", json_object_get(sandbox, "exitCode")},
		{"seconds", json_object_get(sandbox, "seconds")},
		{"errors", json_object_get(receipt, "errors")},
	};
	int r = 0;

	fputs("<section><h2>Package and sandbox</h2>\n<dl>", out);
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		r = r ? r : term(out, terms[i].name, terms[i].value);
	fputs("</dl></section>\n", out);
	return r;
}

int html_evidence(FILE *out, const json_t *receipt)
{
	const json_t *evidence = json_object_get(receipt, "evidence");
	const json_t *log = json_object_get(evidence, "log");
	const json_t *counters = json_object_get(evidence, "counters");
	const json_t *scan = json_object_get(receipt, "secretScan");
	const struct {
		const char *name;
		const json_t *value;
	} terms[] = {
		{"log, SHA-256", json_object_get(log, "sha256")},
		{"log, bytes", json_object_get(log, "bytes")},
		{"log, records", json_object_get(log, "records")},
		{"tier", json_object_get(evidence, "tier")},
		{"system calls", json_object_get(counters, "syscalls")},
		{"events", json_object_get(counters, "events")},
		{"receipt free of secrets",
		 json_object_get(json_object_get(scan, "receipt"), "pass")},
		{"sandbox free of secrets",
		 json_object_get(json_object_get(scan, "sandbox"), "pass")},
		{"task", json_object_get(receipt, "taskId")},
		{"nonce", json_object_get(receipt, "nonce")},
	};
	int r = 0;

	fputs("<section><h2>Evidence</h2>\n<dl>", out);
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		r = r ? r : term(out, terms[i].name, terms[i].value);
	fputs("</dl></section>\n", out);
	return r;
}

int html_limitations(FILE *out, const json_t *receipt)
{
	const json_t *line;
	size_t i;
	int r = 0;

	fputs("<section><h2>Known limitations</h2>\n<ul>", out);
	json_array_foreach (json_object_get(receipt, "knownLimitations"), i, line) {
		fputs("<li>", out);
		r = r ? r : html_value(out, line);
		fputs("</li>\n", out);
	}
	fputs("</ul></section>\n", out);
	return r;
}

int html_output(FILE *out, const json_t *receipt)
{
	int r;

	fputs("<section><h2>What it printed</h2>\n<pre>", out);
	r = html_lines(out, member_text(json_object_get(receipt, "logs"), "sandboxOutput"));
	fputs("</pre></section>\n", out);
	return r;
}
