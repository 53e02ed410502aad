// SPDX-License-Identifier: Apache-2.0
/* Parsing the kernel's mount table. */
#include "tools/sandbox/mountinfo.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define MOUNTINFO_BYTES_MAX (16 << 20)

/* Space, tab, newline and backslash are written as three octal digits. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p; to++) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
		    p[3] >= '0' && p[3] <= '7') {
			*to = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 4;
		} else {
			*to = *p++;
		}
	}
	*to = '\0';
}

/* "36 35 98:0 /root /path options optional... - type source super" */
static int line_parse(char *line, struct mount_entry *ret_entry)
{
	enum { ROOT = 3, PATH, OPTIONS, FIXED_CNT };
	char *fields[FIXED_CNT], *state = NULL, *word;
	char *tail = strstr(line, " - ");
	char *type, *super;

	if (!tail)
		return -EBADMSG;
	*tail = '\0';
	for (int i = 0; i < FIXED_CNT; i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &state);
		if (!fields[i])
			return -EBADMSG;
	}
	type = strtok_r(tail + 3, " ", &state);
	word = strtok_r(NULL, " ", &state);
	super = strtok_r(NULL, " ", &state);
	/* An empty source leaves two words only. */
	if (!type || !word)
		return -EBADMSG;
	unescape(fields[ROOT]);
	unescape(fields[PATH]);
	*ret_entry = (struct mount_entry){
		.root = fields[ROOT],
		.path = fields[PATH],
		.options = fields[OPTIONS],
		.type = type,
		.super_options = super ? super : word,
	};
	return 0;
}

int mountinfo_each(const char *path, mount_func func, void *context)
{
	_cleanup_free_ char *text = NULL;
	char *state = NULL;
	size_t len;
	int r = read_file_at(AT_FDCWD, path, MOUNTINFO_BYTES_MAX, &text, &len);

	if (r)
		return r;
	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		struct mount_entry entry;

		r = line_parse(line, &entry);
		if (!r)
			r = func(&entry, context);
		if (r)
			return r;
	}
	return 0;
}

const char *mount_option(const char *options, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = options; p; p = strchr(p, ','), p = p ? p + 1 : NULL) {
		if (strncmp(p, name, len) != 0)
			continue;
		if (p[len] == '=')
			return p + len + 1;
		if (p[len] == ',' || !p[len])
			return "";
	}
	return NULL;
}
