// SPDX-License-Identifier: Apache-2.0
/* SMTP (RFC 5321) as a server that takes every mail, and what each one was. */
#include "sinkhole/talk_internal.h"

#define MAIL_TO_MAX	16
#define MAIL_HASH_BYTES 512 /* about what a digest at work holds */

enum smtp_stage {
	SMTP_COMMAND,
	SMTP_DATA,
	SMTP_AUTH_USER, /* the next line is a user, then a password */
	SMTP_AUTH_LAST, /* the next line is the last of the credentials */
};

/* Where in the data of a mail, of which a line that is one dot is the end. */
enum data_at {
	AT_MIDDLE,
	AT_CR,
	AT_START, /* of a line */
	AT_DOT,	  /* a dot began it */
	AT_DOT_CR,
};

struct mail {
	json_t *all;  /* those that were read to their end */
	json_t *from; /* of the one at hand; NULL: none yet */
	json_t *to;
	EVP_MD_CTX *hash;
	uint64_t bytes; /* of its data, without the dots that keep it apart from its end */
	enum data_at at;
};

static void mail_reset(struct mail *mail)
{
	json_decref(mail->from);
	json_decref(mail->to);
	EVP_MD_CTX_free(mail->hash);
	mail->from = mail->to = NULL;
	mail->hash = NULL;
	mail->bytes = 0;
	mail->at = AT_START;
}

void talk_mail_free(struct mail *mail)
{
	if (!mail)
		return;
	mail_reset(mail);
	json_decref(mail->all);
	free(mail);
}

size_t talk_mail_memory(const struct mail *mail)
{
	return mail ? sizeof(*mail) + MAIL_HASH_BYTES : 0;
}

/* {from, to, bytes}. The addresses are bounded, and counted when they come. */
static json_t *mail_json(const struct mail *mail)
{
	return json_pack("{s:O?, s:O?, s:I}", "from", mail->from, "to", mail->to, "bytes",
			 (json_int_t)mail->bytes);
}

static void mail_end(struct talk *talk)
{
	struct mail *mail = talk->mail;
	struct record record = {.object = mail_json(mail)};
	const char *digest;

	record_hash(&record, "sha256", mail->hash);
	digest = json_string_value(json_object_get(record.object, "sha256"));
	talk_say(talk, "250 2.0.0 Ok: queued as %.10s\r\n", digest ? digest : "4TqJz81Kp9");
	if (record.object && json_array_size(mail->all) < TALK_NOTES_MAX) {
		talk->notes_bytes += 256;
		json_array_append(mail->all, record.object);
	}
	json_decref(record.object);
	mail_reset(mail);
	talk->stage = SMTP_COMMAND;
}

/* One byte of data; those that belong to the mail go to @out. False at its end. */
static bool data_byte(struct mail *mail, char c, char **out)
{
	if (mail->at == AT_DOT_CR) {
		if (c == '\n')
			return false;
		*(*out)++ = '\r';
		mail->at = AT_CR;
	}
	if (mail->at == AT_START && c == '.') {
		mail->at = AT_DOT;
		return true;
	}
	if (mail->at == AT_DOT && c == '\r') {
		mail->at = AT_DOT_CR;
		return true;
	}
	*(*out)++ = c;
	if (c == '\r')
		mail->at = AT_CR;
	else
		mail->at = c == '\n' && mail->at == AT_CR ? AT_START : AT_MIDDLE;
	return true;
}

static size_t data_take(struct talk *talk, const char *bytes, size_t len)
{
	struct mail *mail = talk->mail;
	char data[TALK_LINE_MAX + 1], *out = data;
	bool more = true;
	size_t n = 0;

	while (n < len && more)
		more = data_byte(mail, bytes[n++], &out);
	mail->bytes += (size_t)(out - data);
	if (mail->hash && out > data)
		EVP_DigestUpdate(mail->hash, data, (size_t)(out - data));
	if (!more)
		mail_end(talk);
	return n;
}

/* What is between the angle brackets of "FROM:<a@b.example>". */
static json_t *path_json(struct talk *talk, const char *argument)
{
	const char *path = strchr(argument, ':');
	size_t len;

	path = path ? path + 1 : argument;
	path += strspn(path, " <");
	len = strcspn(path, ">");
	len = len < TALK_NOTE_BYTES ? len : TALK_NOTE_BYTES;
	talk->notes_bytes += 64 + len;
	return record_escaped(path, len);
}

static void hello(struct talk *talk, const char *argument)
{
	(void)argument;
	talk_say(talk,
		 "250-%s\r\n250-PIPELINING\r\n250-SIZE 52428800\r\n250-AUTH PLAIN LOGIN\r\n"
		 "250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n",
		 talk->host);
}

static void helo(struct talk *talk, const char *argument)
{
	(void)argument;
	talk_say(talk, "250 %s\r\n", talk->host);
}

static void mail_from(struct talk *talk, const char *argument)
{
	mail_reset(talk->mail);
	talk->mail->from = path_json(talk, argument);
	talk->mail->to = json_array();
}

static void rcpt_to(struct talk *talk, const char *argument)
{
	if (talk->mail->to && json_array_size(talk->mail->to) < MAIL_TO_MAX)
		json_array_append_new(talk->mail->to, path_json(talk, argument));
}

static void data(struct talk *talk, const char *argument)
{
	struct mail *mail = talk->mail;

	(void)argument;
	mail->hash = mail->hash ? mail->hash : EVP_MD_CTX_new();
	if (mail->hash)
		EVP_DigestInit_ex2(mail->hash, talk->setup.sha256, NULL);
	talk->stage = SMTP_DATA;
}

static void auth(struct talk *talk, const char *argument)
{
	bool plain = !strncasecmp(argument, "PLAIN", 5), has_more = *talk_argument(argument);

	if (plain && has_more) {
		talk_say(talk, "235 2.7.0 Authentication successful\r\n");
		return;
	}
	talk->stage = plain || has_more ? SMTP_AUTH_LAST : SMTP_AUTH_USER;
	if (plain)
		talk_say(talk, "334 \r\n");
	else
		talk_say(talk, has_more ? "334 UGFzc3dvcmQ6\r\n" : "334 VXNlcm5hbWU6\r\n");
}

static void reset(struct talk *talk, const char *argument)
{
	(void)argument;
	mail_reset(talk->mail);
}

static const struct talk_command commands[] = {
	{"EHLO", NULL, TALK_ON, hello},
	{"LHLO", NULL, TALK_ON, hello},
	{"HELO", NULL, TALK_ON, helo},
	{"MAIL", "250 2.1.0 Ok\r\n", TALK_ON, mail_from},
	{"RCPT", "250 2.1.5 Ok\r\n", TALK_ON, rcpt_to},
	{"DATA", "354 End data with <CR><LF>.<CR><LF>\r\n", TALK_ON, data},
	{"AUTH", NULL, TALK_ON, auth},
	{"RSET", "250 2.0.0 Ok\r\n", TALK_ON, reset},
	{"NOOP", "250 2.0.0 Ok\r\n", TALK_ON, NULL},
	{"VRFY", "252 2.0.0 Ok\r\n", TALK_ON, NULL},
	{"STARTTLS", "454 4.7.0 TLS not available due to local problem\r\n", TALK_ON, NULL},
	{"QUIT", "221 2.0.0 Bye\r\n", TALK_OVER, NULL},
	{NULL, "502 5.5.2 Error: command not recognized\r\n", TALK_ON, NULL},
};

/* The mail of a talk, made when it is new. */
static bool mail_ready(struct talk *talk)
{
	if (talk->mail)
		return true;
	talk->mail = calloc(1, sizeof(*talk->mail));
	if (!talk->mail)
		return false;
	talk->mail->all = json_array();
	if (json_object_set(talk->notes, "mails", talk->mail->all) == 0)
		return true;
	talk_mail_free(steal_ptr(talk->mail));
	return false;
}

static size_t smtp_take(struct talk *talk, const char *bytes, size_t len)
{
	char line[TALK_LINE_MAX];
	size_t used;

	if (!mail_ready(talk))
		return len;
	if (talk->stage == SMTP_DATA)
		return data_take(talk, bytes, len);
	used = talk_line(bytes, len, line);
	if (!used)
		return 0;
	if (talk->stage == SMTP_AUTH_USER) {
		talk->stage = SMTP_AUTH_LAST;
		talk_say(talk, "334 UGFzc3dvcmQ6\r\n");
	} else if (talk->stage == SMTP_AUTH_LAST) {
		talk->stage = SMTP_COMMAND;
		talk_say(talk, "235 2.7.0 Authentication successful\r\n");
	} else {
		talk_command(talk, commands, line);
	}
	return used;
}

static void smtp_greet(struct talk *talk)
{
	talk_say(talk, "220 %s ESMTP Postfix (Debian/GNU)\r\n", talk->host);
}

const struct talk_protocol talk_smtp = {"smtp", smtp_greet, smtp_take};

json_t *talk_mail_cut(const struct talk *talk)
{
	json_t *cut = talk->mail && talk->stage == SMTP_DATA ? mail_json(talk->mail) : NULL;

	if (cut)
		json_object_set_new(cut, "cut", json_true());
	return cut;
}
