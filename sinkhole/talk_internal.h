/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that speak a protocol share. */
#ifndef QP_SINKHOLE_TALK_INTERNAL_H
#define QP_SINKHOLE_TALK_INTERNAL_H

#include "sinkhole/talk.h"

#include "base/cleanup.h"

#include <string.h>
#include <strings.h>

#define TALK_LINE_MAX	1024 /* of a line or a packet that is looked into; the rest is skipped */
#define TALK_HOST_SIZE	256
#define TALK_NOTES_MAX	16  /* of each kind */
#define TALK_NOTE_BYTES 256 /* of each */

struct mail;

struct talk_protocol {
	const char *name;
	void (*greet)(struct talk *talk); /* NULL: the client begins */
	/* Takes bytes and returns how many; 0: more are needed. NULL: nothing is answered. */
	size_t (*take)(struct talk *talk, const char *bytes, size_t len);
};

struct talk {
	const struct talk_protocol *protocol;
	struct talk_setup setup;
	char host[TALK_HOST_SIZE];
	enum talk_end end;
	bool greeted;
	unsigned stage; /* the protocol's own */
	uint64_t skip;	/* bytes to pass over */
	size_t held;	/* in buf: what is not a whole line or packet yet */
	json_t *notes;	/* what the record tells */
	size_t notes_bytes;
	struct mail *mail;	   /* of SMTP */
	unsigned long count, left; /* the protocol's own */
	char name[64];		   /* likewise */
	char buf[TALK_LINE_MAX];
};

/* A row of a table of commands: its answer, and what else it does. */
struct talk_command {
	const char *verb;
	const char *reply; /* NULL: @also says it */
	enum talk_end end;
	void (*also)(struct talk *talk, const char *argument);
};

void talk_say(struct talk *talk, const char *format, ...) __attribute__((format(printf, 2, 3)));
void talk_send(struct talk *talk, const void *bytes, size_t len);

/* Adds text to the list @key of the record, unless it is there. */
void talk_note(struct talk *talk, const char *key, const void *bytes, size_t len);

/* A whole line at the start of @bytes, without its end, into @line (the first bytes of it, and
 * a NUL). Returns the bytes it takes with its end; 0: more are needed. A line too long for the
 * buffer is cut there, and what follows is the next. */
size_t talk_line(const char *bytes, size_t len, char line[static TALK_LINE_MAX]);

/* Answers by the table; its last row, without a verb, is for all other commands. */
void talk_command(struct talk *talk, const struct talk_command *table, const char *line);

/* What follows the first word. */
const char *talk_argument(const char *line);

void talk_mail_free(struct mail *mail);
size_t talk_mail_memory(const struct mail *mail);

/* The mail whose data has begun and not ended, as the record has it, or NULL. */
json_t *talk_mail_cut(const struct talk *talk);

extern const struct talk_protocol talk_smtp, talk_ftp, talk_pop3, talk_imap, talk_irc, talk_ssh,
	talk_redis, talk_mysql, talk_postgresql, talk_mqtt, talk_socks4, talk_socks5,
	talk_bittorrent, talk_stratum, talk_json_rpc, talk_memcached, talk_git;

#endif
