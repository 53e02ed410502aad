// SPDX-License-Identifier: Apache-2.0
/* Names, exit codes and memory of verdicts; rules/engine.c reaches them. */
#include "rules/verdict.h"

#include <stdlib.h>
#include <string.h>

struct level {
	const char *name;
	int exit_code;
};

static const struct level levels[VERDICT_LEVEL_CNT] = {
	[VERDICT_INSTALL] = {"install", 0},
	[VERDICT_REVIEW] = {"review", 10},
	[VERDICT_DO_NOT_INSTALL] = {"do-not-install", 20},
};

const char *verdict_level_name(enum verdict_level level)
{
	return levels[level].name;
}

int verdict_level_parse(const char *name)
{
	for (int i = 0; i < VERDICT_LEVEL_CNT; i++)
		if (!strcmp(levels[i].name, name))
			return i;
	return -1;
}

int verdict_exit_code(enum verdict_level level)
{
	return levels[level].exit_code;
}

void verdict_clear(struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->fired_cnt; i++)
		free(verdict->fired[i].observations);
	free(verdict->fired);
	*verdict = (struct verdict){0};
}
