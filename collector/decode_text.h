/* SPDX-License-Identifier: Apache-2.0 */
/* Path texts as raw bytes: joining, normalising, matching. No file system is asked. */
#ifndef QP_COLLECTOR_DECODE_TEXT_H
#define QP_COLLECTOR_DECODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* @base and @name with one slash between, @name alone when it is absolute. A new string of
 * the caller's; NULL when out of memory. */
char *path_join(const char *base, const char *name);

/* The absolute path without "//", "." and "..", by the text alone. A new string of the
 * caller's; NULL when out of memory. */
char *path_normalise(const char *path);

/* Whether @path is @folder or below it. */
bool path_is_below(const char *path, const char *folder);

/* The last name; the whole text when it has no slash. Borrowed from @path. */
const char *path_base(const char *path);

/* A pattern in which only '*' is special; it matches any bytes, slashes too. */
bool text_matches(const char *pattern, const char *text);

/*
 * The package that owns @path: what follows the last "node_modules/" as one name, or two
 * when the first begins with '@'. A new string of the caller's; NULL when there is none.
 */
char *path_package(const char *path);

/* "/proc/<pid>/rest": the pid and, borrowed from @path, the rest behind the slash. */
bool path_of_process(const char *path, long *ret_pid, const char **ret_rest);

/* What of the caller's own a path begins with, as bpf/event.h says at QP_ROLE_NAMED. */
enum own_link { OWN_LINK_NONE, OWN_LINK_CWD, OWN_LINK_FD };

/* *ret_rest is what follows, without slashes at its begin: "" when the link itself is meant. */
enum own_link path_own_link(const char *path, const char **ret_rest);

#endif
