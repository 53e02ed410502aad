// SPDX-License-Identifier: Apache-2.0
/* IRC (RFC 2812): a server that lets everybody in, and nobody else there. */
#include "sinkhole/talk_internal.h"

enum irc_stage {
	IRC_HAS_NICK = 1,
	IRC_HAS_USER = 2,
	IRC_WELCOME = 4,
};

static void welcome(struct talk *talk)
{
	const char *host = talk->host, *nick = talk->name;

	if (talk->stage != (IRC_HAS_NICK | IRC_HAS_USER))
		return;
	talk->stage |= IRC_WELCOME;
	talk_say(talk,
		 ":%s 001 %s :Welcome to the Internet Relay Network %s\r\n"
		 ":%s 002 %s :Your host is %s, running version InspIRCd-3\r\n"
		 ":%s 004 %s %s InspIRCd-3 iosw biklmnopstv bklov\r\n"
		 ":%s 422 %s :Message of the day file is missing.\r\n",
		 host, nick, nick, host, nick, host, host, nick, host, host, nick);
}

static void nick_take(struct talk *talk, const char *argument)
{
	snprintf(talk->name, sizeof(talk->name), "%.*s", (int)strcspn(argument, " "),
		 argument + (*argument == ':'));
	talk_note(talk, "users", talk->name, strlen(talk->name));
	talk->stage |= IRC_HAS_NICK;
	welcome(talk);
}

static void user_take(struct talk *talk, const char *argument)
{
	(void)argument;
	talk->stage |= IRC_HAS_USER;
	welcome(talk);
}

static void cap(struct talk *talk, const char *argument)
{
	if (!strncasecmp(argument, "LS", 2) || !strncasecmp(argument, "LIST", 4))
		talk_say(talk, ":%s CAP * %.*s :\r\n", talk->host, (int)strcspn(argument, " "),
			 argument);
	else if (!strncasecmp(argument, "REQ", 3))
		talk_say(talk, ":%s CAP * NAK %.256s\r\n", talk->host, talk_argument(argument));
}

static void ping(struct talk *talk, const char *argument)
{
	talk_say(talk, ":%s PONG %s :%.256s\r\n", talk->host, talk->host,
		 argument + (*argument == ':'));
}

static void join(struct talk *talk, const char *argument)
{
	int len = (int)strcspn(argument, " ,");
	const char *nick = talk->name, *host = talk->host;

	len = len < TALK_NOTE_BYTES ? len : TALK_NOTE_BYTES;
	talk_note(talk, "channels", argument, (size_t)len);
	talk_say(talk,
		 ":%s!%s@%s JOIN :%.*s\r\n:%s 353 %s = %.*s :%s\r\n"
		 ":%s 366 %s %.*s :End of /NAMES list.\r\n",
		 nick, nick, host, len, argument, host, nick, len, argument, nick, host, nick, len,
		 argument);
}

static const struct talk_command commands[] = {
	{"NICK", NULL, TALK_ON, nick_take},
	{"USER", NULL, TALK_ON, user_take},
	{"CAP", NULL, TALK_ON, cap},
	{"PING", NULL, TALK_ON, ping},
	{"JOIN", NULL, TALK_ON, join},
	{"QUIT", "ERROR :Closing link: (Client Quit)\r\n", TALK_OVER, NULL},
	/* Messages reach their readers, of whom there are none. */
	{NULL, NULL, TALK_ON, NULL},
};

static size_t irc_take(struct talk *talk, const char *bytes, size_t len)
{
	char line[TALK_LINE_MAX];
	size_t used = talk_line(bytes, len, line);

	if (used)
		talk_command(talk, commands, line);
	return used;
}

static void irc_greet(struct talk *talk)
{
	talk_say(talk, ":%s NOTICE * :*** Looking up your hostname...\r\n", talk->host);
}

const struct talk_protocol talk_irc = {"irc", irc_greet, irc_take};
