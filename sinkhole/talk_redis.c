// SPDX-License-Identifier: Apache-2.0
/* Redis (RESP and inline commands): a server without a password that obeys. */
#include "sinkhole/talk_internal.h"

#define COMMAND_MAX 63 /* bytes of a command's name */
#define INFO                                                                               \
	"# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nos:Linux x86_64\r\n" \
	"# Replication\r\nrole:master\r\n"

static void info(struct talk *talk, const char *argument)
{
	(void)argument;
	talk_say(talk, "$%zu\r\n%s\r\n", sizeof(INFO) - 1, INFO);
}

static const struct talk_command commands[] = {
	{"PING", "+PONG\r\n", TALK_ON, NULL},
	{"HELLO", "-ERR unknown command 'HELLO'\r\n", TALK_ON, NULL},
	{"INFO", NULL, TALK_ON, info},
	{"GET", "$-1\r\n", TALK_ON, NULL},
	{"HGET", "$-1\r\n", TALK_ON, NULL},
	{"KEYS", "*0\r\n", TALK_ON, NULL},
	{"MGET", "*0\r\n", TALK_ON, NULL},
	{"COMMAND", "*0\r\n", TALK_ON, NULL},
	{"HGETALL", "*0\r\n", TALK_ON, NULL},
	{"LRANGE", "*0\r\n", TALK_ON, NULL},
	{"SMEMBERS", "*0\r\n", TALK_ON, NULL},
	{"DBSIZE", ":0\r\n", TALK_ON, NULL},
	{"DEL", ":1\r\n", TALK_ON, NULL},
	{"EXISTS", ":0\r\n", TALK_ON, NULL},
	{"EXPIRE", ":1\r\n", TALK_ON, NULL},
	{"HSET", ":1\r\n", TALK_ON, NULL},
	{"INCR", ":1\r\n", TALK_ON, NULL},
	{"LPUSH", ":1\r\n", TALK_ON, NULL},
	{"PUBLISH", ":0\r\n", TALK_ON, NULL},
	{"RPUSH", ":1\r\n", TALK_ON, NULL},
	{"SADD", ":1\r\n", TALK_ON, NULL},
	{"QUIT", "+OK\r\n", TALK_OVER, NULL},
	{NULL, "+OK\r\n", TALK_ON, NULL},
};

static void answer(struct talk *talk)
{
	talk_note(talk, "commands", talk->name, strlen(talk->name));
	talk_command(talk, commands, talk->name);
}

/* A part of a command: its length is in @line, which took @used bytes; those of the name are
 * kept, all others passed over. Returns what is taken, 0 for more. */
static size_t bulk_take(struct talk *talk, const char *bytes, size_t len, const char *line,
			size_t used)
{
	unsigned long size;

	if (sscanf(line, "$%lu", &size) != 1 || size > UINT32_MAX) {
		talk_say(talk, "-ERR Protocol error: expected '$'\r\n");
		talk->end = TALK_OVER;
		return used;
	}
	if (!talk->count && size <= COMMAND_MAX) {
		if (len < used + size + 2)
			return 0;
		snprintf(talk->name, sizeof(talk->name), "%.*s", (int)size, bytes + used);
		used += size + 2;
	} else {
		talk->skip = size + 2;
	}
	talk->count++;
	if (--talk->left == 0)
		answer(talk);
	return used;
}

static size_t redis_take(struct talk *talk, const char *bytes, size_t len)
{
	char line[TALK_LINE_MAX];
	size_t used = talk_line(bytes, len, line);

	if (!used)
		return 0;
	if (talk->left)
		return bulk_take(talk, bytes, len, line, used);
	talk->count = 0;
	talk->name[0] = '\0';
	if (sscanf(line, "*%lu", &talk->left) == 1)
		return used;
	if (!*line)
		return used;
	snprintf(talk->name, sizeof(talk->name), "%.*s", (int)strcspn(line, " "), line);
	answer(talk);
	return used;
}

const struct talk_protocol talk_redis = {"redis", NULL, redis_take};
