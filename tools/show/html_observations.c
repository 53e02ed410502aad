// SPDX-License-Identifier: Apache-2.0
/* What was seen: by the package that acted, and by its process. */
#include "tools/show/html_parts.h"

#include "base/cleanup.h"
#include "tools/derive.h"
#include "tools/show/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A browser that is handed more rows is of no use to anyone. */
#define ROWS_MAX  5000
#define NS_PER_MS 1e6
#define KEY_BYTES 32

/* Who acted, in words: a package, or the part of qp that did. */
static const char *group_name(const json_t *observation)
{
	const char *package = member_text(observation, "package");
	const char *actor = member_text(observation, "actor");

	if (*package)
		return package;
	return *actor ? actor : "evidence";
}

/* The array that @key has in @object, made when it has none. NULL when out of memory. */
static json_t *list_of(json_t *object, const char *key)
{
	json_t *list = json_object_get(object, key);

	if (!list && json_object_set_new(object, key, json_array()))
		return NULL;
	return json_object_get(object, key);
}

/* Adds the observation to its process, and that to its group; both keep their order. */
static int group_add(json_t *groups, json_t *observation)
{
	const char *name = group_name(observation);
	const json_t *pid = json_object_get(observation, "pid");
	char key[KEY_BYTES];
	json_t *processes = json_object_get(groups, name);

	if (!processes && json_object_set_new(groups, name, json_object()))
		return -ENOMEM;
	processes = json_object_get(groups, name);
	snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT,
		 json_is_integer(pid) ? json_integer_value(pid) : -1);
	return json_array_append(list_of(processes, key), observation) ? -ENOMEM : 0;
}

/* What @print writes, as text. */
static int described(FILE *out, const json_t *observation,
		     void (*print)(FILE *, const json_t *observation))
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return -ENOMEM;
	print(memory, observation);
	if (fclose(memory))
		return -ENOMEM;
	return html_text(out, text);
}

static int members_print(FILE *out, const json_t *observation)
{
	_cleanup_free_ char *text =
		json_dumps(observation, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	int r;

	if (!text)
		return -ENOMEM;
	fputs("<details><summary class=\"soft\">all of it</summary><pre>", out);
	r = html_lines(out, text);
	fputs("</pre></details>", out);
	return r;
}

static int row_print(FILE *out, const json_t *observation)
{
	const char *id = member_text(observation, "id");
	const json_t *t = json_object_get(observation, "t");
	int r;

	if (html_is_anchor(id))
		fprintf(out, "<tr id=\"%s\">", id);
	else
		fputs("<tr>", out);
	r = html_cell(out, "id", json_object_get(observation, "id"));
	if (json_is_integer(t))
		fprintf(out, "<td data-label=\"ms\">%.3f</td>",
			(double)json_integer_value(t) / NS_PER_MS);
	else
		fputs("<td data-label=\"ms\">&ndash;</td>", out);
	r = r ? r : html_cell(out, "kind", json_object_get(observation, "kind"));
	fputs("<td data-label=\"what\">", out);
	r = r ? r : described(out, observation, observation_deed);
	r = r ? r : members_print(out, observation);
	fputs("</td>", out);
	r = r ? r : html_cell(out, "outcome", json_object_get(observation, "outcome"));
	fputs("</tr>\n", out);
	return r;
}

/* The process is named by its last program. */
static int process_head(FILE *out, const json_t *list)
{
	const json_t *pid = json_object_get(json_array_get(list, 0), "pid"), *observation;
	const char *exe = "";
	size_t i;
	int r = 0;

	json_array_foreach (list, i, observation) {
		if (*member_text(observation, "exe"))
			exe = member_text(observation, "exe");
	}
	if (!*exe && !json_is_integer(pid))
		return 0;
	fputs("<h3>", out);
	r = html_text(out, *exe ? exe : "process");
	if (json_is_integer(pid))
		fprintf(out, " <span class=\"soft\">pid %" JSON_INTEGER_FORMAT "</span>",
			json_integer_value(pid));
	fputs("</h3>\n", out);
	return r;
}

static int process_print(FILE *out, const json_t *list, size_t *rows)
{
	const json_t *observation;
	size_t i;
	int r = process_head(out, list);

	fputs("<table><thead><tr><th>id</th><th>ms</th><th>kind</th><th>what</th><th>outcome</th>"
	      "</tr></thead><tbody>\n",
	      out);
	json_array_foreach (list, i, observation) {
		if (*rows == ROWS_MAX)
			break;
		++*rows;
		r = r ? r : row_print(out, observation);
	}
	fputs("</tbody></table>\n", out);
	return r;
}

static size_t observations_cnt(json_t *processes)
{
	const char *key;
	json_t *list;
	size_t cnt = 0;

	json_object_foreach (processes, key, list) {
		cnt += json_array_size(list);
	}
	return cnt;
}

static int groups_print(FILE *out, json_t *groups, size_t *rows)
{
	const char *name, *key;
	json_t *processes, *list;
	int r = 0;

	json_object_foreach (groups, name, processes) {
		if (*rows == ROWS_MAX)
			break;
		fputs("<details open><summary><strong>", out);
		r = r ? r : html_text(out, name);
		fprintf(out, "</strong> <span class=\"soft\">%zu</span></summary>\n",
			observations_cnt(processes));
		json_object_foreach (processes, key, list) {
			if (*rows < ROWS_MAX)
				r = r ? r : process_print(out, list, rows);
		}
		fputs("</details>\n", out);
	}
	return r;
}

int html_observations(FILE *out, const json_t *receipt)
{
	const json_t *list = json_object_get(receipt, "observations");
	_cleanup_json_ json_t *groups = json_object();
	json_t *observation;
	size_t i, rows = 0;
	int r = 0;

	json_array_foreach (list, i, observation) {
		r = r ? r : group_add(groups, observation);
	}
	fputs("<section><h2>Observations</h2>\n", out);
	r = r ? r : groups_print(out, groups, &rows);
	if (rows < json_array_size(list))
		fprintf(out,
			"<p class=\"bad\">%zu more are in the receipt and not shown here.</p>\n",
			json_array_size(list) - rows);
	fputs("</section>\n", out);
	return r;
}

static int cited_print(FILE *out, const json_t *receipt, const json_t *rule)
{
	const json_t *ids = json_object_get(rule, "observationIds"), *id;
	size_t i;
	int r = 0;

	fputs("<ul>", out);
	json_array_foreach (ids, i, id) {
		const char *text = json_is_string(id) ? json_string_value(id) : "";
		const json_t *observation = receipt_observation(receipt, text);

		if (i == ROWS_MAX)
			break;
		fputs("<li>", out);
		r = r ? r : html_link(out, text);
		fputc(' ', out);
		if (observation)
			r = r ? r : described(out, observation, observation_describe);
		fputs("</li>\n", out);
	}
	fputs("</ul>", out);
	return r;
}

static int rule_print(FILE *out, const json_t *receipt, const json_t *rule)
{
	int r;

	fprintf(out, "<div class=\"rule %s\"><p><strong>",
		html_verdict_class(member_text(rule, "tier")));
	r = html_text(out, member_text(rule, "id"));
	fputs("</strong> ", out);
	r = r ? r : html_text(out, member_text(rule, "tier"));
	fputs(": ", out);
	r = r ? r : html_text(out, member_text(rule, "text"));
	fputs("</p>", out);
	r = r ? r : cited_print(out, receipt, rule);
	fputs("</div>\n", out);
	return r;
}

/* Those that condemn come first, as on the terminal. */
int html_rules(FILE *out, const json_t *receipt)
{
	const json_t *rules = json_object_get(receipt, "rulesFired"), *rule;
	size_t i;
	int r = 0;

	fputs("<section><h2>Rules that fired</h2>\n", out);
	if (!json_array_size(rules))
		fputs("<p>None.</p>\n", out);
	for (int pass = 0; pass < 2; pass++) {
		json_array_foreach (rules, i, rule) {
			bool condemns = strcmp(member_text(rule, "tier"), "review") != 0;

			if (condemns == !pass)
				r = r ? r : rule_print(out, receipt, rule);
		}
	}
	fputs("</section>\n", out);
	return r;
}
