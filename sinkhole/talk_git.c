// SPDX-License-Identifier: Apache-2.0
/* The git protocol (gitprotocol-pack(5)) as a daemon that serves no such repository: a client
 * is told so at once, where silence would hold it until the sandbox's time is over. */
#include "sinkhole/talk_internal.h"

#include <ctype.h>

#define LENGTH_DIGITS 4
#define REFUSAL	      "ERR access denied or repository not exported: "

/* The length of the packet with its digits; 0: none is written there. */
static size_t packet_length(const char *bytes)
{
	char digits[LENGTH_DIGITS + 1] = "";

	for (size_t i = 0; i < LENGTH_DIGITS; i++) {
		if (!isxdigit((unsigned char)bytes[i]))
			return 0;
		digits[i] = bytes[i];
	}
	return strtoul(digits, NULL, 16);
}

/* "git-upload-pack /project.git\0host=...\0": a service, a path, and the rest. */
static size_t git_take(struct talk *talk, const char *bytes, size_t len)
{
	size_t size = len < LENGTH_DIGITS ? 0 : packet_length(bytes);
	char line[TALK_LINE_MAX];
	const char *path;

	if (len < LENGTH_DIGITS || (size < sizeof(line) && len < size))
		return 0;
	if (size > LENGTH_DIGITS && size < sizeof(line)) {
		memcpy(line, bytes + LENGTH_DIGITS, size - LENGTH_DIGITS);
		line[size - LENGTH_DIGITS] = '\0';
		line[strcspn(line, "\n")] = '\0';
		path = talk_argument(line);
		talk_note(talk, "repositories", path, strlen(path));
		talk_say(talk, "%04zx%s%s", LENGTH_DIGITS + strlen(REFUSAL) + strlen(path), REFUSAL,
			 path);
	}
	talk->end = TALK_OVER;
	return len;
}

const struct talk_protocol talk_git = {"git", NULL, git_take};
