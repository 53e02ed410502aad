/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns over escaped paths and names. Parts are divided by '/': in one, '*' stands for
 * any run of characters and '?' for one; a part that is "**" stands for any number of
 * parts, none included; a part that is ${name} for the value of a variable, literally.
 */
#ifndef QP_RULES_GLOB_H
#define QP_RULES_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#define GLOB_BYTES_MAX 4096 /* of a pattern */
#define GLOB_PARTS_MAX 64   /* of a pattern; of an expanded one, four times that */

enum glob_variable {
	GLOB_WORK,
	GLOB_TMP,
	GLOB_HOME,
	GLOB_SHM,
	GLOB_PACKAGE, /* name of the package that acted; a scope makes it two parts */
	GLOB_PID,     /* pid that acted, as the sandbox's /proc names it */
	GLOB_VARIABLE_CNT,
};

/* What the variables stand for; NULL: a pattern that names it matches nothing. */
struct glob_values {
	const char *values[GLOB_VARIABLE_CNT];
};

struct glob;

/* Compiles the @len bytes of @pattern. -ENOMEM, or -EINVAL with what is wrong in
 * *ret_reason, a constant. */
int glob_parse(const char *pattern, size_t len, struct glob **ret_glob, const char **ret_reason);

void glob_free(struct glob *glob);

/*
 * Whether all of @text matches. A path with an empty, "." or ".." part matches nothing: what
 * it names is not what it says. Time is linear in @text for each part of the pattern.
 */
bool glob_match(const struct glob *glob, const char *text, const struct glob_values *values);

#endif
