// SPDX-License-Identifier: Apache-2.0
/* Work on path texts. Inputs are C strings of arbitrary bytes. */
#include "collector/decode_text.h"

#include <stdlib.h>
#include <string.h>

#define PID_DIGITS_MAX 10

char *path_join(const char *base, const char *name)
{
	size_t base_len = strlen(base), name_len = strlen(name);
	char *text;

	if (name[0] == '/')
		return strdup(name);
	text = malloc(base_len + name_len + 2);
	if (!text)
		return NULL;
	memcpy(text, base, base_len);
	text[base_len] = '/';
	memcpy(text + base_len + 1, name, name_len + 1);
	return text;
}

char *path_normalise(const char *path)
{
	char *text = malloc(strlen(path) + 2), *out = text;

	if (!text)
		return NULL;
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (out > text && *--out != '/')
				;
		} else if (len && !(len == 1 && path[0] == '.')) {
			*out++ = '/';
			memcpy(out, path, len);
			out += len;
		}
		path += len;
		path += *path == '/';
	}
	if (out == text)
		*out++ = '/';
	*out = '\0';
	return text;
}

bool path_is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (!len || strncmp(path, folder, len) != 0)
		return false;
	return folder[len - 1] == '/' || path[len] == '/' || path[len] == '\0';
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool text_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			retry = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

char *path_package(const char *path)
{
	static const char folder[] = "/node_modules/";
	const char *at = NULL, *next = path;
	size_t len;

	while ((next = strstr(next, folder))) {
		/* Each slash may be the end of one folder and the begin of the next. */
		next += sizeof(folder) - 2;
		if (next[1] && next[1] != '/' && next[1] != '.')
			at = next + 1;
	}
	if (!at)
		return NULL;
	len = strcspn(at, "/");
	if (at[0] == '@' && at[len] == '/' && at[len + 1] && at[len + 1] != '/')
		len += 1 + strcspn(at + len + 1, "/");
	return strndup(at, len);
}

bool path_of_process(const char *path, long *ret_pid, const char **ret_rest)
{
	static const char proc[] = "/proc/";
	long pid = 0;
	size_t digits;

	if (strncmp(path, proc, sizeof(proc) - 1) != 0)
		return false;
	path += sizeof(proc) - 1;
	digits = strspn(path, "0123456789");
	if (!digits || digits > PID_DIGITS_MAX || path[digits] != '/')
		return false;
	for (size_t i = 0; i < digits; i++)
		pid = pid * 10 + (path[i] - '0');
	*ret_pid = pid;
	*ret_rest = path + digits + 1;
	return true;
}

enum own_link path_own_link(const char *path, const char **ret_rest)
{
	static const struct {
		const char *begin;
		enum own_link link;
	} links[] = {
		{"/proc/self/cwd", OWN_LINK_CWD}, {"/proc/thread-self/cwd", OWN_LINK_CWD},
		{"/proc/self/fd/", OWN_LINK_FD},  {"/proc/thread-self/fd/", OWN_LINK_FD},
		{"/dev/fd/", OWN_LINK_FD},
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		const char *rest = path + strlen(links[i].begin);
		size_t digits;

		if (strncmp(path, links[i].begin, strlen(links[i].begin)) != 0)
			continue;
		digits = links[i].link == OWN_LINK_FD ? strspn(rest, "0123456789") : 0;
		rest += digits;
		if ((*rest && *rest != '/') || (links[i].link == OWN_LINK_FD && !digits))
			return OWN_LINK_NONE;
		*ret_rest = rest + strspn(rest, "/");
		return links[i].link;
	}
	return OWN_LINK_NONE;
}
