// SPDX-License-Identifier: Apache-2.0
/* Where cgroup v2 is mounted. */
#include "collector/collector.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

/* Undoes the octal escapes of mountinfo, in place. */
static void unescape_octal(char *text)
{
	char *out = text;

	for (char *p = text; *p; p++) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
		    p[3] >= '0' && p[3] <= '7') {
			*out++ = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 3;
		} else {
			*out++ = *p;
		}
	}
	*out = '\0';
}

/* mountinfo: "id parent dev root mountpoint options [fields] - type source super" */
static char *mount_point_of(char *line)
{
	char *type = strstr(line, " - ");
	char *field = line;

	if (!type || strncmp(type + 3, "cgroup2 ", 8) != 0)
		return NULL;
	for (int i = 0; i < 4 && field; i++) {
		field = strchr(field, ' ');
		if (field)
			field++;
	}
	if (!field)
		return NULL;
	field[strcspn(field, " ")] = '\0';
	unescape_octal(field);
	return field;
}

int cgroup2_mount_point(char **ret_path, struct qp_error *err)
{
	_cleanup_file_ FILE *file = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	if (!file)
		return qp_error_set(err, -errno, "cannot read /proc/self/mountinfo: %s",
				    strerror(errno));
	while (getline(&line, &size, file) > 0) {
		const char *found = mount_point_of(line);

		if (!found)
			continue;
		*ret_path = strdup(found);
		return *ret_path ? 0 : -ENOMEM;
	}
	return qp_error_set(
		err, -ENOENT,
		"cgroup v2 is not mounted: mount -t cgroup2 none /sys/fs/cgroup/unified");
}
