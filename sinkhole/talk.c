// SPDX-License-Identifier: Apache-2.0
/* The life of a talk, and the tools of those who hold one. */
#include "sinkhole/talk_internal.h"

#include <stdarg.h>

#define SAY_MAX 2048

struct talk *talk_new(const struct talk_protocol *protocol, const struct talk_setup *setup)
{
	struct talk *talk = calloc(1, sizeof(*talk));

	if (!talk)
		return NULL;
	talk->protocol = protocol;
	talk->setup = *setup;
	talk->notes = json_object();
	snprintf(talk->host, sizeof(talk->host), "%s", setup->host);
	talk->setup.host = talk->host;
	if (talk->notes)
		return talk;
	free(talk);
	return NULL;
}

void talk_free(struct talk *talk)
{
	if (!talk)
		return;
	json_decref(talk->notes);
	talk_mail_free(talk->mail);
	free(talk);
}

const struct talk_protocol *talk_protocol_of(const struct talk *talk)
{
	return talk->protocol;
}

const char *talk_name(const struct talk *talk)
{
	return talk->protocol->name;
}

size_t talk_memory(const struct talk *talk)
{
	return talk ? sizeof(*talk) + talk->notes_bytes + talk_mail_memory(talk->mail) : 0;
}

void talk_send(struct talk *talk, const void *bytes, size_t len)
{
	talk->setup.send(talk->setup.context, bytes, len);
}

void talk_say(struct talk *talk, const char *format, ...)
{
	char text[SAY_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len > 0 && (size_t)len < sizeof(text))
		talk_send(talk, text, (size_t)len);
}

void talk_note(struct talk *talk, const char *key, const void *bytes, size_t len)
{
	json_t *list = json_object_get(talk->notes, key), *text, *known;
	size_t i;

	if (!list) {
		list = json_array();
		if (json_object_set_new(talk->notes, key, list) < 0)
			return;
	}
	if (json_array_size(list) == TALK_NOTES_MAX)
		return;
	text = record_escaped(bytes, len < TALK_NOTE_BYTES ? len : TALK_NOTE_BYTES);
	json_array_foreach (list, i, known) {
		if (!text || json_equal(known, text)) {
			json_decref(text);
			return;
		}
	}
	talk->notes_bytes += 64 + json_string_length(text);
	json_array_append_new(list, text);
}

void talk_greet(struct talk *talk)
{
	if (talk->greeted || !talk->protocol->greet)
		return;
	talk->greeted = true;
	talk->protocol->greet(talk);
}

size_t talk_line(const char *bytes, size_t len, char line[static TALK_LINE_MAX])
{
	const char *lf = memchr(bytes, '\n', len);
	size_t n = lf ? (size_t)(lf - bytes) : len;

	if (!lf && len < TALK_LINE_MAX)
		return 0;
	if (n >= TALK_LINE_MAX)
		n = TALK_LINE_MAX - 1;
	memcpy(line, bytes, n);
	if (n && line[n - 1] == '\r')
		line[n - 1] = '\0';
	line[n] = '\0';
	return lf ? (size_t)(lf - bytes) + 1 : len;
}

const char *talk_argument(const char *line)
{
	line += strcspn(line, " ");
	return line + strspn(line, " ");
}

void talk_command(struct talk *talk, const struct talk_command *table, const char *line)
{
	size_t len = strcspn(line, " ");

	while (table->verb && (strlen(table->verb) != len || strncasecmp(table->verb, line, len)))
		table++;
	if (table->also)
		table->also(talk, talk_argument(line));
	if (table->reply)
		talk_send(talk, table->reply, strlen(table->reply));
	if (table->end != TALK_ON)
		talk->end = table->end;
}

/* Takes what can be taken out of the buffer. */
static void buffer_take(struct talk *talk)
{
	size_t at = 0;

	while (at < talk->held && talk->end == TALK_ON) {
		size_t left = talk->held - at, n;

		if (talk->skip) {
			n = talk->skip < left ? (size_t)talk->skip : left;
			talk->skip -= n;
		} else {
			n = talk->protocol->take(talk, talk->buf + at, left);
		}
		if (!n)
			break;
		at += n;
	}
	talk->held -= at;
	memmove(talk->buf, talk->buf + at, talk->held);
	/* What no buffer can hold is nothing that is understood. */
	if (talk->held == sizeof(talk->buf))
		talk->held = 0;
}

enum talk_end talk_feed(struct talk *talk, const char *bytes, size_t len, size_t *ret_used)
{
	size_t at = 0;

	*ret_used = len;
	if (!talk->protocol->take)
		return TALK_ON;
	while (at < len && talk->end == TALK_ON) {
		size_t n = len - at, room = sizeof(talk->buf) - talk->held;

		if (talk->skip && !talk->held) {
			n = talk->skip < n ? (size_t)talk->skip : n;
			talk->skip -= n;
			at += n;
			continue;
		}
		n = n < room ? n : room;
		memcpy(talk->buf + talk->held, bytes + at, n);
		talk->held += n;
		at += n;
		buffer_take(talk);
	}
	if (talk->end == TALK_NEXT) {
		*ret_used = at - talk->held;
		talk->held = 0;
	}
	return talk->end;
}

void talk_members(const struct talk *talk, struct record *record)
{
	json_t *cut = talk_mail_cut(talk), *value;
	const char *key;

	json_object_foreach (talk->notes, key, value)
		record_set(record, key, json_deep_copy(value));
	if (cut)
		json_array_append_new(json_object_get(record->object, "mails"), cut);
}
