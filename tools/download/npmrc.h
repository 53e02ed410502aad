/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of an npmrc file: an ini file with ${NAME} in it. */
#ifndef QP_TOOLS_DOWNLOAD_NPMRC_H
#define QP_TOOLS_DOWNLOAD_NPMRC_H

#include <stdbool.h>

/* @text with each ${NAME} (and ${NAME?}) replaced from the environment, as npm does. A
 * variable that is not set stays as it is spelt, or is nothing with the '?'. The result is
 * the caller's, NULL when out of memory. */
char *npmrc_expand(const char *text);

/* Calls @found with the name of each variable that @text refers to. */
void npmrc_each_variable(const char *text, void (*found)(void *context, const char *name),
			 void *context);

/*
 * The key and value of one line, both expanded and the value without its quotes; the
 * caller's. 1 for an assignment, 0 for any other line, -ENOMEM.
 */
int npmrc_line_parse(const char *line, char **ret_key, char **ret_value);

/* The last value of @key in the text of a file, expanded; the caller's. 0, -ENOENT,
 * -ENOMEM. */
int npmrc_get(const char *text, const char *key, char **ret_value);

/* Whether the value of @key is a secret: a token, a password, a private key. */
bool npmrc_is_secret(const char *key);

/* Whether the value of @key is the path of a file of certificates or keys. */
bool npmrc_is_pem_path(const char *key);

#endif
