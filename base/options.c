// SPDX-License-Identifier: Apache-2.0
/* The option table: parser and help printer. */
#include "base/options.h"

#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct option *option_find(const struct option *rows, const char *name, size_t len)
{
	for (; rows->name; rows++)
		if (strlen(rows->name) == len && !memcmp(rows->name, name, len))
			return rows;
	return NULL;
}

static bool choice_has(const char *choices, const char *value)
{
	size_t len = strlen(value);

	for (const char *p = choices; p; p = strchr(p, '|')) {
		if (*p == '|')
			p++;
		if (len && !strncmp(p, value, len) && (p[len] == '\0' || p[len] == '|'))
			return true;
	}
	return false;
}

static int number_error(const struct option *row, const char *value, int r, struct qp_error *err)
{
	const char *what = row->kind == OPTION_BYTES   ? "a size such as 256M"
			   : row->kind == OPTION_MILLI ? "a number with up to three decimals"
						       : "a whole number";
	uint64_t unit = row->kind == OPTION_MILLI ? 1000 : 1;

	if (r == -ERANGE)
		return qp_error_set(err, -EINVAL,
				    "--%s %s is out of range: it takes %" PRIu64 " to %" PRIu64,
				    row->name, value, row->min / unit, row->max / unit);
	return qp_error_set(err, -EINVAL, "--%s takes %s, not '%s'", row->name, what, value);
}

static int option_store(const struct option *row, const char *value, struct qp_error *err)
{
	int r = 0;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)row->target = true;
		return 0;
	case OPTION_STRING:
		if (!*value)
			return qp_error_set(err, -EINVAL, "--%s takes a value, not ''", row->name);
		*(const char **)row->target = value;
		return 0;
	case OPTION_LIST: {
		struct option_list *list = row->target;

		if (list->cnt == OPTION_LIST_MAX)
			return qp_error_set(err, -EINVAL, "--%s is given more than %d times",
					    row->name, OPTION_LIST_MAX);
		list->items[list->cnt++] = value;
		return 0;
	}
	case OPTION_CHOICE:
		if (!choice_has(row->choices, value))
			return qp_error_set(err, -EINVAL, "--%s takes %s, not '%s'", row->name,
					    row->choices, value);
		*(const char **)row->target = value;
		return 0;
	case OPTION_NUMBER:
		r = number_parse(value, row->min, row->max, row->target);
		break;
	case OPTION_BYTES:
		r = bytes_parse(value, row->min, row->max, row->target);
		break;
	case OPTION_MILLI:
		r = milli_parse(value, row->min, row->max, row->target);
		break;
	}
	return r ? number_error(row, value, r, err) : 0;
}

/* Parses the option at argv[*i] and moves *i to its last word. */
static int option_take(const struct option *rows, int argc, char **argv, int *i,
		       struct qp_error *err)
{
	const char *name = argv[*i] + 2;
	const char *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option *row = option_find(rows, name, len);

	if (!row)
		return qp_error_set(err, -EINVAL, "unknown option '--%.*s' (see --help)", (int)len,
				    name);
	if (row->kind == OPTION_FLAG) {
		if (equals)
			return qp_error_set(err, -EINVAL, "--%s takes no value", row->name);
		return option_store(row, NULL, err);
	}
	if (equals)
		return option_store(row, equals + 1, err);
	if (*i + 1 >= argc)
		return qp_error_set(err, -EINVAL, "--%s takes a value: %s", row->name,
				    row->argument);
	return option_store(row, argv[++*i], err);
}

int options_parse(const struct option *rows, int argc, char **argv, bool stop_at_operand,
		  int *ret_cnt, bool *ret_help, struct qp_error *err)
{
	int cnt = 0, i, r;
	bool help = false;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			help = true;
		} else if (argv[i][0] == '-' && argv[i][1] == '-') {
			r = option_take(rows, argc, argv, &i, err);
			if (r)
				return r;
		} else if (argv[i][0] == '-' && argv[i][1]) {
			return qp_error_set(err, -EINVAL, "unknown option '%s' (see --help)",
					    argv[i]);
		} else if (stop_at_operand) {
			break;
		} else {
			argv[cnt++] = argv[i];
		}
	}
	for (; i < argc; i++)
		argv[cnt++] = argv[i];
	*ret_cnt = cnt;
	*ret_help = help;
	return 0;
}

void options_help(FILE *out, const struct command_help *help, const struct option *rows)
{
	fprintf(out, "Usage: %s\n\n%s\n\nOptions:\n", help->usage, help->summary);
	for (; rows->name; rows++) {
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", rows->name, rows->argument ? " " : "",
			 rows->argument ? rows->argument : "");
		fprintf(out, "  %-26s %s\n", left, rows->help);
	}
	fprintf(out, "  %-26s %s\n", "--help", "print this and exit");
	if (help->details)
		fprintf(out, "\n%s\n", help->details);
	fprintf(out, "\nExample:\n%s\n", help->example);
}
