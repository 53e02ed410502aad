// SPDX-License-Identifier: Apache-2.0
/* Protocols of a line for each command: FTP (RFC 959), POP3 (RFC 1939), IMAP (RFC 9051),
 * memcached, and the first line of SSH (RFC 4253). */
#include "sinkhole/talk_internal.h"

/* Ports for data, one after the other, as vsftpd and others are set up to give them. */
#define PASSIVE_FIRST 40000
#define PASSIVE_CNT   10000

/* Without SASL, so that clients log in by LOGIN, in one line. */
#define IMAP_CAPABILITY "CAPABILITY IMAP4rev1 LOGIN-REFERRALS ID ENABLE IDLE LITERAL+"

static void note_path(struct talk *talk, const char *argument)
{
	talk_note(talk, "files", argument, strlen(argument));
}

static void note_user(struct talk *talk, const char *argument)
{
	talk_note(talk, "users", argument, strlen(argument));
}

static unsigned passive_port(struct talk *talk)
{
	const uint8_t *a = talk->setup.dst.address;

	return PASSIVE_FIRST + (a[3] * 251u + ++talk->count * 37u) % PASSIVE_CNT;
}

static void passive(struct talk *talk, const char *argument)
{
	const uint8_t *a = talk->setup.dst.address;
	unsigned port = passive_port(talk);

	(void)argument;
	if (talk->setup.dst.family != AF_INET)
		talk_say(talk, "522 Network protocol not supported, use (2)\r\n");
	else
		talk_say(talk, "227 Entering Passive Mode (%u,%u,%u,%u,%u,%u).\r\n", a[0], a[1],
			 a[2], a[3], port >> 8, port & 255);
}

static void passive_extended(struct talk *talk, const char *argument)
{
	(void)argument;
	talk_say(talk, "229 Entering Extended Passive Mode (|||%u|)\r\n", passive_port(talk));
}

static const struct talk_command ftp_commands[] = {
	{"USER", "331 Please specify the password.\r\n", TALK_ON, note_user},
	{"PASS", "230 Login successful.\r\n", TALK_ON, NULL},
	{"SYST", "215 UNIX Type: L8\r\n", TALK_ON, NULL},
	{"FEAT", "211-Features:\r\n EPSV\r\n PASV\r\n SIZE\r\n UTF8\r\n211 End\r\n", TALK_ON, NULL},
	{"OPTS", "200 Always in UTF8 mode.\r\n", TALK_ON, NULL},
	{"TYPE", "200 Switching to Binary mode.\r\n", TALK_ON, NULL},
	{"PWD", "257 \"/\" is the current directory\r\n", TALK_ON, NULL},
	{"CWD", "250 Directory successfully changed.\r\n", TALK_ON, NULL},
	{"CDUP", "250 Directory successfully changed.\r\n", TALK_ON, NULL},
	{"MKD", "257 Directory created\r\n", TALK_ON, note_path},
	{"DELE", "250 Delete operation successful.\r\n", TALK_ON, note_path},
	{"PASV", NULL, TALK_ON, passive},
	{"EPSV", NULL, TALK_ON, passive_extended},
	{"PORT", "500 Illegal PORT command.\r\n", TALK_ON, NULL},
	{"EPRT", "500 Illegal EPRT command.\r\n", TALK_ON, NULL},
	/* What is stored comes over a connection of its own, which has a record of its own. */
	{"STOR", "150 Ok to send data.\r\n226 Transfer complete.\r\n", TALK_ON, note_path},
	{"APPE", "150 Ok to send data.\r\n226 Transfer complete.\r\n", TALK_ON, note_path},
	{"RETR", "550 Failed to open file.\r\n", TALK_ON, note_path},
	{"SIZE", "550 Could not get file size.\r\n", TALK_ON, note_path},
	{"MDTM", "550 Could not get file modification time.\r\n", TALK_ON, note_path},
	{"LIST", "550 Permission denied.\r\n", TALK_ON, NULL},
	{"NLST", "550 Permission denied.\r\n", TALK_ON, NULL},
	{"NOOP", "200 NOOP ok.\r\n", TALK_ON, NULL},
	{"AUTH", "530 Please login with USER and PASS.\r\n", TALK_ON, NULL},
	{"QUIT", "221 Goodbye.\r\n", TALK_OVER, NULL},
	{NULL, "500 Unknown command.\r\n", TALK_ON, NULL},
};

/* No SASL: clients then say in one line who they are. */
static const struct talk_command pop3_commands[] = {
	{"CAPA", "+OK\r\nUSER\r\nUIDL\r\nTOP\r\n.\r\n", TALK_ON, NULL},
	{"USER", "+OK\r\n", TALK_ON, note_user},
	{"PASS", "+OK Logged in.\r\n", TALK_ON, NULL},
	{"APOP", "+OK Logged in.\r\n", TALK_ON, note_user},
	{"STAT", "+OK 0 0\r\n", TALK_ON, NULL},
	{"LIST", "+OK 0 messages:\r\n.\r\n", TALK_ON, NULL},
	{"UIDL", "+OK\r\n.\r\n", TALK_ON, NULL},
	{"NOOP", "+OK\r\n", TALK_ON, NULL},
	{"QUIT", "+OK Logging out.\r\n", TALK_OVER, NULL},
	{NULL, "-ERR Unknown command.\r\n", TALK_ON, NULL},
};

static const struct talk_command memcached_commands[] = {
	{"version", "VERSION 1.6.18\r\n", TALK_ON, NULL},
	{"stats", "STAT pid 712\r\nSTAT version 1.6.18\r\nEND\r\n", TALK_ON, NULL},
	{"get", "END\r\n", TALK_ON, NULL},
	{"gets", "END\r\n", TALK_ON, NULL},
	{"flush_all", "OK\r\n", TALK_ON, NULL},
	{"quit", NULL, TALK_OVER, NULL},
	{NULL, "ERROR\r\n", TALK_ON, NULL},
};

static size_t table_take(struct talk *talk, const struct talk_command *table, const char *bytes,
			 size_t len)
{
	char line[TALK_LINE_MAX];
	size_t used = talk_line(bytes, len, line);

	if (used)
		talk_command(talk, table, line);
	return used;
}

static size_t ftp_take(struct talk *talk, const char *bytes, size_t len)
{
	return table_take(talk, ftp_commands, bytes, len);
}

static size_t pop3_take(struct talk *talk, const char *bytes, size_t len)
{
	return table_take(talk, pop3_commands, bytes, len);
}

/* "set KEY FLAGS TIME BYTES" has that many bytes and a line's end behind it. */
static size_t memcached_take(struct talk *talk, const char *bytes, size_t len)
{
	char line[TALK_LINE_MAX];
	unsigned long bytes_cnt;
	size_t used = talk_line(bytes, len, line);

	if (!used)
		return 0;
	if (sscanf(line, "%*[a-z] %*250s %*u %*d %lu", &bytes_cnt) == 1 && bytes_cnt < UINT32_MAX) {
		talk->skip = bytes_cnt + 2;
		talk_say(talk, "STORED\r\n");
	} else {
		talk_command(talk, memcached_commands, line);
	}
	return used;
}

static void ftp_greet(struct talk *talk)
{
	talk_say(talk, "220 (vsFTPd 3.0.3)\r\n");
}

static void pop3_greet(struct talk *talk)
{
	talk_say(talk, "+OK Dovecot (Debian) ready.\r\n");
}

static void imap_greet(struct talk *talk)
{
	talk_say(talk, "* OK [" IMAP_CAPABILITY "] Dovecot (Debian) ready.\r\n");
}

/* Each command has a tag, with which its answer ends; a literal is passed over. */
static size_t imap_take(struct talk *talk, const char *bytes, size_t len)
{
	char line[TALK_LINE_MAX];
	size_t used = talk_line(bytes, len, line);
	const char *verb = talk_argument(line), *open = strrchr(line, '{');
	int tag = (int)strcspn(line, " ");
	unsigned long literal;

	if (!used)
		return 0;
	if (open && sscanf(open, "{%lu", &literal) == 1 && literal < UINT32_MAX) {
		talk->skip = literal;
		if (!strchr(open, '+'))
			talk_say(talk, "+ OK\r\n");
		return used;
	}
	if (!strncasecmp(verb, "LOGIN ", 6))
		note_user(talk, talk_argument(verb));
	if (!*line)
		return used;
	if (!strncasecmp(verb, "CAPABILITY", 10))
		talk_say(talk, "* " IMAP_CAPABILITY "\r\n");
	if (!strncasecmp(verb, "SELECT", 6) || !strncasecmp(verb, "EXAMINE", 7))
		talk_say(talk, "* 0 EXISTS\r\n* 0 RECENT\r\n");
	if (!strncasecmp(verb, "STARTTLS", 8) || !strncasecmp(verb, "AUTHENTICATE", 12)) {
		talk_say(talk, "%.*s BAD Command is not enabled.\r\n", tag, line);
		return used;
	}
	if (!strncasecmp(verb, "LOGOUT", 6)) {
		talk_say(talk, "* BYE Logging out\r\n");
		talk->end = TALK_OVER;
	}
	talk_say(talk, "%.*s OK Completed.\r\n", tag, line);
	return used;
}

static void ssh_greet(struct talk *talk)
{
	talk_say(talk, "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n");
}

/* The client's own line, and the first of its packets: there the talk ends. */
static size_t ssh_take(struct talk *talk, const char *bytes, size_t len)
{
	char line[TALK_LINE_MAX];
	size_t used;

	if (talk->stage) {
		talk->end = TALK_OVER;
		return len;
	}
	used = talk_line(bytes, len, line);
	if (!used)
		return 0;
	talk_note(talk, "software", line, strlen(line));
	talk->stage = 1;
	return used;
}

const struct talk_protocol talk_ftp = {"ftp", ftp_greet, ftp_take};
const struct talk_protocol talk_pop3 = {"pop3", pop3_greet, pop3_take};
const struct talk_protocol talk_imap = {"imap", imap_greet, imap_take};
const struct talk_protocol talk_ssh = {"ssh", ssh_greet, ssh_take};
const struct talk_protocol talk_memcached = {"memcached", NULL, memcached_take};
