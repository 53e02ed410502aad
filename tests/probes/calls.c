// SPDX-License-Identifier: Apache-2.0
/* Makes exactly so many calls: calls getppid N open M io_submit K (of no context). Raw system
 * calls, so that no library adds any of the same name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		long cnt = strtol(argv[i + 1], NULL, 10);

		for (long n = 0; n < cnt; n++) {
			long fd;

			if (!strcmp(argv[i], "getppid")) {
				syscall(SYS_getppid);
				continue;
			}
			if (!strcmp(argv[i], "io_submit")) {
				syscall(SYS_io_submit, 0, 0, NULL);
				continue;
			}
			fd = syscall(SYS_openat, AT_FDCWD, "/tmp/opened", O_RDONLY | O_CREAT, 0600);
			if (fd < 0)
				return 1;
			syscall(SYS_close, fd);
		}
	}
	return 0;
}
