// SPDX-License-Identifier: Apache-2.0
/* The preamble's members that describe the machine and the moment. */
#include "collector/preamble.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#define NONCE_BYTES   12
#define TASK_ID_BYTES 5
#define NSEC_PER_SEC  1000000000LL
#define NSEC_PER_MSEC 1000000L

static void random_hex(char *out, size_t bytes)
{
	unsigned char raw[NONCE_BYTES] = {0};

	if (getrandom(raw, bytes, 0) < 0)
		memset(raw, 0, sizeof(raw));
	for (size_t i = 0; i < bytes; i++)
		sprintf(out + 2 * i, "%02x", raw[i]);
}

static void format_now(char *out, size_t size)
{
	struct timespec now;
	struct tm tm;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	len = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + len, size - len, ".%03dZ", (int)(now.tv_nsec / NSEC_PER_MSEC));
}

json_t *preamble_collect(const char *tier)
{
	_cleanup_free_ char *boot_id = NULL;
	char task_id[2 * TASK_ID_BYTES + 1], nonce[2 * NONCE_BYTES + 1], started[40];
	struct timespec boot;
	struct utsname os;
	size_t len;

	if (read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, &boot_id, &len) < 0)
		return NULL;
	boot_id[strcspn(boot_id, "\n")] = '\0';
	random_hex(task_id, TASK_ID_BYTES);
	random_hex(nonce, NONCE_BYTES);
	format_now(started, sizeof(started));
	clock_gettime(CLOCK_BOOTTIME, &boot);
	uname(&os);
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:{s:s, s:s, s:s}, s:s, s:s, s:{s:s}}",
		"schema", "qp-log/1", "taskId", task_id, "runPrefix", "qp", "nonce", nonce, "mode",
		"collect", "startedAt", started, "started_ns",
		(json_int_t)(boot.tv_sec * NSEC_PER_SEC + boot.tv_nsec), "kernel", "release",
		os.release, "version", os.version, "machine", os.machine, "bootId", boot_id, "tier",
		tier, "versions", "qp", QP_VERSION);
}
